"""Result dtypes of every binary op for every pair of dtypes, against torch's table."""

import json
import pathlib

import rushlight
from promotion import FAILURES, LETTERS, table

WANT = json.loads((pathlib.Path(__file__).parent / "golden" / "promotion.json").read_text())
HALVES, COMPLEX = ("float16", "bfloat16"), "FDEB"


def agree(name, want, got):
    """Whether two outcomes are alike, or known to differ."""
    if want == got or {want, got} == {"R", "N"} and (want == "R" or name.endswith("out")):
        return True
    if want in "EB" and got == "F":  # complex numbers of halves are complex64 here
        return True
    op, *rest = name.split()
    if want == "N" and got in "Fb" and any(h in rest for h in HALVES):  # which torch has few kernels for
        return op in ("add", "sub", "mul", "true_divide", "pow", "logical_and", "logical_xor")
    if want == "N" and got != "N":  # powers of bool by bool; a 0-d bool times a power of 2
        return (op, got) in (("pow", "b"), ("pow_", "b")) or name == "pow bool out" or op in ("ldexp", "ldexp_")
    return want in COMPLEX and got == "N" and op in ("ldexp", "ldexp_", "logaddexp")


def test_every_pair_of_dtypes():
    got, wrong = table(rushlight), []
    for name, letters in WANT.items():
        pairs = list(zip(letters, got[name], strict=True))
        if not all(agree(name, w, g) for w, g in pairs):
            wrong.append(f"{name}: {letters} but {got[name]}")
    assert len(WANT) > 2000 and set("".join(WANT.values())) <= {*LETTERS.values(), *FAILURES.values()}
    assert not wrong, f"{len(wrong)} rows differ\n" + "\n".join(wrong[:40])
