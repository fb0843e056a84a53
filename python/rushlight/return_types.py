"""Named tuples that ops with several results give: ``x.max(0).values``."""

import sys as _sys

_classes = {}


def _class(name, fields):
    """The class of op ``name``, whose parts are called ``fields``."""
    known = _classes.get(name)
    if known is None:
        known = _classes[name] = _make(name, tuple(fields))
        setattr(_sys.modules[__name__], name, known)
    return known


def _make(name, fields):
    def show(self):
        parts = ",\n".join(f"{f}={v!r}" for f, v in zip(fields, self))
        return f"torch.return_types.{name}(\n{parts})"

    body = {f: property(lambda self, k=k: self[k], doc=f"Part {k}.") for k, f in enumerate(fields)}
    body.update(__slots__=(), __repr__=show, __doc__=f"What {name} gives: {', '.join(fields)}.")
    body["__reduce__"] = lambda self: (_build, (name, fields, tuple(self)))
    body["_fields"] = fields
    return type(name, (tuple,), body)


def _build(name, fields, parts):
    return _class(name, fields)(parts)
