"""The golden answers of `golden/make_interop.py`, as parameters for tests."""

import json
import pathlib
import sys

GOLDEN = pathlib.Path(__file__).parent / "golden"
sys.path.insert(0, str(GOLDEN))

from answers import answer  # noqa: E402

_cases = json.loads((GOLDEN / "interop.json").read_text())


def cases(group):
    return list(_cases[group].items())


def check(line, expected):
    import numpy
    import rushlight

    assert answer(rushlight, numpy, line) == expected
