"""Copies and pickles: strides, offsets, whole storages, and what is shared stays shared."""

import copy
import gc
import io
import pickle
import weakref

import pytest
import rushlight as torch
from rushlight import _utils

DTYPES = ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
          "float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def dumped(x, protocol=pickle.HIGHEST_PROTOCOL):
    return pickle.loads(pickle.dumps(x, protocol))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_and_protocol(name, protocol):
    t = torch.tensor([0, 1, 1]).to(getattr(torch, name))
    back = dumped(t, protocol)
    assert back.dtype is t.dtype and back.tolist() == t.tolist() and type(back) is torch.Tensor


@pytest.mark.parametrize("again", [dumped, copy.deepcopy])
@pytest.mark.parametrize("view", [
    lambda t: t, lambda t: t.t(), lambda t: t[1:, 2:], lambda t: t[::2, ::3], lambda t: t[:, :1].expand(4, 9),
    lambda t: t[:, :0], lambda t: t[1, 1], lambda t: t.as_strided((3,), (7,), 2),
])
def test_layouts_and_the_whole_storage(again, view):
    t = view(torch.arange(24.0).reshape(4, 6))
    new = again(t)
    assert new.tolist() == t.tolist() and new.stride() == t.stride()
    assert new.storage_offset() == t.storage_offset() and new._base is None
    assert new.untyped_storage().nbytes() == 96 and new.untyped_storage() is not t.untyped_storage()


@pytest.mark.parametrize("again", [dumped, copy.deepcopy])
def test_what_is_shared_stays_shared(again):
    a = torch.arange(6)
    b, c, d = again([a, a[2:], a.view(2, 3).t()])
    c[0] = 9
    assert b.tolist() == [0, 1, 9, 3, 4, 5] and d[2, 0].item() == 9 and a[2].item() == 2
    e, f = again((a, a))
    assert e is f
    g, h = again((a, a.untyped_storage()))
    assert g.untyped_storage() is h


def test_a_storage_is_written_once():
    a = torch.zeros(100_000)
    alone, thrice = len(pickle.dumps(a)), len(pickle.dumps([a, a[1:], a.view(100, 1000)]))
    assert alone < 401_000 and thrice < alone + 1000


@pytest.mark.parametrize("again", [dumped, copy.deepcopy, copy.copy])
def test_attributes_and_classes(again):
    class_ = Point
    t = class_([1.0, 2.0])
    t.name, t.list = "p", [1]
    new = again(t)
    assert type(new) is class_ and new.name == "p" and new.list == [1] and new.tolist() == [1, 2]
    assert (new.list is t.list) == (again is copy.copy)
    x = torch.ones(2)
    x.me = x
    y = again(x)
    assert y.me is (x if again is copy.copy else y)


class Point(torch.Tensor):
    pass


class Slotted(torch.Tensor):
    __slots__ = ("kind",)


def test_slots():
    t = Slotted([1.0])
    t.kind, t.other = 5, 6
    for again in (dumped, copy.deepcopy, copy.copy):
        new = again(t)
        assert (new.kind, new.other, new.tolist()) == (5, 6, [1])


@pytest.mark.parametrize("again", [dumped, copy.deepcopy, copy.copy])
def test_requires_grad(again):
    t = torch.ones(2).requires_grad_()
    assert again(t).requires_grad and again(t).is_leaf
    (t * 2).sum().backward()
    new = copy.deepcopy(t)
    assert new.grad.tolist() == [2, 2] and new.grad is not t.grad
    assert dumped(t).grad is None


def test_results_of_a_graph():
    t = torch.ones(2).requires_grad_() * 2
    with pytest.raises(RuntimeError, match="leaves"):
        copy.deepcopy(t)
    with pytest.raises(RuntimeError, match="leaves"):
        copy.deepcopy({"a": [t]})
    assert copy.deepcopy(t.detach()).tolist() == [2, 2]
    assert dumped(t).is_leaf and dumped(t).requires_grad


def test_copy_shares():
    t = torch.arange(6).view(2, 3).t()
    new = copy.copy(t)
    new[0, 0] = 9
    assert t[0, 0].item() == 9 and new.stride() == t.stride() and new is not t


def test_memo():
    t = torch.ones(2)
    memo = {}
    new = t.__deepcopy__(memo)
    assert t.__deepcopy__(memo) is new and copy.deepcopy(t, memo) is new


def test_storages():
    s = torch.UntypedStorage([1, 2, 3])
    for again in (dumped, copy.deepcopy, copy.copy):
        new = again(s)
        assert new.tolist() == [1, 2, 3] and new is not s
        typed = again(torch.LongStorage([1, 2]))
        assert typed.tolist() == [1, 2] and typed.dtype is torch.int64
    a, b = dumped((s, s))
    assert a is b


def test_meta():
    t = torch.ones(2, 3, device="meta")
    for again in (dumped, copy.deepcopy):
        assert again(t).shape == (2, 3) and again(t).device.type == "meta"


def test_small_classes():
    for x in (torch.float32, torch.Size([1, 2]), torch.device("cpu"), torch.device("cuda", 1),
              torch.contiguous_format):
        assert dumped(x) == x and copy.deepcopy(x) == x
    assert dumped(torch.float32) is torch.float32 and type(dumped(torch.Size([1]))) is torch.Size
    pair = torch.tensor([3, 1]).sort()
    assert type(dumped(pair)) is type(pair) and dumped(pair).values.tolist() == [1, 3]


def test_damaged_pickles_are_errors():
    data = pickle.dumps(torch.arange(6)[2:])
    storage = torch.UntypedStorage(8)
    for offset, size, stride in ((0, [3], [1]), (-1, [1], [1]), (0, [1 << 62, 1 << 62], [1, 1]), (0, [2], [-1]),
                                 (1 << 62, [1], [1]), (0, [-2], [1]), (0, [1], [1, 1])):
        with pytest.raises((RuntimeError, OverflowError, ValueError)):
            _utils._rebuild_tensor_v2(
                torch.TypedStorage(wrap_storage=storage, dtype=torch.int64), offset, size, stride, False, {}
            )
    for cut in range(0, len(data), 7):
        with pytest.raises(Exception):
            pickle.load(io.BytesIO(data[:cut]))


def test_weak_references_and_hashes():
    t = torch.ones(2)
    gone = weakref.ref(t)
    assert gone() is t and hash(t) == id(t) and t in {t} and {t: 1}[t] == 1
    del t
    assert gone() is None


@pytest.mark.parametrize("tie", [
    lambda t: setattr(t, "me", t), lambda t: setattr(t, "view", t[1:]), lambda t: setattr(t, "list", [t, t[1:]]),
    lambda t: setattr(t, "f", lambda: t),
])
@pytest.mark.parametrize("make", [lambda: torch.ones(3), lambda: Point([1.0, 2.0])])
def test_cycles_through_attributes_are_collected(tie, make):
    t = make()
    tie(t)
    gone = weakref.ref(t)
    del t
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("again", [dumped, copy.deepcopy])
def test_parameters(again):
    p = torch.nn.Parameter(torch.arange(3.0))
    p.tag = "w"
    for new in (again(p), again({"a": [p]})["a"][0]):
        assert type(new) is torch.nn.Parameter and new.requires_grad and new.is_leaf and new.tag == "w"
        assert new.tolist() == [0, 1, 2] and new.data_ptr() != p.data_ptr()
    a, b = again((p, p))
    assert a is b
    frozen = torch.nn.Parameter(torch.arange(3), requires_grad=False)
    assert not again(frozen).requires_grad and again(frozen).dtype is torch.int64
