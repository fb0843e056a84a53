"""Linear algebra; the rows of the op table whose names begin with `linalg_`."""

from ._C import _LinAlgError as LinAlgError  # noqa: F401
from ._surface import submodule

globals().update(submodule("linalg_"))
