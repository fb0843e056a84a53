"""Which dtype, or which exception, every binary op gives for every pair of operands, as letters."""

DTYPES = "bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64 complex64 complex128".split()
#: What a result or a failure is written as.
LETTERS = dict(zip(DTYPES, "bucsilhHfdFD")) | {"complex32": "E", "bcomplex32": "B"}
FAILURES = {"RuntimeError": "R", "NotImplementedError": "N", "TypeError": "T", "ValueError": "V", "IndexError": "I"}

OPS = (
    "add sub mul true_divide floor_divide remainder fmod pow maximum minimum fmax atan2 hypot copysign bitwise_and "
    "bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift logical_and logical_xor eq ne lt ge gcd lcm xlogy "
    "logaddexp nextafter float_power heaviside ldexp igamma"
).split()
NUMBERS = {"bool": True, "int": 2, "float": 1.5, "complex": 1j}


def outcome(torch, run):
    """The letter of what a call gives."""
    try:
        return LETTERS[str(run().dtype).removeprefix("torch.")]
    except Exception as e:
        return next(FAILURES[c.__name__] for c in type(e).__mro__ if c.__name__ in FAILURES)


def operand(torch, dtype, dims):
    return torch.ones((2,) * dims, dtype=getattr(torch, dtype))


def table(torch):
    """A row of letters for each op, form and first dtype."""
    rows = {}

    def row(name, cases):
        rows[name] = "".join(outcome(torch, case) for case in cases)

    for name in OPS:
        op = getattr(torch, name)
        in_place = getattr(torch.Tensor, name + "_", None)
        for a in DTYPES:
            x = operand(torch, a, 1)
            row(f"{name} {a} tensor", [lambda b=b: op(x, operand(torch, b, 1)) for b in DTYPES])
            row(f"{name} {a} 0-d", [lambda b=b: op(x, operand(torch, b, 0)) for b in DTYPES])
            row(f"{name} 0-d {a}", [lambda b=b: op(operand(torch, b, 0), x) for b in DTYPES])
            row(f"{name} {a} number", [lambda n=n: op(x, n) for n in NUMBERS.values()])
            row(f"{name} {a} out", [lambda b=b: op(x, x, out=operand(torch, b, 1)) for b in DTYPES])
            if in_place is not None:
                row(f"{name}_ {a} tensor", [lambda b=b: in_place(operand(torch, a, 1), operand(torch, b, 1)) for b in DTYPES])
                row(f"{name}_ {a} number", [lambda n=n: in_place(operand(torch, a, 1), n) for n in NUMBERS.values()])
    return rows
