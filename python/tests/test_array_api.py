"""The array API standard's namespace: its names and parameters, its promotion, and where it differs from torch."""

import inspect
import itertools
import json
import math
import pathlib
import subprocess
import sys

import pytest
import rushlight
import rushlight.array_api as xp
from test_unsigned import NAMES as INTEGERS
from test_unsigned import common

CHAPTERS = json.loads((pathlib.Path(__file__).parent / "golden" / "array_api.json").read_text())
KINDS = {
    "positional": inspect.Parameter.POSITIONAL_ONLY,
    "any": inspect.Parameter.POSITIONAL_OR_KEYWORD,
    "many": inspect.Parameter.VAR_POSITIONAL,
    "keyword": inspect.Parameter.KEYWORD_ONLY,
}
FLOATS = ("float32", "float64", "complex64", "complex128")
nan, inf = math.nan, math.inf


def place(chapter):
    places = {"array_object": rushlight.Tensor, "fft": xp.fft, "linalg": xp.linalg}
    return places.get(chapter, xp)


FUNCTIONS = [
    (chapter, name)
    for chapter, names in CHAPTERS.items()
    if chapter not in ("constants", "info")
    for name, taken in names.items()
    if taken is not None
]


# --- Names and parameters -------------------------------------------------------------------------


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_name_is_there_and_says_what_it_is(chapter):
    where = xp.__array_namespace_info__() if chapter == "info" else place(chapter)
    for name, taken in CHAPTERS[chapter].items():
        if name == "__array_namespace_info__":
            assert callable(xp.__array_namespace_info__)
            continue
        assert hasattr(where, name), name
        if taken is not None and chapter != "array_object":
            assert getattr(where, name).__doc__, f"{name} says nothing of itself"


@pytest.mark.parametrize("chapter,name", [f for f in FUNCTIONS if f[0] != "array_object"])
def test_parameters_are_the_standards(chapter, name):
    want = [(n, KINDS[kind], default) for n, kind, default in CHAPTERS[chapter][name]]
    taken = inspect.signature(getattr(place(chapter), name)).parameters.values()
    assert [(p.name, p.kind) for p in taken] == [w[:2] for w in want]
    for p, (_, _, default) in zip(taken, want):
        if default is None:
            assert p.default is inspect.Parameter.empty, p
        else:
            assert p.default == eval(default, {}), p


def test_the_namespace_has_no_other_names():
    standard = {name for chapter, names in CHAPTERS.items() if place(chapter) is xp and chapter != "info" for name in names}
    dtypes = set(xp.__array_namespace_info__().dtypes())
    assert set(xp.__all__) == standard | dtypes | {"linalg", "fft", "__array_namespace_info__", "__array_api_version__"}
    for extension in (xp.linalg, xp.fft):
        chapter = extension.__name__.rpartition(".")[2]
        assert {n for n in vars(extension) if n[0] != "_"} == set(CHAPTERS[chapter]) == set(extension.__all__)


def test_a_tensor_leads_to_its_namespace():
    x = rushlight.ones(2)
    for version in (None, "2021.12", "2022.12", "2023.12", "2024.12", "2025.12"):
        assert x.__array_namespace__(api_version=version) is xp
    with pytest.raises(ValueError, match="2020.01"):
        x.__array_namespace__(api_version="2020.01")
    assert sys.modules[xp.__name__] is xp and xp.__array_api_version__ == "2025.12"
    assert xp.__version__ == rushlight.__version__
    assert x.to_device("cpu") is x and x.device == x.to_device(x.device).device


def test_it_is_imported_when_first_asked_for():
    program = "import sys, rushlight; assert not [m for m in sys.modules if 'array_api' in m]; rushlight.array_api.abs"
    subprocess.run([sys.executable, "-c", program], check=True)


def test_what_it_says_of_itself():
    info = xp.__array_namespace_info__()
    assert info.capabilities() == {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["real floating"] is xp.zeros(1).dtype
    assert info.default_dtypes()["integral"] is xp.arange(3).dtype
    assert info.default_dtypes()["indexing"] is xp.argmax(xp.ones(3)).dtype
    assert set(info.dtypes(kind=("bool", "complex floating"))) == {"bool", "complex64", "complex128"}
    assert list(info.dtypes(kind="unsigned integer")) == ["uint8", "uint16", "uint32", "uint64"]


# --- Dtypes ---------------------------------------------------------------------------------------


def joined(a, b):
    """The standard's common dtype of two names, where it has one."""
    if a in INTEGERS and b in INTEGERS:
        return common(a, b)
    if a in FLOATS and b in FLOATS:
        wide = "float64" in (a, b) or "complex128" in (a, b)
        return ("complex128" if wide else "complex64") if "complex" in a + b else "float64" if wide else "float32"
    return a if a == b else None


@pytest.mark.parametrize("a", (*INTEGERS, *FLOATS, "bool"))
def test_every_array_counts_whatever_its_dimensions(a):
    for b in (*INTEGERS, *FLOATS, "bool"):
        want, pair = joined(a, b), (getattr(xp, a), getattr(xp, b))
        if want is None:
            continue
        want = getattr(xp, want)
        assert xp.result_type(*pair) is want
        for first, second in itertools.product(((2,), ()), repeat=2):
            x, y = xp.ones(first, dtype=pair[0]), xp.ones(second, dtype=pair[1])
            assert xp.result_type(x, y) is want
            assert xp.where(xp.asarray(True), x, y).dtype is want
            if want is not xp.bool:
                assert xp.multiply(x, y).dtype is want
        assert xp.can_cast(pair[0], want) and xp.can_cast(pair[1], want)
        assert xp.concat([xp.ones(1, dtype=pair[0]), xp.ones(1, dtype=pair[1])]).dtype is want


def test_what_has_no_common_dtype():
    with pytest.raises(TypeError, match="uint64"):
        xp.result_type(xp.uint64, xp.int8)
    assert not xp.can_cast(xp.uint64, xp.int64) and not xp.can_cast(xp.float64, xp.float32)
    # A float between them settles it, in whatever order they come.
    for order in itertools.permutations((xp.uint64, xp.int8, xp.float32)):
        assert xp.result_type(*order) is xp.float32
    with pytest.raises(TypeError, match="real"):
        xp.astype(xp.ones(2, dtype=xp.complex64), xp.float32)


def test_numbers_take_the_dtype_of_the_array():
    for name in INTEGERS:
        x = xp.asarray([1, 2], dtype=getattr(xp, name))
        assert xp.add(x, 1).dtype is xp.subtract(5, x).dtype is xp.result_type(x, 1) is x.dtype
        assert xp.subtract(5, x).tolist() == [4, 3]
    x = xp.ones(2, dtype=xp.float32)
    assert xp.atan2(1, x).dtype is xp.hypot(x, 2.0).dtype is xp.maximum(3, x).dtype is xp.float32
    assert xp.result_type(x, 1j) is xp.complex64 and xp.result_type(xp.float64, 1.0, 1j) is xp.complex128
    assert xp.where(xp.asarray([True, False]), 1, 2.5).tolist() == [1.0, 2.5]
    with pytest.raises(TypeError, match="two arrays"):
        xp.add(1, 2)
    with pytest.raises(TypeError, match="takes arrays"):
        xp.sin(1.0)


def test_limits():
    assert xp.finfo(xp.complex64).dtype is xp.float32 and xp.iinfo(xp.ones(1, dtype=xp.uint64)).dtype is xp.uint64
    assert xp.iinfo(xp.uint64).max == 2**64 - 1 and xp.iinfo(xp.int8).min == -128
    assert (xp.finfo(xp.float32).eps, xp.finfo(xp.float64).smallest_normal) == (2.0**-23, 2.0**-1022)
    assert xp.isdtype(xp.uint16, "integral") and xp.isdtype(xp.float32, ("bool", xp.float32))
    assert not xp.isdtype(xp.bool, "numeric")
    with pytest.raises(ValueError, match="kind"):
        xp.isdtype(xp.bool, "number")


# --- Where a call valid in both means another thing than in torch -----------------------------------


def test_reductions():
    x = xp.asarray([[3.0, 1.0], [2.0, 5.0]])
    assert xp.max(x, axis=0).tolist() == [3, 5] and xp.min(x, axis=(0, 1)).item() == 1
    assert xp.max(x, keepdims=True).shape == xp.argmax(x, keepdims=True).shape == (1, 1)
    assert xp.var(x).item() == 2.1875 and xp.std(x, correction=0.5).item() == pytest.approx(math.sqrt(2.5))
    for reduce in (xp.sum, xp.prod, xp.mean, xp.max, xp.min):
        assert reduce(x, axis=()).tolist() == x.tolist()
        assert reduce(x, axis=()) is not x
    assert xp.std(x, axis=()).tolist() == [[0, 0], [0, 0]]
    assert math.isnan(xp.var(xp.asarray([1.0]), axis=(), correction=1).item())
    bytes_ = xp.asarray([200, 100], dtype=xp.uint8)
    assert (xp.sum(bytes_).dtype, xp.sum(bytes_).item()) == (xp.uint64, 300)
    assert xp.cumulative_prod(bytes_).dtype is xp.uint64 and xp.sum(bytes_, dtype=xp.int8).item() == 44
    assert xp.any(bytes_).dtype is xp.all(bytes_, axis=()).dtype is xp.bool
    assert xp.count_nonzero(x, axis=()).tolist() == [[1, 1], [1, 1]]
    assert xp.cumulative_sum(x, axis=1, include_initial=True).tolist() == [[0, 3, 4], [0, 2, 7]]
    with pytest.raises(ValueError, match="axis"):
        xp.cumulative_sum(x)


def test_creation():
    assert [a.shape for a in xp.meshgrid(xp.arange(2), xp.arange(3))] == [(3, 2), (3, 2)] and xp.meshgrid() == ()
    assert xp.eye(2, 3, k=1, dtype=xp.int8).tolist() == [[0, 1, 0], [0, 0, 1]]
    assert xp.eye(2, k=5).tolist() == [[0, 0], [0, 0]]
    assert xp.arange(3, step=2).tolist() == [0, 2] and xp.arange(3, 0).shape == (0,) and xp.arange(3, 0, -2).tolist() == [3, 1]
    assert xp.linspace(0, 1, 4, endpoint=False).tolist() == [0, 0.25, 0.5, 0.75]
    assert xp.linspace(0, 2j, 3).tolist() == [0, 1j, 2j] and xp.linspace(0, 1, 0, endpoint=False).shape == (0,)
    assert xp.full(2, xp.asarray(3, dtype=xp.int16)).dtype is xp.int16
    assert xp.asarray([xp.asarray(1.0), 2]).tolist() == [1, 2]
    with pytest.raises(ValueError, match="copy"):
        xp.asarray([1], copy=False)
    with pytest.raises(ValueError, match="step"):
        xp.arange(3, step=0)


def test_shapes():
    x = xp.reshape(xp.arange(6), [2, 3])
    assert xp.expand_dims(x, (0, -1)).shape == (1, 2, 3, 1) and xp.squeeze(xp.ones((1, 2, 1)), (0, 2)).shape == (2,)
    assert xp.flip(x).tolist() == [[5, 4, 3], [2, 1, 0]] and xp.roll(x, 1).tolist() == [[5, 0, 1], [2, 3, 4]]
    assert xp.concat([x, x], axis=None).shape == (12,) and [u.tolist() for u in xp.unstack(x, axis=1)] == [[0, 3], [1, 4], [2, 5]]
    assert xp.repeat(x, xp.asarray([2, 1], dtype=xp.uint8), axis=0).shape == (3, 3) and xp.repeat(x, 2).shape == (12,)
    assert xp.broadcast_shapes((2, 1), (3,)) == (2, 3) and xp.broadcast_shapes() == ()
    assert xp.reshape(x, (6,), copy=False)[0].data_ptr() == x.data_ptr() != xp.reshape(x, (6,), copy=True).data_ptr()
    for wrong, refused in (
        (lambda: xp.broadcast_shapes((2,), (3,)), "broadcast"),
        (lambda: xp.squeeze(x, 0), "not 1"),
        (lambda: xp.reshape(x.mT, (6,), copy=False), "copy"),
        (lambda: xp.nonzero(xp.asarray(1)), "0-d"),
        (lambda: xp.expand_dims(x, (0, 0)), "twice"),
        (lambda: xp.take(x, xp.asarray([0])), "axis"),
    ):
        with pytest.raises(ValueError, match=refused):
            wrong()


def test_order_and_sets():
    x = xp.asarray([[3, 1, 3], [2, 3, 1]], dtype=xp.uint16)
    assert xp.sort(x, descending=True).tolist() == [[3, 3, 1], [3, 2, 1]]
    assert xp.argsort(x[0], descending=True).tolist() == [0, 2, 1]
    assert [part.tolist() for part in xp.unique_all(x)] == [[1, 2, 3], [1, 3, 0], [[2, 0, 2], [1, 2, 0]], [2, 1, 3]]
    assert xp.unique_counts(xp.asarray([nan, 0.0, nan, -0.0])).counts.tolist() == [2, 1, 1]
    z = xp.unique_inverse(xp.asarray([1 + 1j, 1j, 1 + 0j, 1 + 1j]))
    assert z.values.tolist() == [1j, 1, 1 + 1j] and z.inverse_indices.tolist() == [2, 0, 1, 2]
    assert [part.shape for part in xp.unique_all(xp.zeros((0, 2)))] == [(0,), (0,), (0, 2), (0,)]
    assert xp.isin(x, 3, invert=True).tolist() == [[False, True, False], [True, False, True]]
    assert [part.tolist() for part in xp.nonzero(x == 3)] == [[0, 0, 1], [0, 2, 1]]
    sorter = xp.argsort(x[1])
    assert xp.searchsorted(x[1], 2, sorter=sorter).item() == 1 and xp.searchsorted(xp.sort(x[1]), x, side="right").shape == (2, 3)
    assert xp.equal(x, xp.asarray(3)).shape == (2, 3)
    assert xp.take(x, xp.asarray([-1, 0], dtype=xp.int8), axis=1).tolist() == [[3, 3], [1, 2]]
    assert xp.take_along_axis(x, xp.asarray([[-1], [0]])).tolist() == [[3], [2]]
    assert xp.diff(x[0], n=2, prepend=xp.asarray([5], dtype=xp.uint16)).tolist() == [0, 4]


def test_products():
    a, b = xp.asarray([[1, 2], [3, 4]], dtype=xp.int8), xp.asarray([[1, 0], [2, 1]], dtype=xp.uint16)
    assert (xp.matmul(a, b).dtype, xp.matmul(a, b).tolist()) == (xp.int32, [[5, 2], [11, 4]])
    assert xp.tensordot(a, b, axes=((0,), (1,))).tolist() == [[1, 5], [2, 8]]
    assert xp.vecdot(xp.asarray([1j, 2.0]), xp.asarray([1j, 1.0])).item() == 3
    assert xp.vecdot(a, a, axis=0).tolist() == [10, 20] and xp.linalg.outer(a[0], b[1]).tolist() == [[2, 1], [4, 2]]
    assert xp.linalg.trace(b).dtype is xp.uint64 and xp.linalg.diagonal(a, offset=1).tolist() == [2]
    assert xp.matrix_transpose(a).tolist() == [[1, 3], [2, 4]]
    with pytest.raises(ValueError, match="axis"):
        xp.vecdot(xp.ones(2), xp.ones(3))


# --- Corners of single functions ------------------------------------------------------------------

CORNERS = [
    (lambda: xp.floor_divide(xp.asarray([inf, inf, -inf, 1.0, -1.0, 1.0]), xp.asarray([2.0, -2.0, -2.0, -inf, inf, inf])), [inf, -inf, inf, -0.0, -0.0, 0.0]),
    (lambda: xp.floor_divide(xp.asarray([7.0, -7.0, 0.0]), 2.0), [3.0, -4.0, 0.0]),
    (lambda: xp.remainder(xp.asarray([0.0, -0.0, 5.0]), xp.asarray([-2.0, 2.0, -3.0])), [-0.0, 0.0, -1.0]),
    (lambda: xp.sign(xp.asarray([nan, -0.5, 0.0])), [nan, -1.0, 0.0]),
    (lambda: xp.round(xp.asarray([0.5 + 1.5j, -2.5 + 0j])), [2j, -2 + 0j]),
    (lambda: xp.clip(xp.asarray([1, 5], dtype=xp.int8), xp.asarray(2), None), [2, 5]),
    (lambda: xp.clip(xp.asarray([1, 5]), -inf, 3), [1, 3]),
    (lambda: xp.pow(xp.asarray([1.0, nan, -inf]), xp.asarray([nan, 0.0, -3.0])), [1.0, 1.0, -0.0]),
    (lambda: xp.atan2(xp.asarray([0.0, -0.0]), xp.asarray([-0.0, 0.0])), [math.pi, -0.0]),
    (lambda: xp.imag(xp.asarray([1.5])), [0.0]),
    (lambda: xp.sign(xp.asarray([3 - 4j, complex(-0.0, -0.0)], dtype=xp.complex128)), [0.6 - 0.8j, 0j]),
    (lambda: xp.abs(xp.asarray([complex(nan, inf), 3 + 4j], dtype=xp.complex64)), [inf, 5.0]),
    (lambda: xp.isfinite(xp.asarray([complex(1, inf), complex(nan, 1), 1j])), [False, False, True]),
    (lambda: xp.expm1(xp.asarray([complex(-inf, nan), complex(inf, 0.0)])), [complex(-1.0, 0.0), complex(inf, 0.0)]),
    (lambda: xp.acos(xp.asarray([0j], dtype=xp.complex128)), [complex(math.pi / 2, -0.0)]),
    (lambda: xp.log1p(xp.asarray([complex(0, inf)], dtype=xp.complex128)), [complex(inf, math.pi / 2)]),
    (lambda: xp.sqrt(xp.asarray([complex(-4.0, -0.0)])), [complex(0.0, -2.0)]),
    (lambda: xp.square(xp.asarray([65535], dtype=xp.uint16)), [1]),
    (lambda: xp.bitwise_right_shift(xp.asarray([2**63], dtype=xp.uint64), 63), [1]),
]


@pytest.mark.parametrize("number", range(len(CORNERS)))
def test_corner(number):
    call, want = CORNERS[number]
    got = call()
    if got.dtype is xp.float32:
        want = rushlight.tensor(want, dtype=xp.float32).tolist()
    assert str(got.tolist()) == str(want)


def test_clip_and_positive_give_new_arrays():
    x = xp.asarray([1.0, 2.0])
    for made in (xp.clip(x), xp.positive(x), xp.astype(x, x.dtype)):
        made[0] = 9.0
    assert x.tolist() == [1, 2] and xp.astype(x, x.dtype, copy=False) is x


def test_gradients_pass_through():
    x = rushlight.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    y = xp.sum(xp.multiply(xp.permute_dims(x, (1, 0)), xp.asarray(2.0, dtype=xp.float64)) * xp.clip(x, max=3.0))
    y.backward()
    want = rushlight.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (want.T.double() * 2 * want.clamp(max=3.0)).sum().backward()
    assert x.grad.tolist() == want.grad.tolist() and y.dtype is xp.float64


def test_brackets():
    x = xp.reshape(xp.arange(12), (3, 4))
    assert x[::-1, ::-2].tolist() == [[11, 9], [7, 5], [3, 1]]
    x[:, ::-1] = xp.reshape(xp.arange(12), (3, 4))
    assert x[0].tolist() == [3, 2, 1, 0]
    assert x[xp.asarray([2, 0], dtype=xp.int8), xp.asarray([0, 1], dtype=xp.uint64)].tolist() == [11, 2]
    assert xp.zeros((0, 3))[xp.zeros((0, 3), dtype=xp.bool)].shape == (0,)


# --- Libraries that take arrays of any kind ---------------------------------------------------------


def test_attributes_that_a_real_tensor_lacks_can_be_asked_for():
    assert not hasattr(rushlight.ones(2), "imag") and hasattr(rushlight.ones(2, dtype=rushlight.complex64), "imag")
    with pytest.raises(TypeError, match="complex"):
        rushlight.ones(2).imag


def test_names_that_numpy_has_for_the_same():
    x, y = xp.reshape(xp.arange(6), (2, 3)), xp.reshape(xp.arange(6), (3, 2))
    assert rushlight.tensordot(x, y, axes=((1,), (0,))).tolist() == (x @ y).tolist()
    assert rushlight.transpose(x, (1, 0)).tolist() == x.T.tolist() and x.transpose(0, 1).shape == (3, 2)
    # With NumPy's `kind` a dtype would be taken for one of NumPy's.
    assert not hasattr(xp.float32, "kind")


def test_einops():
    einops = pytest.importorskip("einops")
    import rushlight.utils.einops

    x = rushlight.arange(24.0).reshape(2, 3, 4)
    assert einops.rearrange(x, "a b c -> (b a) c").tolist() == x.permute(1, 0, 2).reshape(6, 4).tolist()
    assert einops.reduce(x, "a b c -> a c", "max").tolist() == x.amax(1).tolist()
    assert einops.repeat(x, "a b c -> a b c d", d=2).shape == (2, 3, 4, 2)
    import einops.array_api

    assert einops.array_api.rearrange(x, "a b c -> c (a b)").shape == (4, 6)
