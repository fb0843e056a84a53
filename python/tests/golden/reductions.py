"""Writes reductions.json: what torch gives for calls of reductions, sorting, sets, searching and counting.

Run with a Python that has torch: ``python python/tests/golden/reductions.py``. The test beside reads it.
"""

import json
import pathlib

CASES = """
torch.unique(T([nan, 1., nan, 0., -0., 1.]), return_inverse=True, return_counts=True)
torch.unique(T([[1, 2], [3, 0], [1, 2], [0, 5]]), dim=0, return_inverse=True, return_counts=True)
torch.unique(T([[1, 2, 1], [3, 0, 3]]), dim=1)
torch.unique(torch.zeros(2, 0), dim=0)
torch.unique(T(3.), dim=0)
torch.unique_consecutive(T([nan, nan, 1., 1., 0., 0.]), return_inverse=True, return_counts=True)
torch.unique_consecutive(T([[1, 1, 2], [3, 3, 4]]), dim=1, return_inverse=True)
torch.isin(T([1, 2, 3]), T([2., 5.]), invert=True)
torch.isin(T([nan]), T([nan]))
torch.searchsorted(T([1., 2., 2., nan]), T([nan, 1.5, 2., 0.]))
torch.searchsorted(T([1., 2., 2., nan]), T([nan, 1.5, 2., 0.]), right=True)
torch.searchsorted(T([[1, 3], [5, 7]]), T([[3], [6]]), side='right')
torch.searchsorted(T([3., 2.]), T([2.5]), sorter=T([1, 0]))
torch.searchsorted(T([3., 2.]), T([2.5]), sorter=T([1, 5]))
torch.searchsorted(T([1., 2.]), T([1.]), right=True, side='left')
torch.bucketize(T([9007199254740993, 5]), T([5, 9007199254740992]))
torch.cummax(T([1., 3., 3., nan, 5., nan]), 0)
torch.cummin(T([[1, 1, 0], [0, 2, 0]]), 1)
torch.logcumsumexp(T([-inf, 0., inf, 1.]), 0)
torch.median(T([1., nan, 3., nan]), 0)
torch.median(T([4, 1, 3, 2]), 0)
torch.median(torch.zeros(0))
torch.median(torch.zeros(0), 0)
torch.nanmedian(T([3., nan, 1., 2., nan]), 0)
torch.nanmedian(T([nan, nan]), 0)
torch.kthvalue(T([5., 1., nan, 3.]), 4)
torch.kthvalue(T([1., 2.]), 3)
torch.kthvalue(T([True, False]), 1)
torch.mode(T([3, 1, 1, 3, 2]))
torch.quantile(T([[4., 1.], [2., nan]]), T([0.25, 1.]), dim=1)
torch.nanquantile(T([[4., 1.], [2., nan]]), 0.5, dim=1, keepdim=True)
torch.quantile(T([1., 2.]), 2.)
torch.quantile(T([1., 2., 4., 8.]), 0.4, interpolation='nearest')
torch.diff(T([True, False, False]))
torch.diff(T([1, 4, 9, 16]), n=2, append=T([30]))
torch.diff(T([1., 2.]), n=5)
torch.diff(T(1.))
torch.trapezoid(T([1., 2., 3.]), T([0., 1., 4.]))
torch.cumulative_trapezoid(T([[1., 2.], [3., 4.]]), dx=2, dim=0)
torch.gradient(T([1., 4., 9., 16.]), spacing=2., edge_order=2)
torch.gradient(T([1., 4., 9., 16.]), spacing=(T([1., 2., 4., 7.]),))
torch.count_nonzero(T([[1., 0.], [nan, 2.]]), dim=0)
torch.aminmax(T([[1., 2.], [nan, 3.]]), dim=1)
torch.aminmax(torch.zeros(0))
torch.nansum(T([1., nan, 2.]))
torch.nanmean(T([nan]))
torch.bincount(T([1, 3, 1]), minlength=6)
torch.bincount(T([1, 3, 1]), weights=T([0.5, 1., 2.]))
torch.bincount(T([-1]))
torch.histc(T([0., 1., 2., nan, 9.]), bins=2, min=0, max=2)
torch.histogram(T([0., 1., 1.5, 2.]), T([0., 1., 2.]), density=True)
torch.histogramdd(T([[0., 1.], [1., 0.], [2., 2.]]), [2, 2])
torch.cov(T([[0., 1., 2.], [2., 1., 0.]]), fweights=T([1, 2, 1]))
torch.corrcoef(T([[0., 1., 2.], [2., 1., 0.]]))
torch.cdist(T([[0., 0.], [1., 1.]]), T([[3., 4.]]), p=1.)
torch.cross(T([1., 0., 0.]), T([0., 1., 0.]))
torch.renorm(T([[3., 4.], [0.3, 0.4]]), 2, 0, 1.)
torch.combinations(T([1, 2, 3]), 2, True)
torch.combinations(T([1, 2]), 3)
torch.unravel_index(T([5, 3, -1]), (2, 4))
torch.nonzero_static(T([0, 1, 2]), size=3, fill_value=-7)
torch.hash_tensor(T([[1., 2.], [2., 1.]]), dim=1)
torch.logspace(0, 3, 4, dtype=torch.int64)
torch.linspace(T(0.), T(1.), 3)
torch.masked.mean(T([[1., 2.], [3., 4.]]), 1, mask=T([[True, False], [False, False]]))
torch.masked.amax(T([[1, 2], [3, 4]]), 0, mask=T([[True, False], [True, False]]))
torch.masked.softmax(T([1., 2., 3.]), 0, mask=T([True, False, True]))
torch.zeros(3).exponential_(0.)
torch.zeros(3).uniform_(3, 1)
torch.binomial(T([5]), T([0.5]))
""".strip().splitlines()


def plain(x):
    """A result as JSON has it: shapes, dtypes and numbers, floats as text."""
    if isinstance(x, (tuple, list)):
        return [plain(y) for y in x]
    numbers = [repr(float(y)) if isinstance(y, float) else int(y) for y in x.reshape(-1).tolist()]
    return {"shape": list(x.shape), "dtype": str(x.dtype).split(".")[-1], "numbers": numbers}


def run(torch, case):
    """What a case gives, or the name of the exception's class."""
    names = {"torch": torch, "T": torch.tensor, "nan": float("nan"), "inf": float("inf")}
    try:
        return plain(eval(case, names))
    except (RuntimeError, IndexError, TypeError, ValueError) as e:
        return type(e).__name__


if __name__ == "__main__":
    import torch

    results = {case: run(torch, case) for case in CASES}
    path = pathlib.Path(__file__).with_suffix(".json")
    lines = [f"{json.dumps(case)}: {json.dumps(result)}" for case, result in results.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")
