"""Misuse raises torch's exception classes, whichever way the op is called; nothing is changed before."""

import pytest
import rushlight as torch

x23, x32 = torch.zeros(2, 3), torch.zeros(3, 2)
ints = torch.tensor([1, 2])
bools = torch.tensor([True, False])

#: What is done, and what it raises: the rows are those of misuse that programs catch.
CASES = [
    (IndexError, lambda: x23[5]),
    (IndexError, lambda: x23[[0, 7]]),
    (IndexError, lambda: x23[0, 0, 0]),
    (IndexError, lambda: x23[1.0]),
    (IndexError, lambda: x23[torch.tensor(1.0)]),
    (TypeError, lambda: x23["a"]),
    (IndexError, lambda: x23[torch.tensor([True])]),
    (IndexError, lambda: x23[[0, 1], [0, 1, 2]]),
    (ValueError, lambda: x23[::0]),
    (ValueError, lambda: x23[::0]),
    (IndexError, lambda: x23.sum(2)),
    (IndexError, lambda: x23.transpose(0, 2)),
    (IndexError, lambda: x23.softmax(-3)),
    (IndexError, lambda: x23.size(2)),
    (IndexError, lambda: x23.stride(-3)),
    (RuntimeError, lambda: x23.permute(0, 0)),
    (RuntimeError, lambda: x23.sum((0, 0))),
    (RuntimeError, lambda: x23.flip(1, 1)),
    (RuntimeError, lambda: x23.squeeze((0, 0))),
    (RuntimeError, lambda: x23.view(4)),
    (RuntimeError, lambda: x23.reshape(-1, -1)),
    (RuntimeError, lambda: x23.t().view(-1)),
    (RuntimeError, lambda: x23.expand(3, 3)),
    (RuntimeError, lambda: x23 + torch.zeros(4)),
    (RuntimeError, lambda: torch.zeros(3).add_(x23)),
    (RuntimeError, lambda: torch.tensor([1]).add_(1.5)),
    (RuntimeError, lambda: torch.add(x23, 1, out=torch.zeros(2, 3, dtype=torch.int64))),
    (NotImplementedError, lambda: ints.mean()),
    (NotImplementedError, lambda: ints.std()),
    (NotImplementedError, lambda: ints.norm()),
    (NotImplementedError, lambda: bools - bools),
    (NotImplementedError, lambda: -bools),
    (NotImplementedError, lambda: x23 & x23),
    (TypeError, lambda: ~x23),
    (RuntimeError, lambda: x23 @ x23),
    (RuntimeError, lambda: x23 @ x32.double()),
    (ValueError, lambda: torch.cat([])),
    (RuntimeError, lambda: torch.stack([])),
    (RuntimeError, lambda: torch.cat([x23, x32])),
    (RuntimeError, lambda: torch.cat([torch.tensor(1.0), torch.tensor(1.0)])),
    (TypeError, lambda: torch.cat(x23)),
    (TypeError, lambda: torch.cat([x23, 1])),
    (TypeError, lambda: torch.stack([x23, "a"])),
    (TypeError, lambda: torch.add("a", x23)),
    (TypeError, lambda: x23.view("a")),
    (TypeError, lambda: x23.add()),
    (TypeError, lambda: x23.add(1, 2, 3)),
    (TypeError, lambda: x23.add(1, bogus=2)),
    (TypeError, lambda: x23.sum(dim=0, keep=True)),
    (AttributeError, lambda: x23.bogus),
    (AttributeError, lambda: torch.bogus),
    (TypeError, lambda: x23 + "a"),
    (TypeError, lambda: x23 + None),
    (TypeError, lambda: x23 + [1.0]),
    (TypeError, lambda: x23 @ 2),
    (TypeError, lambda: x23 < None),
    (RuntimeError, lambda: bool(x23)),
    (RuntimeError, lambda: bool(torch.zeros(0))),
    (RuntimeError, lambda: x23.item()),
    (ValueError, lambda: int(x23)),
    (ValueError, lambda: float(x23)),
    (RuntimeError, lambda: float(torch.tensor(1j))),
    (ValueError, lambda: int(torch.tensor(float("nan")))),
    (OverflowError, lambda: int(torch.tensor(float("inf")))),
    (TypeError, lambda: len(torch.tensor(1.0))),
    (TypeError, lambda: iter(torch.tensor(1.0))),
    (TypeError, lambda: [1, 2][torch.tensor(1.0)]),
    (RuntimeError, lambda: torch.zeros(-1)),
    (TypeError, lambda: torch.zeros(2.0)),
    (RuntimeError, lambda: torch.zeros(2**40, 2**40)),
    (RuntimeError, lambda: torch.zeros(2**46)),
    (TypeError, lambda: torch.zeros(2, dtype="float32")),
    (RuntimeError, lambda: torch.zeros(2, device="nonsense")),
    (RuntimeError, lambda: torch.zeros(2, device="cuda")),
    (RuntimeError, lambda: x23.to("cuda")),
    (ValueError, lambda: torch.tensor([[1], [1, 2]])),
    (ValueError, lambda: torch.tensor(["a"])),
    (RuntimeError, lambda: torch.tensor(None)),
    (RuntimeError, lambda: torch.tensor({1})),
    (TypeError, lambda: torch.tensor("a")),
    (ValueError, lambda: torch.tensor(2**63)),
    (RuntimeError, lambda: torch.tensor(300, dtype=torch.uint8)),
    (RuntimeError, lambda: ints // 0),
    (RuntimeError, lambda: ints % 0),
    (RuntimeError, lambda: ints**-1),
    (RuntimeError, lambda: torch.arange(3, 0)),
    (RuntimeError, lambda: torch.arange(0, 3, 0)),
    (RuntimeError, lambda: torch.arange(0, float("inf"))),
    (RuntimeError, lambda: torch.zeros(0).max()),
    (IndexError, lambda: torch.zeros(0).argmin()),
    (IndexError, lambda: torch.zeros(0, 2).max(0)),
    (RuntimeError, lambda: torch.zeros(3).gather(0, torch.tensor([5]))),
    (RuntimeError, lambda: torch.zeros(3).scatter(0, torch.tensor([5]), 1.0)),
    (IndexError, lambda: torch.zeros(3).index_select(0, torch.tensor([5]))),
    (IndexError, lambda: torch.zeros(3).take(torch.tensor([5]))),
    (IndexError, lambda: torch.nn.functional.embedding(torch.tensor([9]), x23)),
    (RuntimeError, lambda: torch.ones(2, dtype=torch.int64, requires_grad=True)),
    (RuntimeError, lambda: torch.nn.Parameter(ints)),
    (RuntimeError, lambda: (torch.ones(2, requires_grad=True) * 2).backward()),
    (RuntimeError, lambda: torch.ones(1).backward()),
    (RuntimeError, lambda: torch.ones(2, requires_grad=True).add_(1)),
    (RuntimeError, lambda: torch.ones(2, requires_grad=True)[0].mul_(2)),
    (RuntimeError, lambda: torch.ones(2, requires_grad=True).numpy()),
    (TypeError, lambda: torch.ones(2, dtype=torch.bfloat16).numpy()),
    (TypeError, lambda: torch.from_numpy([1.0])),
    (TypeError, lambda: x23.clone().__setitem__(0, [1, 2])),
    (TypeError, lambda: x23.clone().__setitem__(0, None)),
    (TypeError, lambda: x23.__delitem__(0)),
    (AttributeError, lambda: setattr(torch.zeros(2), "shape", (1,))),
    (ValueError, lambda: x23.type("nonsense")),
    (TypeError, lambda: torch.scatter(x23, 0, torch.tensor([[0]]))),
    (RuntimeError, lambda: torch.div(x23, 2, rounding_mode="up")),
    (RuntimeError, lambda: x23.sum_to_size(2, 2)),
    (RuntimeError, lambda: torch.broadcast_shapes((2,), (3,))),
    (RuntimeError, lambda: torch.zeros(3).mT),
    (ValueError, lambda: torch.nn.functional.dropout(x23, 1.5)),
    (ValueError, lambda: torch.nn.functional.mse_loss(x23, x23, reduction="total")),
    (RuntimeError, lambda: torch.norm(x23, p="nucleus")),
    (torch.linalg.LinAlgError, lambda: torch.linalg.inv(torch.zeros(2, 2))),
    (TypeError, lambda: torch.set_default_dtype(torch.int64)),
    (TypeError, lambda: torch.finfo(torch.int64)),
    (TypeError, lambda: torch.iinfo(torch.float32)),
    (RuntimeError, lambda: torch.set_num_threads(0)),
    (RuntimeError, lambda: x23.cuda()),
    (RuntimeError, lambda: x23.contiguous(memory_format=torch.channels_last)),
]


@pytest.mark.parametrize("number", range(len(CASES)))
def test_class(number):
    kind, call = CASES[number]
    with pytest.raises(kind) as caught:
        call()
    # The class itself: a RuntimeError is not to be answered by one of its children.
    expected = {kind}
    if kind is AttributeError:
        return
    assert caught.type in expected, f"{caught.type.__name__}: {caught.value}"
    assert str(caught.value), "an error without a message"


def test_a_refused_write_leaves_the_tensor_as_it_was():
    for write in (
        lambda x: x.add_(torch.zeros(3)),
        lambda x: x.copy_(torch.zeros(3)),
        lambda x: x.addmm_(torch.zeros(2, 3), torch.zeros(3, 3)),
        lambda x: x.bernoulli_(torch.zeros(3)),
        lambda x: x.div_(torch.zeros(3), rounding_mode="floor"),
        lambda x: x.__setitem__(0, torch.zeros(3)),
    ):
        x = torch.ones(2, 2)
        with pytest.raises(RuntimeError):
            write(x)
        assert x.tolist() == [[1.0, 1.0], [1.0, 1.0]] and x._version == 0


def test_singular_matrices_have_their_own_class():
    assert issubclass(torch._C._LinAlgError, RuntimeError)
