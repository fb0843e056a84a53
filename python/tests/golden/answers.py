"""What a line of code answers, as plain data: to ask torch once and rushlight in every test."""

import copy
import math
import operator
import pickle
import re
import warnings
import weakref


def answer(torch, np, line):
    """The value of the last statement of ``line``, or the class of the error that any of them raises."""
    scope = {
        "torch": torch, "np": np, "copy": copy, "pickle": pickle, "operator": operator, "weakref": weakref,
        "math": math,
    }
    *before, last = [part.strip() for part in line.split(";")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            for statement in before:
                exec(statement, scope)
            return plain(torch, np, eval(last, scope))
        except Exception as error:
            return {"error": type(error).__name__}


def plain(torch, np, x):
    """A value as JSON can hold it; numbers as text, so that nan and inf compare."""
    if isinstance(x, torch.Tensor):
        where = x.device.type
        values = repr(x.detach().tolist()) if where == "cpu" else None
        return {"tensor": values, "dtype": str(x.dtype), "stride": list(x.stride()), "shape": list(x.shape),
                "requires_grad": x.requires_grad, "device": where}
    if isinstance(x, np.ndarray):
        return {"array": repr(x.tolist()), "dtype": str(x.dtype), "writeable": bool(x.flags.writeable)}
    if isinstance(x, (tuple, list)):
        return {type(x).__name__: [plain(torch, np, item) for item in x]}
    if type(x).__name__ == "PyCapsule":
        return {"capsule": re.search('"(.*)"', repr(x)).group(1)}
    return {"value": repr(x).replace("rushlight", "torch")}
