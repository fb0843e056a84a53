"""Linear algebra; the rows of the op table whose names begin with `linalg_`."""

from ._C import _LinAlgError as LinAlgError  # noqa: F401
from ._surface import submodule as _submodule

globals().update(_submodule("linalg_"))
