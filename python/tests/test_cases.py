"""Small programs that went wrong in other tensor libraries, with the right answers.

golden/programs.json has them: what each is about, its code, and the result or the exception.
"""

import json
import math
import pathlib

import pytest
import rushlight

PROGRAMS = json.loads((pathlib.Path(__file__).parent / "golden" / "programs.json").read_text())


def plain(x):
    """A result as JSON has it."""
    if isinstance(x, tuple | list):
        return [plain(v) for v in x]
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in x.items()}
    if isinstance(x, float) and not math.isfinite(x):
        return repr(x)
    if isinstance(x, rushlight.dtype):
        return str(x).removeprefix("torch.")
    if isinstance(x, bool | int | float | str) or x is None:
        return x
    return plain(x.tolist()) if hasattr(x, "tolist") else repr(x)


def agrees(want, got):
    """Whether a result is the wanted one, which may say shape and dtype as well."""
    if isinstance(want, dict) and "values" in want and "dtype" in want:
        about = list(got.shape) == want["shape"] and plain(got.dtype) == want["dtype"]
        return about and agrees(want["values"], plain(got))
    if isinstance(want, dict):
        return isinstance(got, dict) and want.keys() == got.keys() and all(agrees(want[k], got[k]) for k in want)
    if isinstance(want, list) and isinstance(got, tuple | list):
        return len(want) == len(got) and all(map(agrees, want, got))
    got = plain(got)
    if isinstance(want, list):
        return isinstance(got, list) and len(want) == len(got) and all(map(agrees, want, got))
    if isinstance(want, float) and isinstance(got, float):
        return math.isclose(want, got, rel_tol=1e-5, abs_tol=1e-7)
    return want == got and isinstance(want, bool) == isinstance(got, bool)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("program", PROGRAMS, ids=[p["id"] for p in PROGRAMS])
def test_program(program):
    numpy = pytest.importorskip("numpy")
    names = {"torch": rushlight, "F": rushlight.nn.functional, "np": numpy}
    expected = program["expected"]
    if "raises" in expected:
        kinds = {expected["raises"], *expected.get("also", [])}
        with pytest.raises(Exception) as caught:
            exec(program["code"], names)
        assert kinds & {c.__name__ for c in type(caught.value).__mro__}, f"{caught.value!r} is none of {kinds}"
    else:
        exec(program["code"], names)
        assert agrees(expected["result"], names["result"]), f"{program['about']}: got {names['result']}"


def test_messages_say_what_was_given():
    x = rushlight.zeros(3)
    for call, parts in [
        (lambda: x.index_select(0, rushlight.tensor([-1])), ["index_select", "-1", "3"]),
        (lambda: x.scatter(0, rushlight.tensor([5]), rushlight.ones(1)), ["scatter", "5", "3"]),
        (lambda: rushlight.zeros(2, 3) + rushlight.zeros(2, 4), ["add", "[2, 3]", "[2, 4]"]),
        (lambda: rushlight.zeros(2, 3).view(4), ["view", "[4]", "6"]),
        (lambda: rushlight.zeros(2, 3) @ rushlight.zeros(2, 3), ["matmul", "[2, 3]"]),
        (lambda: x.sum(3), ["sum", "3"]),
        (lambda: x.add("a"), ["add", "str"]),
        (lambda: rushlight.zeros(2, device="cuda"), ["cuda"]),
    ]:
        with pytest.raises((RuntimeError, IndexError, TypeError)) as caught:
            call()
        for part in parts:
            assert part in str(caught.value), str(caught.value)


def test_results_do_not_depend_on_the_number_of_threads():
    x = rushlight.randn(300, 1000)
    before = rushlight.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 4):
            rushlight.set_num_threads(threads)
            results.append((x * 2 + 1).sum(-1))
        assert all(rushlight.equal(results[0], r) for r in results)
    finally:
        rushlight.set_num_threads(before)
