"""NumPy and buffers: whose memory it is, who may write it, and how long it lives."""

import array
import gc
import mmap
import tempfile
import weakref

import numpy as np
import pytest
import rushlight as torch

DTYPES = ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
          "float16", "float32", "float64", "complex64", "complex128")


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_both_ways(name):
    a = np.array([0, 1, 1, 0]).astype(name)
    t = torch.from_numpy(a)
    assert t.dtype is getattr(torch, name) and t.data_ptr() == a.ctypes.data
    back = t.numpy()
    assert back.dtype == a.dtype and np.shares_memory(a, back) and (back == a).all()


LAYOUTS = {
    "contiguous": lambda a: a,
    "transposed": lambda a: a.T,
    "offset": lambda a: a[1:, 2:],
    "stepped": lambda a: a[::2, ::3],
    "expanded": lambda a: np.broadcast_to(a[:, :1], (4, 5)),
    "empty": lambda a: a[:, :0],
    "scalar": lambda a: a[1:2, 1:2].reshape(()),
    "one": lambda a: a[2:3],
    "window": lambda a: np.lib.stride_tricks.sliding_window_view(a[0], 3),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.filterwarnings("ignore:the memory is read-only")
def test_every_layout_both_ways(layout):
    a = LAYOUTS[layout](np.arange(24.0).reshape(4, 6))
    t = torch.from_numpy(a)
    assert t.shape == a.shape and t.tolist() == a.tolist()
    assert list(t.stride()) == [s // 8 for s in a.strides]
    b = t.numpy()
    assert b.strides == (a.strides if a.size else (0,) * a.ndim) and b.tolist() == a.tolist()
    assert not a.size or b.ctypes.data == a.ctypes.data


def test_misaligned_memory_is_taken():
    raw = np.zeros(33, "u1")
    a = raw[1:].view("f8")
    a[:] = [1, 2, 3, 4]
    t = torch.from_numpy(a)
    assert t.data_ptr() % 8 == 1 and (t * 2).tolist() == [2, 4, 6, 8]
    t += 1
    assert a.tolist() == [2, 3, 4, 5]


def test_the_tensor_keeps_the_array():
    a = np.arange(1000.0)
    t = torch.from_numpy(a)
    gone = weakref.ref(a)
    del a
    gc.collect()
    np.full(1000, 7.0)
    assert gone() is not None and t.sum().item() == 499500
    del t
    gc.collect()
    assert gone() is None


def test_the_array_keeps_the_memory():
    t = torch.arange(1000.0)
    gone = weakref.ref(t)
    a = t.numpy()
    del t
    gc.collect()
    torch.ones(1000)
    assert gone() is None and a.sum() == 499500
    view = a[10:20]
    del a
    gc.collect()
    assert view[0] == 10


def test_the_base_of_an_array_is_a_tensor():
    t = torch.arange(3.0)
    base = t.numpy().base
    assert isinstance(base, torch.Tensor) and repr(base) == repr(t)
    base[0] = 5
    assert t.tolist() == [5, 1, 2]


def test_writes_show_on_the_other_side_after_any_number_of_trips():
    a = np.zeros(3)
    t = torch.from_numpy(torch.from_numpy(a).numpy())
    t[1] = 5
    a[2] = 6
    assert a.tolist() == t.tolist() == [0, 5, 6]


def test_a_read_only_array_of_numpy_is_shared_and_written():
    a = np.zeros(3)
    a.flags.writeable = False
    t = torch.from_numpy(a)
    t[0] = 1
    assert a[0] == 1


def test_memory_that_cannot_be_written_stays_as_it_is():
    data = bytes(8)
    for a in (np.frombuffer(data, "u1"), np.frombuffer(data, "u1")[2:]):
        t = torch.from_numpy(a)
        with pytest.raises(RuntimeError, match="read-only"):
            t[0] = 1
        with pytest.raises(RuntimeError, match="read-only"):
            t.add_(1)
        assert (t + 1).tolist() == [1] * len(a) and t.numpy().flags.writeable is False
    with pytest.raises(RuntimeError, match="read-only"):
        torch.frombuffer(data, dtype=torch.uint8).fill_(1)
    assert data == bytes(8)


def test_a_mapped_file_is_shared_and_not_written():
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(range(16)))
        file.flush()
        a = np.memmap(file.name, "u1", "r")
        t = torch.from_numpy(a)
        assert t.sum().item() == 120
        with pytest.raises(RuntimeError, match="read-only"):
            t.fill_(0)
        with mmap.mmap(file.fileno(), 16, access=mmap.ACCESS_READ) as m:
            t = torch.frombuffer(m, dtype=torch.int32)
            with pytest.raises(RuntimeError, match="read-only"):
                t.fill_(0)
            with pytest.raises(BufferError):
                m.close()
            del t
            gc.collect()
        del a


def test_a_buffer_cannot_shrink_under_a_tensor():
    b = bytearray(16)
    t = torch.frombuffer(b, dtype=torch.uint8)
    with pytest.raises(BufferError):
        b.extend(bytes(1 << 20))
    b[3] = 9
    assert t[3].item() == 9
    del t
    gc.collect()
    b.extend(b"1")
    x = array.array("f", [1, 2])
    t = torch.frombuffer(x, dtype=torch.float32)
    with pytest.raises(BufferError):
        x.append(3)
    assert t.tolist() == [1, 2]


@pytest.mark.parametrize("dtype", ["O", [("a", "i4"), ("b", "O")], [("a", [("b", "O")])]])
def test_a_buffer_of_objects_is_refused(dtype):
    a = np.zeros(4, dtype)
    for take in (lambda: torch.frombuffer(a, dtype=torch.int64), lambda: torch.asarray(memoryview(a))):
        with pytest.raises(ValueError, match="objects"):
            take()
    plain = np.zeros(4, [("O", "i4"), ("fOO", "i4")])
    assert torch.frombuffer(plain, dtype=torch.int32).shape == (8,)


@pytest.mark.parametrize("lie", [
    lambda a: np.lib.stride_tricks.as_strided(a, (1 << 40,), (8,)),
    lambda a: np.lib.stride_tricks.as_strided(a, (4,), (24,)),
    lambda a: np.lib.stride_tricks.as_strided(a[2:], (5,), (8,)),
    lambda a: np.lib.stride_tricks.as_strided(a, (1 << 20, 1 << 20), (1 << 40, 8)),
])
def test_an_array_that_reaches_outside_its_memory_is_refused(lie):
    a = lie(np.zeros(6))
    for take in (torch.from_numpy, torch.as_tensor, torch.asarray, torch.tensor, torch.from_dlpack):
        with pytest.raises(ValueError, match="outside"):
            take(a)


def test_a_buffer_of_an_array_that_reaches_outside_its_memory_is_refused():
    a = np.lib.stride_tricks.as_strided(np.zeros(6), (50,), (8,))
    for x in (a, memoryview(a), memoryview(a)[:3]):
        with pytest.raises(ValueError, match="outside"):
            torch.frombuffer(x, dtype=torch.float64)


def test_an_array_that_stays_inside_its_memory_is_taken():
    a = np.lib.stride_tricks.as_strided(np.arange(6.0), (4, 3), (8, 8))
    assert torch.from_numpy(a)[3].tolist() == [3, 4, 5]


def test_what_a_derived_class_says_of_itself_is_not_believed():
    class Liar(np.ndarray):
        __array_interface__ = {"version": 3, "data": (8, False), "shape": (99,), "typestr": "<f8"}
        strides = (1 << 40,)
        shape = (1 << 40,)
        base = None

    a = np.arange(3.0).view(Liar)
    assert torch.from_numpy(a).tolist() == [0, 1, 2]

    class ndarray:
        __module__ = "numpy"
        __array_interface__ = Liar.__array_interface__

    with pytest.raises(TypeError):
        torch.from_numpy(ndarray())


@pytest.mark.parametrize("make", [
    lambda: torch.from_numpy(np.ones(3, ">f4")), lambda: torch.tensor(np.ones(3, ">i8")),
    lambda: torch.as_tensor(np.ones(3)[::-1]), lambda: torch.asarray(np.ones((2, 2))[:, ::-1]),
])
def test_refused_by_value(make):
    with pytest.raises(ValueError):
        make()


def test_grad_and_numpy():
    t = torch.ones(2).requires_grad_()
    for convert in (t.numpy, lambda: np.asarray(t), lambda: np.sin(t), lambda: t + np.ones(2)):
        with pytest.raises(RuntimeError, match="detach"):
            convert()
    with torch.no_grad():
        assert t.numpy().tolist() == [1, 1]
    a = t.numpy(force=True)
    a[0] = 5
    assert t.tolist() == [5, 1]


def test_array_protocol():
    t = torch.arange(3.0)
    assert np.shares_memory(np.asarray(t), t.numpy())
    assert np.shares_memory(np.array(t, copy=False), t.numpy())
    assert not np.shares_memory(np.array(t), t.numpy())
    assert np.asarray(t, "i8").tolist() == [0, 1, 2]
    with pytest.raises(ValueError):
        np.array(t, "i8", copy=False)
    assert t.__array__(copy=True).tolist() == [0, 1, 2]
    assert t.__array__("f8", copy=True).dtype == np.float64
    for name in ("__array_interface__", "__array_ufunc__", "__array_function__"):
        assert not hasattr(t, name)


def test_equality_with_an_array_is_element_by_element():
    t = torch.arange(3)
    assert (t == np.array([0, 5, 2])).tolist() == [True, False, True]
    assert (t != np.array([0, 5, 2])).tolist() == [False, True, False]
    assert (np.array([0, 5, 2]) == t).tolist() == [True, False, True]
    assert (t == np.array(["a"])) is False


def test_resize_after_numpy_cannot_move_the_memory():
    t = torch.ones(4)
    a = t.numpy()
    with pytest.raises(RuntimeError):
        t.resize_(1 << 20)
    with pytest.raises(RuntimeError):
        t.untyped_storage().resize_(0)
    assert a.sum() == 4


def test_a_million_elements_and_back_are_never_copied():
    a = np.arange(1_000_000)
    assert torch.from_numpy(a).numpy().ctypes.data == a.ctypes.data


def rss():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * 4096


def settled(trip, rounds):
    """Bytes that ``rounds`` calls leave behind, after as many that warmed up."""
    for _ in range(rounds // 4):
        trip()
    gc.collect()
    before = rss()
    for _ in range(rounds):
        trip()
    gc.collect()
    return rss() - before


@pytest.mark.parametrize("name", ["numpy", "from_numpy", "dlpack", "buffer", "storage", "views", "attributes"])
def test_round_trips_leave_nothing_behind(name):
    a, t, b = np.zeros(16), torch.zeros(16), bytearray(64)

    def cycle():
        x = t[1:]
        x.me = x

    trip = {
        "numpy": lambda: t.numpy(),
        "from_numpy": lambda: torch.from_numpy(a).numpy(),
        "dlpack": lambda: torch.from_dlpack(np.from_dlpack(torch.from_dlpack(a))),
        "buffer": lambda: torch.frombuffer(b, dtype=torch.uint8),
        "storage": lambda: torch.zeros(16).untyped_storage()[3:],
        "views": lambda: t[2:][1:]._base,
        "attributes": cycle,
    }[name]
    assert settled(trip, 20_000) < 1 << 20
