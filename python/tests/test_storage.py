"""Storages: the bytes under tensors, their object, their size, and tensors that change theirs."""

import gc
import weakref

import numpy as np
import pytest
import rushlight as torch


def test_one_object_for_one_storage():
    x = torch.arange(6)
    s = x.untyped_storage()
    assert x.untyped_storage() is s and x[2:].untyped_storage() is s and x.detach().untyped_storage() is s
    assert x.clone().untyped_storage() is not s and x.clone().untyped_storage() != s
    assert s == x.untyped_storage() and hash(s) == hash(x.untyped_storage())
    gone = weakref.ref(s)
    del s
    gc.collect()
    assert gone() is None and x.untyped_storage() is x.untyped_storage()


def test_an_object_made_by_the_program_stays_the_storages_object():
    s = torch.UntypedStorage(8)
    x = torch.zeros(0)
    x.set_(s)
    assert x.untyped_storage() is s and x.shape == (2,)


def test_a_callback_cannot_bring_a_dying_object_back():
    x = torch.ones(2)
    seen = []
    s = x.untyped_storage()
    r = weakref.ref(s, lambda _: seen.append(x.untyped_storage()))
    del s
    gc.collect()
    assert r() is None and seen[0].nbytes() == 8 and x.untyped_storage().nbytes() == 8


def test_reading_a_storage_that_shrank_is_an_error():
    x = torch.arange(6.0)
    y, z = x[4:], x[:2]
    x.untyped_storage().resize_(8)
    assert z.tolist() == [0, 1]
    reads = [lambda: x + 1, lambda: y.tolist(), lambda: x.sum(), lambda: x.item(), lambda: x[5].item(),
             lambda: x.fill_(1), lambda: x.clone(), lambda: x.numpy(), lambda: x == x,
             lambda: y.__dlpack__(), lambda: float(x[3])]
    for read in reads:
        with pytest.raises((RuntimeError, BufferError)):
            read()
    x.untyped_storage().resize_(0)
    for read in reads:
        with pytest.raises((RuntimeError, BufferError)):
            read()
    assert x.shape == (6,) and x.data_ptr() == 0
    x.untyped_storage().resize_(24)
    assert x.tolist() == [0] * 6


def test_sizes():
    s = torch.UntypedStorage(4)
    assert (s.nbytes(), s.size(), len(s), s.element_size(), bool(s)) == (4, 4, 4, 1, True)
    assert not torch.UntypedStorage() and torch.UntypedStorage().data_ptr() == 0
    assert s.resize_(6) is s and len(s) == 6 and s.resizable()
    for wrong in (-1, "a", 2.5, None):
        with pytest.raises(RuntimeError):
            s.resize_(wrong)
    with pytest.raises(RuntimeError):
        torch.UntypedStorage(1 << 62)


def test_items_and_parts():
    s = torch.UntypedStorage([1, 2, 3, 4, 5])
    assert s[0] == 1 and s[-1] == 5 and list(s) == s.tolist() == [1, 2, 3, 4, 5] and 3 in s
    part = s[1:4]
    part[0] = 9
    part[1:3] = 7
    assert s.tolist() == [1, 9, 7, 7, 5] and part.data_ptr() == s.data_ptr() + 1
    assert s[4:2].tolist() == [] and s[9:].tolist() == []
    with pytest.raises(RuntimeError):
        s.resize_(1 << 20)
    del s
    gc.collect()
    assert part.tolist() == [9, 7, 7]
    for key, error in ((5, IndexError), (-6, IndexError), ("a", TypeError), (slice(0, 3, 2), RuntimeError)):
        with pytest.raises(error):
            torch.UntypedStorage(5)[key]
    with pytest.raises(TypeError):
        torch.UntypedStorage(5)[0] = "a"


def test_copies_and_fills():
    x = torch.ones(2)
    s = x.untyped_storage()
    assert s.clone().tolist() == s.tolist() and s.clone() is not s
    assert s.fill_(0) is s and x.tolist() == [0, 0]
    s.copy_(torch.ones(2).untyped_storage())
    assert x.tolist() == [1, 1] and s.copy_(s) is s
    with pytest.raises(RuntimeError):
        s.copy_(torch.ones(3).untyped_storage())
    with pytest.raises(TypeError):
        s.copy_([1])
    t = torch.frombuffer(bytes(8), dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="read-only"):
        t.untyped_storage()[0] = 1
    with pytest.raises(RuntimeError, match="read-only"):
        t.untyped_storage().fill_(1)


def test_typed():
    x = torch.arange(4.0)
    s = x.storage()
    assert (len(s), s.size(), s.nbytes(), s.dtype, s[1], s.tolist()) == (4, 4, 16, torch.float32, 1, [0, 1, 2, 3])
    s[1] = 9
    s[2:] = 5
    assert x.tolist() == [0, 9, 5, 5] and list(s) == x.tolist() and 9.0 in s
    assert s.double().tolist() == x.tolist() and s.double().dtype is torch.float64 and s.float() is s
    assert s.untyped() is x.untyped_storage() and s._cdata == x.untyped_storage()._cdata
    assert torch.is_storage(s) and torch.is_storage(s.untyped()) and not torch.is_storage(x)
    assert torch.LongStorage([1, 2]).tolist() == [1, 2] and torch.FloatStorage(3).nbytes() == 12
    assert torch.TypedStorage([1, 2], dtype=torch.int16).nbytes() == 4
    s.resize_(6)
    assert x.untyped_storage().nbytes() == 24 and len(s) == 6
    for key, error in ((9, IndexError), ("a", RuntimeError), (slice(0, 1), RuntimeError)):
        with pytest.raises(error):
            s[key]
    with pytest.raises(RuntimeError):
        torch.FloatStorage([1], dtype=torch.int64)
    with pytest.raises(TypeError):
        torch.TypedStorage(wrap_storage=3, dtype=torch.int64)


def test_set():
    x, y = torch.arange(6), torch.zeros(2, dtype=torch.int64)
    v = y.view(2)
    assert y.set_(x) is y and y.tolist() == x.tolist()
    x[0] = 9
    assert y[0].item() == 9 and v.tolist() == [0, 0]
    y.set_(x.untyped_storage(), 1, (2, 2), (1, 2))
    assert y.tolist() == [[1, 3], [2, 4]] and y.storage_offset() == 1
    y.set_(source=x.storage(), storage_offset=2, size=(2,))
    assert y.tolist() == [2, 3]
    assert y.set_().shape == (0,)
    for args, error in (((x, 0), TypeError), ((5,), TypeError), ((x, -1, (1,), (1,)), RuntimeError),
                        ((x, 0, (-1,), (1,)), RuntimeError), ((x, 0, (1,), (-1,)), RuntimeError),
                        ((torch.ones(2),), RuntimeError), ((torch.ones(2).storage(),), RuntimeError),
                        ((x, 0, (1 << 62, 1 << 62), (1, 1)), RuntimeError), ((x, "a", (1,)), TypeError),
                        ((torch.from_numpy(np.ones(2, "i8")), 0, (5,), (1,)), RuntimeError)):
        with pytest.raises(error):
            y.set_(*args)
    with pytest.raises(RuntimeError, match="leaf"):
        torch.ones(2).requires_grad_().set_(torch.ones(2))


def test_resize():
    x = torch.arange(4)
    y = x[1:]
    assert x.resize_(2, 4) is x and x[0].tolist() == [0, 1, 2, 3] and y.tolist() == [1, 2, 3]
    x[0, 1] = 9
    assert y[0].item() == 9
    x.resize_((2,))
    assert x.tolist() == [0, 9] and x.untyped_storage().nbytes() == 64
    assert x.resize_as_(torch.ones(3, 1)).shape == (3, 1)
    assert torch.ones(1).resize_(1, 2, 2, 2, memory_format=torch.channels_last).stride() == (8, 1, 4, 2)
    for size, error in (((-1,), RuntimeError), ((2.5,), TypeError), ((1 << 40, 1 << 40), RuntimeError)):
        with pytest.raises(error):
            x.resize_(*size)
    with pytest.raises(RuntimeError):
        torch.ones(2).requires_grad_().resize_(3)
    with pytest.raises(RuntimeError):
        torch.from_numpy(np.ones(2)).resize_(3)


def test_old_constructors():
    t = torch.LongTensor([1, 2])
    assert isinstance(t, torch.LongTensor) and not isinstance(t, torch.FloatTensor) and not isinstance(3, torch.LongTensor)
    assert torch.FloatTensor(2, 3).shape == (2, 3) and torch.Tensor(torch.Size([2])).shape == (2,)
    shared = torch.Tensor(t)
    shared[0] = 5
    assert t.tolist() == [5, 2] and torch.Tensor(t).dtype is torch.int64
    assert torch.Tensor(torch.FloatStorage([1, 2])).tolist() == [1, 2]
    assert torch.Tensor((2, 3)).tolist() == [2, 3] and torch.Tensor().shape == (0,)
    for args, error in (((2.5,), TypeError), (("a",), TypeError), ((None,), TypeError), (([1], [2]), TypeError),
                        ((-1,), RuntimeError), ((1 << 62,), RuntimeError), (([[1], [2, 3]],), ValueError)):
        with pytest.raises(error):
            torch.Tensor(*args)
    with pytest.raises(TypeError):
        torch.LongTensor(torch.ones(2))
    with pytest.raises(TypeError):
        torch.Tensor([1], requires_grad=True)


def test_lists_beyond_memory_are_errors():
    with pytest.raises(MemoryError):
        torch.LongTensor(1 << 62, 0).tolist()
    assert torch.LongTensor(2, 0).tolist() == [[], []]


def test_values_that_data_replaced_are_let_go():
    import resource

    x = torch.zeros(1 << 18, requires_grad=True)

    def train(steps):
        for _ in range(steps):
            x.data = x.data + 1
            (x * x).sum().backward()
            x.grad = None
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = train(20)
    assert train(200) - before < 20_000  # kilobytes; kept, they would take 200,000
    assert x[0].item() == 220


def test_a_tensor_turned_in_place_is_the_base_of_its_views():
    x = torch.zeros(2, 3)
    row = x[0]
    for _ in range(3):
        x.t_()
    assert x.shape == (3, 2) and row._base is x and x._base is None
