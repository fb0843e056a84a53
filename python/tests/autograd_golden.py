"""Compares rushlight's answers to the cases in ``golden`` with torch's."""

import json
import math
import pathlib
import sys

FOLDER = pathlib.Path(__file__).with_name("golden")
if str(FOLDER) not in sys.path:
    sys.path.insert(0, str(FOLDER))


def answers(group):
    return json.loads((FOLDER / f"{group}.json").read_text())


def close(a, b):
    """Whether two plain answers agree; floats within a few units of float64's last digits."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(close(a[k], b[k]) for k in a)
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-6, abs_tol=1e-12) or (math.isnan(a) and math.isnan(b))
    return type(a) is type(b) and a == b


def differences(got, want, path=""):
    """Where two answers differ, as lines."""
    if isinstance(got, list) and isinstance(want, list) and len(got) == len(want):
        return [line for k, (g, w) in enumerate(zip(got, want)) for line in differences(g, w, f"{path}[{k}]")]
    return [] if close(got, want) else [f"at {path or 'top'}: got {got!r}, torch gives {want!r}"]
