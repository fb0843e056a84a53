"""The extension ``fft``: discrete Fourier transforms along axes, and what goes with them."""

from .. import fft as _fft
from ._arrays import array as _array

__all__ = """fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn""".split()


def _along(name, doc):
    def transform(x, /, *, n=None, axis=-1, norm="backward"):
        return getattr(_fft, name)(_array(name, x), n=n, dim=axis, norm=norm)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"{doc} along ``axis``, cut or filled with zeros to ``n`` elements."
    return transform


def _over(name, doc):
    def transform(x, /, *, s=None, axes=None, norm="backward"):
        return getattr(_fft, name)(_array(name, x), s=s, dim=axes, norm=norm)

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = f"{doc} over ``axes`` (all, or the last ``len(s)``), cut or filled with zeros to the sizes ``s``."
    return transform


fft = _along("fft", "The transform")
ifft = _along("ifft", "The inverse transform")
rfft = _along("rfft", "The half of the transform of real numbers that says all,")
irfft = _along("irfft", "The real numbers of which that is the half of the transform,")
hfft = _along("hfft", "The transform, which is real, of the half of Hermitian-symmetric numbers,")
ihfft = _along("ihfft", "The half of the inverse transform of real numbers that says all,")
fftn = _over("fftn", "The transform")
ifftn = _over("ifftn", "The inverse transform")
rfftn = _over("rfftn", "The transform of real numbers, of whose last axis half says all,")
irfftn = _over("irfftn", "The real numbers of which that is the transform,")


def _frequencies(name, doc):
    def frequencies(n, /, *, d=1.0, dtype=None, device=None):
        return getattr(_fft, name)(n, d=d, dtype=dtype, device=device)

    frequencies.__name__ = frequencies.__qualname__ = name
    frequencies.__doc__ = f"The frequencies of {doc} of ``n`` samples that lie ``d`` apart."
    return frequencies


fftfreq = _frequencies("fftfreq", "a transform")
rfftfreq = _frequencies("rfftfreq", "the half transform")


def _shift(name, doc):
    def shift(x, /, *, axes=None):
        return getattr(_fft, name)(_array(name, x), dim=axes)

    shift.__name__ = shift.__qualname__ = name
    shift.__doc__ = doc
    return shift


fftshift = _shift("fftshift", "Frequency 0 in the middle of ``axes`` (all by default).")
ifftshift = _shift("ifftshift", "Frequency 0 back at the front of ``axes`` (all by default).")
