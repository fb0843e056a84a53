"""Unsigned integers of all widths, against Python's own integers, which neither wrap nor round."""

import itertools
import operator

import pytest
import rushlight as torch

NAMES = ("uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")
UNSIGNED = NAMES[:4]

#: The common dtype of each pair, as the array API standard lists them; torch has no answer for the
#: pairs of uint16, uint32 and uint64 with another, and the same one for the rest.
PROMOTION = """
        uint8  uint16 uint32 uint64 int8   int16  int32  int64
uint8   uint8  uint16 uint32 uint64 int16  int16  int32  int64
uint16  uint16 uint16 uint32 uint64 int32  int32  int32  int64
uint32  uint32 uint32 uint32 uint64 int64  int64  int64  int64
uint64  uint64 uint64 uint64 uint64 -      -      -      -
int8    int16  int32  int64  -      int8   int16  int32  int64
int16   int16  int32  int64  -      int16  int16  int32  int64
int32   int32  int32  int64  -      int32  int32  int32  int64
int64   int64  int64  int64  -      int64  int64  int64  int64
"""


def common(a, b):
    header, *lines = (line.split() for line in PROMOTION.strip().splitlines())
    name = dict(zip(header, next(line for line in lines if line[0] == a)[1:]))[b]
    return None if name == "-" else name


def info(name):
    return torch.iinfo(getattr(torch, name))


def wrap(x, name):
    bits = info(name).bits
    x %= 2**bits
    return x - 2**bits if info(name).min and x >= 2 ** (bits - 1) else x


def values(name):
    low, high = info(name).min, info(name).max
    return sorted({low, low + 1, 0, 1, 2, 3, 7, 100, high // 2, high // 2 + 1, high // 3 * 2, high - 1, high})


def tensor(numbers, name):
    return torch.tensor(numbers, dtype=getattr(torch, name))


def check(got, want, name):
    assert got.dtype is getattr(torch, name)
    assert got.tolist() == want


@pytest.mark.parametrize("a", NAMES)
def test_promotion(a):
    for b in NAMES:
        x, y, want = tensor([1, 2], a), tensor([3, 4], b), common(a, b)
        if want is None:
            with pytest.raises(RuntimeError, match="common dtype"):
                torch.promote_types(x.dtype, y.dtype)
            with pytest.raises(RuntimeError, match="common dtype"):
                x + y
        else:
            assert torch.promote_types(x.dtype, y.dtype) is getattr(torch, want)
            check(x + y, [4, 6], want)
            check(torch.cat([x, y]), [1, 2, 3, 4], want)
        # One of another category, a number or a tensor without dimensions decides as ever.
        assert (x + 1.5).dtype is torch.float32 and (x + 1).dtype is x.dtype
        assert (x + torch.tensor(1, dtype=y.dtype)).dtype is x.dtype
        assert (x + torch.tensor([1.0, 2.0], dtype=torch.float16)).dtype is torch.float16
        assert (x + torch.tensor([True, False])).dtype is x.dtype


BINARY = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "bitwise_and": operator.and_,
    "bitwise_or": operator.or_, "bitwise_xor": operator.xor, "maximum": max, "minimum": min,
}  # fmt: skip
COMPARE = {"eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}


@pytest.mark.parametrize("a,b", [(a, b) for a in NAMES for b in UNSIGNED if common(a, b)])
def test_arithmetic_is_exact(a, b):
    name = common(a, b)
    pairs = list(itertools.product(values(a), values(b)))
    x, y = tensor([p[0] for p in pairs], a), tensor([p[1] for p in pairs], b)
    for op, exact in BINARY.items():
        check(getattr(torch, op)(x, y), [wrap(exact(p, q), name) for p, q in pairs], name)
    for op, exact in COMPARE.items():
        check(getattr(torch, op)(x, y), [exact(p, q) for p, q in pairs], "bool")
    some = [p for p in pairs if p[1]]
    x, y = tensor([p[0] for p in some], a), tensor([p[1] for p in some], b)
    check(x // y, [wrap(p // q, name) for p, q in some], name)
    check(x % y, [wrap(p % q, name) for p, q in some], name)
    with pytest.raises(RuntimeError, match="zero"):
        x // torch.zeros_like(y)


@pytest.mark.parametrize("name", UNSIGNED)
def test_numbers_of_every_size(name):
    numbers, high, bits = values(name), info(name).max, info(name).bits
    x = tensor(numbers, name)
    check(x + high, [wrap(n + high, name) for n in numbers], name)
    check(x == high, [n == high for n in numbers], "bool")
    check(x < high, [n < high for n in numbers], "bool")
    check(-x, [wrap(-n, name) for n in numbers], name)
    check(~x, [high - n for n in numbers], name)
    check(abs(x), numbers, name)
    check(x.sign(), [int(n > 0) for n in numbers], name)
    check(x**3, [wrap(n**3, name) for n in numbers], name)
    for shift in (0, 1, bits - 1):
        check(x << shift, [wrap(n << shift, name) for n in numbers], name)
        check(x >> shift, [n >> shift for n in numbers], name)
    check(x.clamp(3, high - 1), [min(max(n, 3), high - 1) for n in numbers], name)
    check(x.clone().add_(1), [wrap(n + 1, name) for n in numbers], name)
    assert torch.full((2,), high, dtype=x.dtype).tolist() == [high, high]
    assert torch.arange(high - 4, high, 2, dtype=x.dtype).tolist() == [high - 4, high - 2]
    assert x.max().item() == high and str(high) in repr(x)


@pytest.mark.parametrize("name", UNSIGNED)
def test_reductions_and_order(name):
    high = info(name).max
    lines = [[3, high, 1, high], [high - 1, 0, high // 2 + 1, 7], [5, 5, high // 2, 2]]
    columns = [list(c) for c in zip(*lines)]
    x = tensor(lines, name)
    check(x.sum(1), [wrap(sum(r), "int64") for r in lines], "int64")
    check(x.sum(0, dtype=torch.uint64), [wrap(sum(c), "uint64") for c in columns], "uint64")
    check(x.prod(1, dtype=torch.uint64), [wrap(r[0] * r[1] * r[2] * r[3], "uint64") for r in lines], "uint64")
    check(x.amax(1), [max(r) for r in lines], name)
    check(x.amin(0), [min(c) for c in columns], name)
    check(x.argmax(1), [r.index(max(r)) for r in lines], "int64")
    check(x.argmin(0), [c.index(min(c)) for c in columns], "int64")
    check(x.sort(1).values, [sorted(r) for r in lines], name)
    check(x.sort(1, True).values, [sorted(r, reverse=True) for r in lines], name)
    check(x.argsort(0), [list(c) for c in zip(*(sorted(range(3), key=c.__getitem__) for c in columns))], "int64")
    check(x.topk(2, 1).values, [sorted(r, reverse=True)[:2] for r in lines], name)
    check(x.median(1).values, [sorted(r)[1] for r in lines], name)
    check(x.cummax(1).values, [list(itertools.accumulate(r, max)) for r in lines], name)
    check(torch.cumsum(x, 1, dtype=torch.uint64), [[wrap(n, "uint64") for n in itertools.accumulate(r)] for r in lines], "uint64")
    check(torch.unique(x), sorted(set(sum(lines, []))), name)
    check(torch.searchsorted(torch.unique(x), x[0]), [sorted(set(sum(lines, []))).index(n) for n in lines[0]], "int64")
    check(x.bool().all(1), [all(r) for r in lines], "bool")
    check(x @ x.T, [[wrap(sum(p * q for p, q in zip(r, s)), name) for s in lines] for r in lines], name)


@pytest.mark.parametrize("name", UNSIGNED)
def test_picking_and_placing(name):
    numbers, high = values(name), info(name).max
    x = tensor(numbers, name)
    order = torch.tensor(list(range(len(numbers) - 1, -1, -1)))
    check(x[order], numbers[::-1], name)
    check(x[x > 3], [n for n in numbers if n > 3], name)
    check(torch.where(x > 3, x, 1), [n if n > 3 else 1 for n in numbers], name)
    check(x.gather(0, order), numbers[::-1], name)
    check(torch.zeros_like(x).scatter_(0, order, x), numbers[::-1], name)
    check(tensor([1, 1], name).index_add(0, torch.tensor([0, 1, 0]), tensor([high, 2, 3], name)), [wrap(high + 4, name), 3], name)
    check(x.masked_fill(x == 0, high), [n or high for n in numbers], name)
    y = x.clone()
    y[order[:2]] = high
    check(y, numbers[:-2] + [high, high], name)


def single(n):
    """The float32 next to an integer, ties to even."""
    low = 1 << max(n.bit_length() - 24, 0)
    q, rest = divmod(n, low)
    return float((q + (rest * 2 > low or rest * 2 == low and q & 1)) * low)


def test_large_integers_round_once():
    # By way of float64 the first would become a tie, and fall to the even neighbour below.
    numbers = [(1 << 60) + (1 << 36) + 1, (1 << 63) + (1 << 39) + 1, (1 << 64) - 1]
    assert tensor(numbers, "uint64").float().tolist() == [single(n) for n in numbers]


@pytest.mark.parametrize("name", UNSIGNED)
def test_conversions(name):
    numbers, high = values(name), info(name).max
    x = tensor(numbers, name)
    for other in NAMES:
        check(x.to(getattr(torch, other)), [wrap(n, other) for n in numbers], other)
        back = values(other)
        check(tensor(back, other).to(x.dtype), [wrap(n, name) for n in back], name)
    assert x.double().tolist() == [float(n) for n in numbers]
    assert x.float().tolist() == [single(n) for n in numbers]
    assert torch.tensor([1.9, float(high // 4 * 3)], dtype=torch.float64).to(x.dtype).tolist() == [1, int(float(high // 4 * 3))]
    assert x.tolist() == numbers and [int(n) for n in x] == numbers


def test_a_tensor_without_dimensions_is_compared_by_its_value():
    x = torch.tensor([-80], dtype=torch.int16)
    assert (torch.tensor(32940, dtype=torch.int32) <= x).tolist() == [False]
    assert (x == torch.tensor(2**16 - 80)).tolist() == [False]
    assert (torch.tensor([200], dtype=torch.uint8) > torch.tensor(-1, dtype=torch.int8)).tolist() == [True]


def test_remainders_of_zero_take_the_sign_of_the_divisor():
    x = torch.tensor([0.0, -0.0, 6.0, -6.0])
    assert [str(n) for n in (x % 3.0).tolist()] == ["0.0"] * 4
    assert [str(n) for n in (x.double() % -3.0).tolist()] == ["-0.0"] * 4
