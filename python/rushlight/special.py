"""Special functions, element by element; the rows of the op table whose names begin with `special_`."""

from ._surface import submodule

globals().update(submodule("special_"))
