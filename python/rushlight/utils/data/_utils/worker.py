"""What a worker does: fetch the samples it is told of, make a batch of them, hand that back."""

import random
import sys
import threading
import traceback
from dataclasses import dataclass

_local = threading.local()


@dataclass
class WorkerInfo:
    """The worker that code runs in: its number, how many there are, its seed, its copy of the data set."""

    id: int
    num_workers: int
    seed: int
    dataset: object


def get_worker_info():
    """The worker of a ``DataLoader`` that this runs in, or ``None`` outside of one."""
    return getattr(_local, "info", None)


@dataclass
class Setup:
    """What a worker needs to begin."""

    id: int
    count: int
    seed: int
    dataset: object
    iterable: bool
    auto_collation: bool
    collate_fn: object
    drop_last: bool
    init: object


class ExceptionWrapper:
    """An exception on its way from a worker: its class, and its traceback as text."""

    def __init__(self, error, where):
        self.kind, self.where = type(error), where
        self.text = "".join(traceback.format_exception(type(error), error, error.__traceback__))

    def reraise(self):
        """Raises it here; one that cannot be made from a message as RuntimeError."""
        message = f"Caught {self.kind.__name__} {self.where}.\nOriginal {self.text}"
        try:
            error = self.kind(message) if self.kind is not KeyError else _KeyError(message)
        except Exception:
            error = RuntimeError(message)
        raise error


class _KeyError(KeyError):
    """A KeyError that shows line breaks of its message."""

    def __str__(self):
        return self.args[0]


@dataclass
class Exhausted:
    """The worker's stream has ended."""


class Fetcher:
    """Makes batches of a data set's samples: by place, or the next of a stream."""

    def __init__(self, dataset, iterable, auto_collation, collate_fn, drop_last):
        self.dataset, self.iterable, self.auto_collation = dataset, iterable, auto_collation
        self.collate_fn, self.drop_last = collate_fn, drop_last
        self.stream = iter(dataset) if iterable else None
        self.ended = False

    def fetch(self, index):
        """The batch of these places; StopIteration when a stream has ended."""
        if self.iterable:
            return self._of_stream(index)
        if not self.auto_collation:
            return self.collate_fn(self.dataset[index])
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.collate_fn(self.dataset.__getitems__(index))
        return self.collate_fn([self.dataset[i] for i in index])

    def _of_stream(self, index):
        if self.ended:
            raise StopIteration
        if not self.auto_collation:
            return self.collate_fn(next(self.stream))
        samples = []
        for _ in index:
            try:
                samples.append(next(self.stream))
            except StopIteration:
                self.ended = True
                break
        if not samples or (self.drop_last and len(samples) < len(index)):
            raise StopIteration
        return self.collate_fn(samples)


def seed_everything(seed, own_process):
    """Seeds Python's, NumPy's (if it is there) and our generators; threads share those and seed none."""
    if not own_process:
        return
    from .... import random as ours

    random.seed(seed)
    ours.manual_seed(seed)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed([seed & 0xFFFFFFFF, (seed >> 32) & 0xFFFFFFFF])


def work(setup, receive, send, own_process):
    """Answers tasks until there are no more.

    ``receive()`` gives ``(epoch, number, index)``, or ``("begin", epoch, seed)``, or ``None`` for the
    end; ``send((epoch, number, result))`` hands back.
    """
    where = f"in DataLoader worker {'process' if own_process else 'thread'} {setup.id}"
    fetcher, failed = None, None

    def begin(seed, first):
        nonlocal fetcher, failed
        fetcher = failed = None
        try:
            _local.info = WorkerInfo(setup.id, setup.count, seed, setup.dataset)
            seed_everything(seed, own_process)
            if first and setup.init is not None:
                setup.init(setup.id)
            fetcher = Fetcher(setup.dataset, setup.iterable, setup.auto_collation, setup.collate_fn, setup.drop_last)
        except Exception as error:
            failed = ExceptionWrapper(error, where)

    begin(setup.seed, True)
    while (task := receive()) is not None:
        epoch, number, index = task
        if epoch == "begin":
            begin(index, False)
            continue
        if failed is not None:
            result, failed = failed, None
        elif fetcher is None:
            result = Exhausted()  # it could not begin, which has been told
        else:
            try:
                result = fetcher.fetch(index)
            except StopIteration as error:
                result = Exhausted() if setup.iterable else ExceptionWrapper(error, where)
            except Exception as error:
                result = ExceptionWrapper(error, where)
        send((epoch, number, result))
    _local.info = None
