"""Tools of the cases: how they are collected, and how their answers become plain."""

import functools
import warnings

#: Most special first: torch's own classes derive from these.
CLASSES = (NotImplementedError, IndexError, TypeError, ValueError, AttributeError, OverflowError, RuntimeError)


class Cases(dict):
    """Programs by name; each takes the module to run on."""

    def add(self, function):
        """Adds a case: its answer is made plain, and warnings count only where it asks for them."""

        @functools.wraps(function)
        def run(torch):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return plain(function(torch))

        self[function.__name__] = run
        return function


def plain(x):
    """Tensors as nested lists, tuples as lists."""
    if hasattr(x, "tolist"):
        return plain(x.detach().tolist())
    if isinstance(x, (tuple, list)):
        return [plain(i) for i in x]
    if isinstance(x, dict):
        return {k: plain(v) for k, v in x.items()}
    if isinstance(x, complex):
        return [x.real, x.imag]
    return x


def raised(call):
    """The name of the class of what ``call`` raises."""
    try:
        call()
    except Exception as e:  # the class is the answer
        return next((c.__name__ for c in CLASSES if isinstance(e, c)), type(e).__name__)
    return None


def leaf(torch, values=(1.0, 2.0, 3.0), dtype="float64"):
    return torch.tensor(values, dtype=getattr(torch, dtype), requires_grad=True)
