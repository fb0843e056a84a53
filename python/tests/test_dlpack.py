"""DLPack: both forms of capsules, both ways, used once, freed once."""

import ctypes
import gc
import weakref

import numpy as np
import pytest
import rushlight as torch

NAMES = ("bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64",
         "float16", "bfloat16", "float32", "float64", "complex64", "complex128")


class Producer:
    """An object that exports what ``make`` gives, and remembers what it was asked for."""

    def __init__(self, make, old=False):
        self.make, self.old, self.asked = make, old, []

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **options):
        self.asked.append(options)
        if self.old and options:
            raise TypeError("no such arguments")
        return self.make(**options)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("version", [None, (1, 0), (2, 5)])
def test_every_dtype_through_both_forms(name, version):
    t = torch.tensor([0, 1, 1]).to(getattr(torch, name))
    back = torch.from_dlpack(t.__dlpack__(max_version=version))
    assert back.dtype is t.dtype and back.tolist() == t.tolist() and back.data_ptr() == t.data_ptr()
    assert back is not t and back._base is None and back.storage_offset() == 0


@pytest.mark.parametrize("view", [
    lambda t: t, lambda t: t.t(), lambda t: t[1:, 2:], lambda t: t[::2, ::3], lambda t: t[:, :1].expand(4, 9),
    lambda t: t[:, :0], lambda t: t[1, 1], lambda t: t[1:2], lambda t: t.as_strided((1, 6), (77, 1)),
])
def test_every_layout(view):
    t = view(torch.arange(24.0).reshape(4, 6))
    back = torch.from_dlpack(t)
    assert back.tolist() == t.tolist() and back.stride() == t.stride() and back.data_ptr() == t.data_ptr()
    if t.numel():
        a = np.from_dlpack(t)
        assert a.tolist() == t.tolist() and np.shares_memory(a, t.numpy())


def test_a_capsule_is_good_once():
    for version in (None, (1, 0)):
        capsule = torch.ones(2).__dlpack__(max_version=version)
        torch.from_dlpack(capsule)
        assert "used_dltensor" in repr(capsule)
        with pytest.raises(RuntimeError, match="once"):
            torch.from_dlpack(capsule)
        with pytest.raises((RuntimeError, ValueError, BufferError)):
            np.from_dlpack(Producer(lambda **_: capsule))


def test_capsules_of_others_are_refused():
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    with pytest.raises(RuntimeError):
        torch.from_dlpack(new(1, b"something", None))
    for x in (5, None, "a", [1.0], object()):
        with pytest.raises(RuntimeError):
            torch.from_dlpack(x)
    with pytest.raises(TypeError):
        torch.from_dlpack(Producer(lambda **_: 5))


def test_memory_lives_as_long_as_somebody_uses_it():
    t = torch.arange(1000.0)
    capsule = t.__dlpack__()
    gone = weakref.ref(t)
    del t
    gc.collect()
    assert gone() is None
    torch.ones(1000)
    back = torch.from_dlpack(capsule)
    del capsule
    assert back.sum().item() == 499500
    a = np.arange(1000.0)
    t, gone = torch.from_dlpack(a), weakref.ref(a)
    del a
    gc.collect()
    assert gone() is not None and t.sum().item() == 499500
    del t
    gc.collect()
    assert gone() is None


def test_an_unused_capsule_lets_the_memory_go():
    a = np.zeros(8)
    gone = weakref.ref(a)
    capsule = torch.from_numpy(a).__dlpack__(max_version=(1, 0))
    del a
    gc.collect()
    assert gone() is not None
    del capsule
    gc.collect()
    assert gone() is None


def test_exported_memory_cannot_move():
    t = torch.ones(4)
    a = np.from_dlpack(t)
    with pytest.raises(RuntimeError):
        t.resize_(1 << 20)
    with pytest.raises(RuntimeError):
        t.untyped_storage().resize_(0)
    assert a.sum() == 4


def test_shrunk_memory_is_not_exported():
    t = torch.ones(4)
    t.untyped_storage().resize_(4)
    with pytest.raises(BufferError):
        t.__dlpack__()
    with pytest.raises(RuntimeError):
        t.numpy()


def test_what_cannot_be_exported():
    with pytest.raises(BufferError, match="grad"):
        torch.ones(2).requires_grad_().__dlpack__()
    with pytest.raises(BufferError, match="meta"):
        torch.ones(2, device="meta").__dlpack__()
    with pytest.raises(ValueError, match="meta"):
        torch.ones(2, device="meta").__dlpack_device__()
    with pytest.raises(AssertionError):
        torch.ones(2).__dlpack__(stream=0)
    with pytest.raises(BufferError):
        torch.ones(2).__dlpack__(dl_device=(2, 0))
    assert torch.ones(2).__dlpack_device__() == (1, 0)


def test_copies():
    t = torch.ones(2)
    assert torch.from_dlpack(t, copy=True).data_ptr() != t.data_ptr()
    assert torch.from_dlpack(t, copy=False).data_ptr() == t.data_ptr()
    assert torch.from_dlpack(t.__dlpack__(copy=True)).data_ptr() != t.data_ptr()
    a = np.ones(2)
    assert torch.from_dlpack(a, copy=True).data_ptr() != a.ctypes.data
    assert torch.from_dlpack(a, copy=False).data_ptr() == a.ctypes.data


def test_a_producer_of_old_is_asked_in_the_old_way():
    t = torch.ones(2)
    old = Producer(lambda **_: t.__dlpack__(), old=True)
    assert torch.from_dlpack(old).data_ptr() == t.data_ptr()
    assert old.asked == [{"max_version": (1, 0)}, {}]
    assert torch.from_dlpack(old, copy=True).data_ptr() != t.data_ptr()
    with pytest.raises(ValueError):
        torch.from_dlpack(old, copy=False)
    with pytest.raises(KeyError):
        torch.from_dlpack(Producer(lambda **_: {}["no"]))


def test_read_only_memory_is_shared_and_not_written():
    a = np.arange(3.0)
    a.flags.writeable = False
    t = torch.from_dlpack(a)
    assert t.data_ptr() == a.ctypes.data and t.tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="read-only"):
        t += 1
    b = np.from_dlpack(t)
    assert not b.flags.writeable


class Dl(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    _fields_ = [("dl", Dl), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


def handmade(shape, strides=None, **fields):
    """A capsule that says anything, over 64 bytes of memory."""
    memory = (ctypes.c_double * 8)(*range(8))
    numbers = [(ctypes.c_int64 * max(len(x), 1))(*x) if x is not None else None for x in (shape, strides)]
    dl = Dl(ctypes.addressof(memory), 1, 0, len(shape), 2, 64, 1, numbers[0], numbers[1], 0)
    for name, value in fields.items():
        setattr(dl, name, value)
    freed = []
    deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(freed.append)
    managed = Managed(dl, None, ctypes.cast(deleter, ctypes.c_void_p))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
    capsule = new(ctypes.addressof(managed), b"dltensor", None)
    return capsule, freed, (memory, numbers, deleter, managed)


def test_handmade_capsules():
    capsule, freed, keep = handmade([2, 3])
    t = torch.from_dlpack(capsule)
    assert t.tolist() == [[0, 1, 2], [3, 4, 5]] and t.stride() == (3, 1)
    del capsule
    assert freed == []
    del t
    gc.collect()
    assert len(freed) == 1
    capsule, freed, keep = handmade([2, 2], [1, 2], byte_offset=16)
    assert torch.from_dlpack(capsule).tolist() == [[2, 4], [3, 5]]
    gc.collect()
    assert len(freed) == 1


@pytest.mark.parametrize("shape, strides, seen", [
    ([1, 1], [3, -1], (3, 1)), ([1] * 4, [-2, -2, 6, 1], (6, 6, 6, 1)), ([1, 2], [-5, 3], (6, 3)),
    ([1, 2, 0, 1], [18, -2, 2, 2], (18, 2, 2, 2)), ([0, 3], [-3, -1], (3, 1)),
])
def test_negative_strides_where_nothing_walks(shape, strides, seen):
    capsule, freed, keep = handmade(shape, strides)
    assert torch.from_dlpack(capsule).stride() == seen


@pytest.mark.parametrize("error, shape, strides, fields", [
    (RuntimeError, [3], [-1], {}),
    (RuntimeError, [1, 2], [-1, -1], {}),
    (RuntimeError, [-1], None, {}),
    (RuntimeError, [1 << 62, 1 << 62], None, {}),
    (RuntimeError, [3], [1 << 62], {}),
    (RuntimeError, [3], None, {"data": None}),
    (RuntimeError, [3], None, {"byte_offset": (1 << 64) - 1}),
    (RuntimeError, [3], None, {"ndim": -1}),
    (RuntimeError, [3], None, {"ndim": 1000}),
    (BufferError, [3], None, {"device_type": 2}),
    (BufferError, [3], None, {"code": 9}),
    (BufferError, [3], None, {"bits": 24}),
    (BufferError, [3], None, {"lanes": 4}),
])
def test_capsules_that_lie_are_refused_and_freed(error, shape, strides, fields):
    capsule, freed, keep = handmade(shape, strides, **fields)
    with pytest.raises(error):
        torch.from_dlpack(capsule)
    gc.collect()
    assert len(freed) == 1


def test_numpy_scalars_and_booleans():
    assert torch.from_dlpack(np.array(True)).dtype is torch.bool
    assert np.from_dlpack(torch.tensor([True, False])).tolist() == [True, False]
    with pytest.raises(BufferError):
        torch.from_dlpack(np.array(["a"]))
