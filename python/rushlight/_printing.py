"""How tensors are shown: the options, and ``repr``."""

from sys import modules as _modules

from ._C import Tensor

_DEFAULT = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
_PROFILES = {
    "default": {},
    "short": {"precision": 2, "edgeitems": 2},
    "full": {"threshold": float("inf")},
}
_options = dict(_DEFAULT)


def set_options(precision, threshold, edgeitems, linewidth, profile, sci_mode):
    """Sets what is not None; `profile` first, and `sci_mode` always."""
    new = dict(_options)
    if profile is not None:
        if profile not in _PROFILES:
            raise ValueError(f"set_printoptions: profile must be one of {list(_PROFILES)}, not {profile!r}")
        new.update(_DEFAULT, **_PROFILES[profile])
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    for name, value in given.items():
        if value is None:
            continue
        if not value >= 0:
            raise ValueError(f"set_printoptions: {name} must not be negative, got {value}")
        new[name] = value
    new["sci_mode"] = sci_mode
    _options.update(new)


def get_printoptions():
    """The options, as keywords of ``set_printoptions``."""
    return dict(_options)


class printoptions:
    """A context in which tensors are shown otherwise."""

    def __init__(self, **options):
        self._inside = options

    def __enter__(self):
        self._before = get_printoptions()
        set_options(**{**dict.fromkeys(("precision", "threshold", "edgeitems", "linewidth", "profile", "sci_mode")), **self._inside})

    def __exit__(self, *exc):
        _options.update(self._before)


def show(tensor):
    """The text of ``tensor``."""
    kind = type(tensor)
    parameter = "rushlight.nn" in _modules and isinstance(tensor, _modules["rushlight.nn"].Parameter)
    plain = kind is Tensor or (parameter and kind is _modules["rushlight.nn"].Parameter)
    o = _options
    threshold = min(o["threshold"], 2**63)
    text = tensor._text(
        "tensor(" if plain else f"{kind.__name__}(",
        int(o["precision"]), int(threshold), int(o["edgeitems"]), int(o["linewidth"]), o["sci_mode"],
    )  # fmt: skip
    return f"Parameter({text})" if parameter and not plain else text
