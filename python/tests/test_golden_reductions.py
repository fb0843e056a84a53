"""Reductions, sorting, sets, searching and counting give what torch gave when the file was made."""

import importlib.util
import json
import math
import pathlib

import pytest
import rushlight

GOLDEN = pathlib.Path(__file__).parent / "golden"


def _script():
    spec = importlib.util.spec_from_file_location("golden_reductions", GOLDEN / "reductions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = _script()
EXPECTED = json.loads((GOLDEN / "reductions.json").read_text())


def _same(got, want):
    if isinstance(want, list) or isinstance(want, str):
        assert type(got) is type(want), (got, want)
    if isinstance(want, str):
        assert got == want
        return
    if isinstance(want, list):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            _same(g, w)
        return
    assert (got["shape"], got["dtype"]) == (want["shape"], want["dtype"])
    for g, w in zip(got["numbers"], want["numbers"], strict=True):
        if isinstance(w, str):
            g, w = float(g), float(w)
            assert (math.isnan(g) and math.isnan(w)) or math.isclose(g, w, rel_tol=1e-6, abs_tol=1e-7), (g, w)
        else:
            assert g == w


@pytest.mark.parametrize("case", list(EXPECTED))
def test_as_torch(case):
    _same(SCRIPT.run(rushlight, case), EXPECTED[case])


def test_every_case_is_there():
    assert list(EXPECTED) == SCRIPT.CASES
