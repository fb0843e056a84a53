"""Discrete Fourier transforms; the rows of the op table whose names begin with `fft_`."""

from ._surface import submodule

globals().update(submodule("fft_"))
