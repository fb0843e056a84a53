"""The surface: names in their places, and calls that give what torch gives."""

import copy
import json
import math
import pathlib
import pickle
import sys

import pytest
import rushlight

GOLDEN = pathlib.Path(__file__).parent / "golden"
sys.path.insert(0, str(GOLDEN))
from expressions import evaluate, expressions, same  # noqa: E402

NAMES = json.loads((GOLDEN / "names.json").read_text())["names"]
ANSWERS = json.loads((GOLDEN / "expressions.json").read_text())

#: Names that torch does not have, or has under `torch.serialization` and the like.
OURS = {"array_api", "as_torch", "pointwise", "safetensors", "to_device", "trace"}


def test_every_expression_has_an_answer():
    assert set(expressions()) == set(ANSWERS)


@pytest.mark.parametrize("line", expressions())
def test_expression(line):
    got = evaluate(rushlight, line)
    assert same(ANSWERS[line], got), f"want {ANSWERS[line]}\ngot  {got}"


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


@pytest.mark.parametrize(
    "place, thing",
    [
        ("torch", rushlight),
        ("torch.Tensor", rushlight.Tensor),
        ("torch.nn.functional", rushlight.nn.functional),
    ],
)
def test_names_stand_where_torch_has_them(place, thing):
    assert public(thing) - set(NAMES[place]) - OURS == set()


def test_finfo_is_the_dtypes():
    for kind in (rushlight.float16, rushlight.bfloat16, rushlight.float32, rushlight.float64):
        info = rushlight.finfo(kind)
        one = rushlight.tensor(1.0, dtype=kind)
        assert (one + info.eps > one).item() and not (one + info.eps / 2 > one).item()
        assert math.isfinite(rushlight.tensor(info.max, dtype=kind).item())
        assert math.isinf((rushlight.tensor(info.max, dtype=kind) * 2).item())
        assert rushlight.tensor(info.tiny, dtype=kind).item() == info.tiny


def test_default_dtype_is_kept():
    assert rushlight.get_default_dtype() is rushlight.float32
    rushlight.set_default_dtype(rushlight.float64)
    try:
        assert rushlight.tensor(1.0).dtype is rushlight.float64
        assert (rushlight.tensor([1]) / 2).dtype is rushlight.float64
        assert rushlight.scalar_tensor(1).dtype is rushlight.float64
        assert str(rushlight.tensor(1.0)) == "tensor(1.)"
        assert rushlight.finfo().dtype == "float64"
    finally:
        rushlight.set_default_dtype(rushlight.float32)
    with pytest.raises(TypeError):
        rushlight.set_default_dtype(rushlight.int64)
    with pytest.raises(TypeError):
        rushlight.set_default_dtype("float32")


def test_random_forms_follow_the_seed():
    def draws():
        like = rushlight.zeros(5)
        return [
            rushlight.rand_like(like),
            rushlight.randn_like(like),
            rushlight.randint_like(like, 100),
            rushlight.normal(0.0, 1.0, (5,)),
            like.clone().exponential_(),
            like.clone().random_(0, 1000),
            like.clone().bernoulli_(0.5),
        ]

    rushlight.manual_seed(3)
    first = draws()
    rushlight.manual_seed(3)
    assert all(rushlight.equal(a, b) for a, b in zip(first, draws()))
    assert not all(rushlight.equal(a, b) for a, b in zip(first, draws()))
    assert rushlight.initial_seed() == 3
    rushlight.manual_seed(-1)
    assert rushlight.initial_seed() == 2**64 - 1


def test_distributions_have_their_means():
    rushlight.manual_seed(0)
    x = rushlight.empty(20000, dtype=rushlight.float64)
    assert abs(x.exponential_(2.0).mean().item() - 0.5) < 0.02
    assert abs(x.geometric_(0.25).mean().item() - 4) < 0.1
    assert abs(x.log_normal_(0.0, 0.5).mean().item() - math.exp(0.125)) < 0.03
    assert abs(x.cauchy_(1.0, 2.0).sort().values[10000].item() - 1.0) < 0.1
    assert abs(x.bernoulli_(0.3).mean().item() - 0.3) < 0.02
    for draw in ("exponential_", "geometric_", "cauchy_"):
        with pytest.raises(RuntimeError):
            getattr(x, draw)(*([0.0] if draw != "cauchy_" else [0.0, -1.0]))


def test_parameter_is_a_tensor_over_the_same_memory():
    x = rushlight.ones(2)
    p = rushlight.nn.Parameter(x)
    assert isinstance(p, rushlight.Tensor) and p.requires_grad and p.is_leaf
    assert p.data_ptr() == x.data_ptr()
    assert type(p * 2) is rushlight.Tensor
    assert repr(p) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    (p * p).sum().backward()
    assert p.grad.tolist() == [2.0, 2.0]
    p.note = "kept"
    for twin in (copy.deepcopy(p), pickle.loads(pickle.dumps(p))):
        assert type(twin) is rushlight.nn.Parameter and twin.requires_grad and twin.note == "kept"
        assert rushlight.equal(twin.data, p.data) and twin.data_ptr() != p.data_ptr()
    pair = copy.deepcopy([p, p])
    assert pair[0] is pair[1]


def test_out_is_written_and_given_back():
    out = rushlight.zeros(2)
    assert rushlight.add(rushlight.ones(2), 1, out=out) is out
    assert out.tolist() == [2.0, 2.0]
    values, indices = rushlight.empty(0), rushlight.empty(0, dtype=rushlight.int64)
    rushlight.sort(rushlight.tensor([2.0, 1.0]), out=(values, indices))
    assert values.tolist() == [1.0, 2.0] and indices.tolist() == [1, 0]


def test_gradients_pass_through_the_written_forms():
    x = rushlight.tensor([1.0, 2.0, 4.0], dtype=rushlight.float64, requires_grad=True)
    for f, want in [
        (lambda x: x.std(), [-0.4364, -0.1091, 0.5455]),
        (lambda x: x.norm(), [0.2182, 0.4364, 0.8729]),
        (lambda x: x.sum_to_size(1).sum(), [1.0, 1.0, 1.0]),
        (lambda x: rushlight.div(x, 2, rounding_mode="floor").sum(), [0.0, 0.0, 0.0]),
        (lambda x: x.sort(descending=True).values[0], [0.0, 0.0, 1.0]),
        (lambda x: rushlight.cartesian_prod(x, x).sum(), [6.0, 6.0, 6.0]),
        (lambda x: x.clone().addmm_(x[None], x[None].t()).sum() if False else (x * 2).where(x > 1, x).sum(), [1.0, 2.0, 2.0]),
    ]:
        x.grad = None
        f(x).backward()
        assert [round(g, 4) for g in x.grad.tolist()] == want


def test_transposed_convolution_with_output_padding_has_a_gradient():
    x = rushlight.ones(1, 1, 2, 2, dtype=rushlight.float64, requires_grad=True)
    w = rushlight.ones(1, 1, 1, 1, dtype=rushlight.float64, requires_grad=True)
    y = rushlight.nn.functional.conv_transpose2d(x, w, stride=1, output_padding=1, dilation=2)
    assert y.shape == (1, 1, 3, 3)
    y.sum().backward()
    assert x.grad.tolist() == [[[[1.0, 1.0], [1.0, 1.0]]]] and w.grad.item() == 4.0


def test_modules_that_are_asked_first():
    assert not rushlight.cuda.is_available() and rushlight.cuda.device_count() == 0
    with pytest.raises(RuntimeError):
        rushlight.cuda.current_device()
    rushlight.backends.cudnn.benchmark = True
    rushlight.backends.cudnn.benchmark = False
    assert not rushlight.backends.mps.is_available()
    assert rushlight.version.cuda is None
    assert rushlight.__version__ == rushlight.version.__version__
    assert rushlight.accelerator.current_accelerator() is None
    with pytest.raises(AttributeError):
        rushlight.no_such_name  # noqa: B018


def test_a_block_may_name_the_device():
    with rushlight.device("cpu") as device:
        assert rushlight.ones(2).device == device
    with pytest.raises(RuntimeError), rushlight.device("meta"):
        pass


def test_copy_takes_what_torch_takes():
    x = rushlight.zeros(2)
    assert x.copy_(rushlight.ones(2), non_blocking=True).tolist() == [1.0, 1.0]


def test_threads_can_be_set():
    before = rushlight.get_num_threads()
    rushlight.set_num_threads(2)
    assert rushlight.get_num_threads() == 2
    rushlight.set_num_threads(before)


def test_numbers_stand_for_first_operands():
    x = rushlight.tensor([1.0, 2.0, 3.0])
    assert rushlight.pow(2, x).tolist() == [2, 4, 8] and rushlight.div(6.0, x).tolist() == [6, 3, 2]
    assert rushlight.add(1, x).dtype is rushlight.float32 and rushlight.sub(1, x, alpha=2).tolist() == [-1, -3, -5]
    small = rushlight.tensor([1, 2], dtype=rushlight.uint8)
    assert rushlight.add(1, small).dtype is rushlight.uint8 and rushlight.mul(0.5, small).dtype is rushlight.float32
    with pytest.raises(TypeError):
        rushlight.add(1, 2)


def test_masks_of_bytes_and_sizes_by_name():
    x = rushlight.arange(3)
    assert rushlight.where(rushlight.tensor([1, 0, 2], dtype=rushlight.uint8), x, -x).tolist() == [0, -1, 2]
    assert [p.tolist() for p in x.split(split_size=[1, 2], dim=0)] == [[0], [1, 2]]


def test_a_dropout_of_nothing_writes_nothing():
    x = rushlight.ones(2, requires_grad=True)
    y = x.relu()
    before = y._version
    assert rushlight.nn.functional.dropout(y, 0.0, True, inplace=True) is y and y._version == before
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_futures():
    first, second = rushlight.futures.Future(), rushlight.futures.Future()
    whole = rushlight.futures.collect_all([first, second])
    twice = first.then(lambda f: f.value() * 2)
    first.set_result(3)
    assert not whole.done() and twice.wait() == 6
    second.set_exception(ValueError("on purpose"))
    with pytest.raises(ValueError, match="on purpose"):
        rushlight.futures.wait_all([first, second])
    with pytest.raises(RuntimeError):
        first.set_result(4)
