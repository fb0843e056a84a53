"""Writes printing.json: tensors, print options and the text that torch shows. Needs torch.

With --fuzz N it compares N further random tensors with rushlight instead, which must be importable.
"""

import json
import math
import pathlib
import random
import sys

DTYPES = "float32 float64 float16 bfloat16 int64 int32 uint8 bool complex64 complex128".split()
SPECIAL = [0.0, -0.0, math.inf, -math.inf, math.nan, 1.0, -1.0, 1e-5, 123456.0, 1e9, 0.1, 1000.5]


def case(r):
    """A recipe: values of a dtype in a shape, and options."""
    dtype = r.choice(DTYPES)
    rank = r.choice([0, 1, 1, 1, 2, 2, 3, 4])
    shape = [r.choice([0, 1, 2, 3, 4, 5, 7, 12, 30]) if r.random() < 0.9 else r.choice([40, 1001]) for _ in range(rank)]
    while math.prod(shape) > 3000:
        shape[r.randrange(rank)] = 2
    scale = 10.0 ** r.choice([-6, -3, 0, 0, 0, 2, 5, 9])
    whole = r.random() < 0.35

    def number():
        if r.random() < 0.05:
            return r.choice(SPECIAL)
        x = r.gauss(0, 1) * scale
        return float(round(x)) if whole else x

    count = math.prod(shape)
    if dtype == "bool":
        values = [r.random() < 0.5 for _ in range(count)]
    elif dtype in ("int64", "int32", "uint8"):
        bits = {"int64": 40, "int32": 30, "uint8": 8}[dtype]
        top = 2 ** r.randrange(1, bits)
        values = [r.randrange(0 if dtype == "uint8" else -top, top) for _ in range(count)]
    elif dtype.startswith("complex"):
        values = [[number(), number()] for _ in range(count)]
    else:
        values = [number() for _ in range(count)]
    options = {}
    if r.random() < 0.3:
        options = {"precision": r.choice([0, 1, 2, 6, 9]), "linewidth": r.choice([20, 60, 120])}
    if r.random() < 0.2:
        options["threshold"] = r.choice([0, 5, 50])
        options["edgeitems"] = r.choice([0, 1, 2, 5])
    if r.random() < 0.1:
        options["profile"] = r.choice(["default", "short", "full"])
    if r.random() < 0.1:
        options["sci_mode"] = r.choice([True, False])
    return {"dtype": dtype, "shape": shape, "values": values, "options": options, "grad": r.random() < 0.1}


def show(torch, recipe):
    """The text of the recipe's tensor."""
    kind = getattr(torch, recipe["dtype"])
    values = [complex(*v) for v in recipe["values"]] if kind.is_complex else recipe["values"]
    x = torch.tensor(values, dtype=kind).reshape(recipe["shape"])
    if recipe["grad"] and (kind.is_floating_point or kind.is_complex):
        x.requires_grad_()
    torch.set_printoptions(profile="default")
    torch.set_printoptions(**recipe["options"])
    try:
        return repr(x)
    finally:
        torch.set_printoptions(profile="default")


def main(arguments):
    import torch

    if arguments[:1] == ["--fuzz"]:
        import rushlight

        bad = 0
        for seed in range(int(arguments[1])):
            recipe = case(random.Random(f"fuzz {seed}"))
            want, got = show(torch, recipe), show(rushlight, recipe)
            if want != got:
                bad += 1
                if bad < 6:
                    print(seed, {k: v for k, v in recipe.items() if k != "values"}, "\n" + want, "\n" + got)
        print(f"{bad} of {arguments[1]} differ")
        return bad > 0
    cases = [case(random.Random(f"golden {seed}")) for seed in range(400)]
    cases = [c for c in cases if len(c["values"]) < 200][:150]
    for c in cases:
        c["text"] = show(torch, c)
    text = "[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n"
    pathlib.Path(__file__).with_name("printing.json").write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
