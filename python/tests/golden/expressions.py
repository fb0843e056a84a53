"""What the expressions of expressions.txt give: as data that JSON holds, and how close it must be."""

import math
import pathlib
import warnings

HERE = pathlib.Path(__file__).parent


def expressions():
    """The lines of expressions.txt, without comments."""
    lines = (HERE / "expressions.txt").read_text().splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def evaluate(torch, expression):
    """The result as data, or the class of the exception."""

    def x(*shape, **options):
        return torch.arange(float(math.prod(shape)), **options).reshape(shape)

    names = {"torch": torch, "F": torch.nn.functional, "x": x, "nan": math.nan, "inf": math.inf}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return plain(eval(expression, names))
        except Exception as error:
            return {"raises": [c.__name__ for c in type(error).__mro__[:-3]]}


def plain(v):
    """Tensors as dtype, shape, strides and values; the rest as text."""
    if hasattr(v, "tolist") and hasattr(v, "stride"):
        values = [number(n) for n in v.reshape(-1).tolist()]
        return {"dtype": str(v.dtype), "shape": list(v.shape), "stride": list(v.stride()), "values": values}
    if type(v) in (tuple, list) or (isinstance(v, tuple) and hasattr(v, "values")):
        return [plain(part) for part in v]
    if isinstance(v, bool | int | str) or v is None:
        return v
    return number(v) if isinstance(v, float | complex) else str(v)


def number(n):
    """A number that JSON holds."""
    if isinstance(n, complex):
        return [number(n.real), number(n.imag)]
    return n if isinstance(n, bool | int) or math.isfinite(n) else repr(n)


def same(want, got):
    """Whether a result is the right one: floats to 1e-5, exceptions by class."""
    if isinstance(want, dict) and isinstance(got, dict):
        if "raises" in want:
            return bool(got.get("raises")) and want["raises"][0] in got["raises"]
        return want.keys() == got.keys() and all(same(want[k], got[k]) for k in want)
    if isinstance(want, list) and isinstance(got, list):
        return len(want) == len(got) and all(map(same, want, got))
    if isinstance(want, float) or isinstance(got, float):
        numbers = isinstance(want, int | float) and isinstance(got, int | float)
        return numbers and math.isclose(want, got, rel_tol=1e-5, abs_tol=1e-6)
    return type(want) is type(got) and want == got
