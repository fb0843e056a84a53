"""Optimisers and schedules go where torch's went when the file was made."""

import importlib.util
import json
import math
import pathlib

import pytest
import rushlight

GOLDEN = pathlib.Path(__file__).parent / "golden"


def _script():
    spec = importlib.util.spec_from_file_location("golden_optim", GOLDEN / "optim_cases.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = _script()
EXPECTED = json.loads((GOLDEN / "optim.json").read_text())


def _flat(x):
    return [i for part in x for i in _flat(part)] if isinstance(x, list) else [x]


@pytest.mark.parametrize("case", SCRIPT.CASES)
def test_as_torch(case):
    got, want = _flat(SCRIPT.run(rushlight, case)), _flat(EXPECTED[case])
    assert len(got) == len(want)
    tolerance = 2e-5 if case.endswith("single") else 1e-12
    if case.startswith("Muon"):
        tolerance = 2e-4  # it computes in bfloat16, where another order of sums shows
    if case == "LBFGS:0:complex":
        tolerance = 1e-6  # full steps far over the minimum make much of the last digit
    for place, (g, w) in enumerate(zip(got, want)):
        assert math.isclose(g, w, rel_tol=tolerance, abs_tol=tolerance), (place, g, w)
