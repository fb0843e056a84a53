"""Copies made visible: which ops copied how many bytes, why, and from which line of your program.

    with rushlight.trace.copies() as log:
        x.t().reshape(-1)
    print(log)

``rushlight.trace(matrix)`` is torch's function of that name.
"""

import sys
import types

from . import _C


class Copy:
    """One copy: ``op``, ``bytes`` written, ``shape``, ``reason``, and the caller's ``file`` and ``line``."""

    __slots__ = ("op", "bytes", "shape", "reason", "file", "line")

    def __init__(self, *parts):
        for name, part in zip(self.__slots__, parts):
            setattr(self, name, part)

    def __iter__(self):
        return (getattr(self, name) for name in self.__slots__)

    def __eq__(self, other):
        return tuple(self) == tuple(other) if isinstance(other, Copy) else NotImplemented

    def __hash__(self):
        return hash(tuple(self))

    def __repr__(self):
        return f"{self.file}:{self.line}: {self.op} copied {self.bytes} bytes of shape {tuple(self.shape)}: {self.reason}"


class Log:
    """The copies so far, in order; a sequence that grows while it is observed."""

    def __init__(self):
        self._log = _C._Log()

    def __len__(self):
        return len(self._log)

    def __getitem__(self, k):
        if isinstance(k, slice):
            return [self[i] for i in range(*k.indices(len(self)))]
        k = k.__index__()
        return Copy(*self._log.get(k + len(self) if k < 0 else k)) if -len(self) <= k < len(self) else self._none(k)

    def _none(self, k):
        raise IndexError(f"copy {k} of {len(self)}")

    @property
    def bytes(self):
        """Bytes of all copies together."""
        return sum(c.bytes for c in self)

    def __repr__(self):
        return "\n".join(map(repr, self)) or "no copies"


class copies:
    """Logs the copies that the block makes on this thread; ``with`` gives the ``Log``."""

    def __enter__(self):
        log = Log()
        _C._log_copies(log._log)
        return log

    def __exit__(self, *exc):
        _C._end_observing()


class forbid_copies:
    """Inside the block, on this thread, a copy is a RuntimeError that names op, bytes, reason and line."""

    def __enter__(self):
        _C._forbid_copies()
        return self

    def __exit__(self, *exc):
        _C._end_observing()


class _Module(types.ModuleType):
    """The module can be called: torch has a function of the same name."""

    def __call__(self, *args, **kwargs):
        return _C.Tensor.trace(*args, **kwargs)


sys.modules[__name__].__class__ = _Module
