"""Data sets, samplers and loaders: what comes in which order, and what happens when a worker fails."""

import collections
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import rushlight as torch
from rushlight.utils import data


class Squares(data.Dataset):
    def __init__(self, n=10, act=None):
        self.n, self.act = n, act

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        if self.act and i == 5:
            self.act()
        return torch.tensor([float(i), float(i * i)]), i


class Stream(data.IterableDataset):
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = data.get_worker_info()
        mine = range(self.n) if info is None else range(info.id, self.n, info.num_workers)
        yield from mine


def _fail():
    raise KeyError("no such sample\nat all")


def _die():
    os._exit(3)


def _killed():
    os.kill(os.getpid(), signal.SIGKILL)


def _sleep():
    time.sleep(60)


WORKERS = [
    {},
    {"num_workers": 2},
    {"num_workers": 3, "prefetch_factor": 1},
    {"num_workers": 2, "persistent_workers": True},
    {"num_workers": 2, "multiprocessing_context": "thread"},
    {"num_workers": 1, "multiprocessing_context": "spawn"},
]


@pytest.mark.parametrize("workers", WORKERS, ids=str)
def test_batches_come_in_order_each_pass(workers):
    loader = data.DataLoader(Squares(), batch_size=4, **workers)
    for _ in range(2):
        batches = list(loader)
        assert [b[1].tolist() for b in batches] == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
        assert batches[0][0].tolist() == [[0, 0], [1, 1], [2, 4], [3, 9]] and batches[0][1].dtype is torch.int64
    assert len(loader) == 3
    assert [b[1].tolist() for b in data.DataLoader(Squares(), 4, drop_last=True, **workers)] == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize("workers", WORKERS[:5], ids=str)
def test_streams_are_shared_among_workers(workers):
    loader = data.DataLoader(Stream(7), batch_size=2, **workers)
    for _ in range(2):
        assert sorted(x for batch in loader for x in batch.tolist()) == list(range(7))


def test_a_pass_can_be_left_and_another_begun():
    loader = data.DataLoader(Squares(40), batch_size=2, num_workers=2, persistent_workers=True)
    for _ in range(3):
        first = next(iter(loader))
        assert first[1].tolist() == [0, 1]
    assert sum(len(b[1]) for b in loader) == 40


@pytest.mark.parametrize("workers", [{}, {"num_workers": 2}, {"num_workers": 1, "multiprocessing_context": "thread"}], ids=str)
def test_what_a_data_set_raises_is_raised_here(workers):
    loader = iter(data.DataLoader(Squares(act=_fail), batch_size=2, **workers))
    assert next(loader)[1].tolist() == [0, 1] and next(loader)[1].tolist() == [2, 3]
    with pytest.raises(KeyError, match="no such sample") as caught:
        next(loader)
    if workers:
        assert "worker" in str(caught.value) and "_fail" in str(caught.value)
    assert next(loader)[1].tolist() == [6, 7]


@pytest.mark.parametrize("act, how", [(_die, "exit code 3"), (_killed, "SIGKILL")])
def test_a_worker_that_dies_is_an_error_at_once(act, how):
    begin = time.monotonic()
    with pytest.raises(RuntimeError, match=f"exited unexpectedly.*{how}"):
        list(data.DataLoader(Squares(act=act), batch_size=2, num_workers=2))
    assert time.monotonic() - begin < 8


def test_a_worker_that_takes_too_long_is_an_error():
    loader = data.DataLoader(Squares(act=_sleep), batch_size=2, num_workers=2, timeout=0.5)
    with pytest.raises(RuntimeError, match="timed out after 0.5"):
        list(loader)


def test_no_process_is_left():
    loader = data.DataLoader(Squares(50), batch_size=2, num_workers=2)
    batches = iter(loader)
    next(batches)
    pids = batches._crew.pids()
    assert len(pids) == 2
    other = iter(data.DataLoader(Squares(50), batch_size=2, num_workers=2))
    begin = time.monotonic()
    del batches
    assert time.monotonic() - begin < 4
    assert not any(os.path.exists(f"/proc/{pid}") for pid in pids)
    del other


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signals")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "killed"])
def test_workers_end_with_their_parent(sent):
    program = textwrap.dedent(
        """
        import time, rushlight as torch
        from rushlight.utils import data
        class Slow(data.Dataset):
            def __len__(self): return 1000
            def __getitem__(self, i):
                time.sleep(0.02)
                return torch.zeros(3)
        it = iter(data.DataLoader(Slow(), 2, num_workers=2))
        next(it)
        print(*it._crew.pids(), flush=True)
        while True: next(it)
        """
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    pids = [int(p) for p in parent.stdout.readline().split()]
    assert len(pids) == 2
    os.killpg(parent.pid, sent) if sent == signal.SIGINT else os.kill(parent.pid, sent)
    parent.wait(10)
    end = time.monotonic() + 6

    def running(pid):
        try:
            with open(f"/proc/{pid}/stat") as f:
                return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False

    while any(map(running, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(map(running, pids))


def test_workers_draw_other_numbers_each_and_the_same_for_the_same_seed():
    class Chance(data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            return torch.rand(())

    def drawn():
        return [x.item() for x in data.DataLoader(Chance(), batch_size=None, num_workers=2, generator=torch.Generator().manual_seed(3))]

    first = drawn()
    assert len(set(first)) == 4 and first == drawn()


def test_samplers():
    torch.manual_seed(0)
    order = list(data.RandomSampler(range(20)))
    assert sorted(order) == list(range(20)) and order != list(range(20))
    assert len(list(data.RandomSampler(range(5), num_samples=12))) == 12
    drawn = list(data.RandomSampler(range(5), replacement=True, num_samples=2000))
    assert len(drawn) == 2000 and set(drawn) == set(range(5))
    assert sorted(data.SubsetRandomSampler([3, 5, 9])) == [3, 5, 9]
    counts = collections.Counter(data.WeightedRandomSampler([0.0, 1.0, 3.0], 4000))
    assert set(counts) == {1, 2} and 2.5 < counts[2] / counts[1] < 3.6
    assert list(data.BatchSampler(range(7), 3, False)) == [[0, 1, 2], [3, 4, 5], [6]]
    parts = [list(data.DistributedSampler(range(10), 3, r, seed=1)) for r in range(3)]
    assert set(sum(parts, [])) == set(range(10)) and {len(p) for p in parts} == {4}
    assert list(data.DistributedSampler(range(10), 3, 1, shuffle=False, drop_last=True)) == [1, 4, 7]


def test_data_sets_of_data_sets():
    a, b = data.TensorDataset(torch.arange(4)), data.TensorDataset(torch.arange(4) * 10)
    both = a + b
    assert len(both) == 8 and both[5][0].item() == 10 and both[-1][0].item() == 30
    side = data.StackDataset(x=a, y=b)
    assert side[2]["y"][0].item() == 20 and len(side) == 4
    parts = data.random_split(range(10), [0.55, 0.25, 0.2], torch.Generator().manual_seed(1))
    assert [len(p) for p in parts] == [6, 2, 2] and sorted(x for p in parts for x in p) == list(range(10))
    assert list(data.ChainDataset([Stream(2), Stream(3)])) == [0, 1, 0, 1, 2]
    for error, call in [
        (AssertionError, lambda: data.TensorDataset(torch.zeros(2), torch.zeros(3))),
        (ValueError, lambda: data.random_split(range(3), [1, 1])),
        (ValueError, lambda: data.StackDataset(a, x=b)),
    ]:
        with pytest.raises(error):
            call()


def test_batches_of_everything():
    numpy = pytest.importorskip("numpy")
    Point = collections.namedtuple("Point", "x y")
    sample = {"t": torch.ones(2), "i": 3, "f": 0.5, "s": "text", "p": Point(1, 2.0), "n": numpy.zeros(2), "k": numpy.float32(2), "l": [1, (2, "a")]}
    batch = data.default_collate([sample, sample])
    assert batch["t"].shape == (2, 2) and batch["i"].dtype is torch.int64 and batch["f"].dtype is torch.float64
    assert batch["s"] == ["text", "text"] and batch["p"].y.tolist() == [2.0, 2.0] and batch["n"].shape == (2, 2)
    assert batch["k"].dtype is torch.float32 and batch["l"][1][1] == ("a", "a")
    with pytest.raises(RuntimeError, match="equal size"):
        data.default_collate([[1], [1, 2]])
    with pytest.raises(TypeError, match="object"):
        data.default_collate([object()])
    assert data.default_convert({"a": numpy.ones(2), "b": "x"})["a"].tolist() == [1, 1]


@pytest.mark.parametrize(
    "settings",
    [
        {"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"persistent_workers": True},
        {"shuffle": True, "sampler": [1]}, {"batch_sampler": [[1]], "batch_size": 2}, {"batch_size": None, "drop_last": True},
        {"batch_size": 0}, {"num_workers": 1, "multiprocessing_context": "nothing"},
    ],
    ids=str,
)  # fmt: skip
def test_what_is_refused(settings):
    with pytest.raises(ValueError):
        data.DataLoader(Squares(), **settings)


def test_what_is_fixed_stays():
    loader = data.DataLoader(Squares())
    with pytest.raises(ValueError, match="batch_size"):
        loader.batch_size = 3
