"""Linear algebra; the rows of the op table whose names begin with `linalg_`."""

from ._surface import submodule

globals().update(submodule("linalg_"))
