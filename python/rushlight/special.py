"""Special functions, element by element; the rows of the op table whose names begin with `special_`,
and those that torch has here too."""

from ._C import _functions
from ._surface import submodule

globals().update(submodule("special_"))
globals().update(
    {name: _functions[name] for name in ("erf", "erfc", "exp2", "expm1", "log1p", "logsumexp", "round")}
)
expit = _functions["sigmoid"]


def softmax(input, dim, *, dtype=None):
    """As ``torch.softmax``."""
    from . import softmax as row

    return row(input, dim, dtype=dtype)


def log_softmax(input, dim, *, dtype=None):
    """As ``torch.log_softmax``."""
    from . import log_softmax as row

    return row(input, dim, dtype=dtype)
