"""``DataLoader``: batches of a data set, made here or by workers."""

import itertools
import multiprocessing
import warnings
import weakref

from ._utils.collate import default_collate, default_convert
from ._utils.crew import Processes, Threads
from ._utils.worker import ExceptionWrapper, Exhausted, Fetcher, Setup, get_worker_info
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler, random_seed

__all__ = ["DataLoader", "default_collate", "get_worker_info"]


class _DatasetKind:
    """Data sets by place, and streams."""

    Map, Iterable = 0, 1


class _InfiniteConstantSampler(Sampler):
    """For streams, which have no places."""

    def __iter__(self):
        while True:
            yield None


class DataLoader:
    """Batches of ``dataset``, one pass each time it is iterated.

    ``num_workers`` workers make them ahead, each up to ``prefetch_factor`` (2) batches: processes that
    ``multiprocessing_context`` starts, or threads if that is ``"thread"``. Those are quick to start and
    copy nothing, but share Python's lock and the random generators. What a worker raises is raised
    here; one that dies is a RuntimeError. ``persistent_workers`` keeps them from pass to pass.
    ``pin_memory`` and ``pin_memory_device`` are accepted and change nothing.

    TypeError, ValueError: settings that contradict each other.
    """

    _iterator = None
    _ready = False
    #: What cannot be changed after the loader is made.
    _FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")

    def __init__(
        self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None,
        pin_memory=False, drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None,
        generator=None, *, prefetch_factor=None, persistent_workers=False, pin_memory_device="", in_order=True,
    ):
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing")
        if timeout < 0:
            raise ValueError("timeout option should be non-negative")
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError("prefetch_factor option could only be specified in multiprocessing, with num_workers > 0")
        if prefetch_factor is not None and prefetch_factor < 1:
            raise ValueError("prefetch_factor option should be positive")
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device, self.in_order = pin_memory, pin_memory_device, in_order
        self.worker_init_fn, self.multiprocessing_context = worker_init_fn, multiprocessing_context
        self._dataset_kind = _DatasetKind.Iterable if isinstance(dataset, IterableDataset) else _DatasetKind.Map
        if self._dataset_kind == _DatasetKind.Iterable:
            for name, given in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if given not in ((None, False) if name == "shuffle" else (None,)):
                    raise ValueError(f"DataLoader with IterableDataset: expected unspecified {name} option, but got {name}={given}")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or sampler is not None or drop_last:
                raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None:
            if self._dataset_kind == _DatasetKind.Iterable:
                sampler = _InfiniteConstantSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=generator)
            else:
                sampler = SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.sampler, self.batch_sampler = batch_size, drop_last, sampler, batch_sampler
        self.generator = generator
        self.collate_fn = collate_fn or (default_collate if self._auto_collation else default_convert)
        self.persistent_workers = persistent_workers
        self._expected_length = None
        self._ready = True

    def __setattr__(self, name, value):
        if self._ready and name in self._FIXED:
            raise ValueError(f"{name} attribute should not be set after {type(self).__name__} is initialized")
        super().__setattr__(name, value)

    def __class_getitem__(cls, item):
        return cls

    @property
    def multiprocessing_context(self):
        """How processes are started: a context of ``multiprocessing``, ``"thread"``, or ``None``."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, context):
        if context is not None and context != "thread":
            if self.num_workers == 0:
                raise ValueError(f"multiprocessing_context can only be used with num_workers > 0, not with {context!r} and 0")
            if isinstance(context, str):
                known = multiprocessing.get_all_start_methods()
                if context not in known:
                    raise ValueError(f"multiprocessing_context should be 'thread' or one of {known}, but got {context!r}")
                context = multiprocessing.get_context(context)
            elif not isinstance(context, multiprocessing.context.BaseContext):
                raise TypeError(f"multiprocessing_context should be a context or the name of a start method, but got {context!r}")
        self._context = context

    @property
    def _auto_collation(self):
        return self.batch_sampler is not None

    @property
    def _index_sampler(self):
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self):
        if not (self.persistent_workers and self.num_workers > 0):
            return self._get_iterator()
        if self._iterator is None:
            self._iterator = self._get_iterator()
        else:
            self._iterator._reset(self)
        return self._iterator

    def _get_iterator(self):
        return (_MultiProcessingDataLoaderIter if self.num_workers else _SingleProcessDataLoaderIter)(self)

    def __len__(self):
        if self._dataset_kind != _DatasetKind.Iterable:
            return len(self._index_sampler)
        n = self._expected_length = len(self.dataset)
        if self.batch_size is None:
            return n
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)


class _BaseDataLoaderIter:
    """One pass over the batches."""

    def __init__(self, loader):
        self._loader_settings(loader)

    def _loader_settings(self, loader):
        self._dataset, self._dataset_kind = loader.dataset, loader._dataset_kind
        self._index_sampler, self._sampler_iter = loader._index_sampler, iter(loader._index_sampler)
        self._expected, self._batch_size = loader._expected_length, loader.batch_size
        self._base_seed = random_seed(loader.generator)
        self._num_yielded, self._warned = 0, False

    def _setup(self, loader, worker=0):
        return Setup(
            worker, loader.num_workers, self._base_seed + worker, loader.dataset,
            loader._dataset_kind == _DatasetKind.Iterable, loader._auto_collation, loader.collate_fn, loader.drop_last,
            loader.worker_init_fn,
        )  # fmt: skip

    def __iter__(self):
        return self

    def __len__(self):
        return len(self._index_sampler)

    def __next__(self):
        data = self._next_data()
        self._num_yielded += 1
        if self._dataset_kind == _DatasetKind.Iterable and self._expected is not None and not self._warned:
            size = self._batch_size or 1
            if self._num_yielded > -(-self._expected // size):
                self._warned = True
                warnings.warn(
                    f"Length of IterableDataset {self._dataset} was reported to be {self._expected}, but {self._num_yielded} "
                    f"batches were fetched. With workers, each must give its own share: see get_worker_info()",
                    stacklevel=2,
                )
        return data

    def _next_data(self):
        raise NotImplementedError


class _SingleProcessDataLoaderIter(_BaseDataLoaderIter):
    """Makes batches here, when they are asked for."""

    def __init__(self, loader):
        super().__init__(loader)
        setup = self._setup(loader)
        self._fetcher = Fetcher(setup.dataset, setup.iterable, setup.auto_collation, setup.collate_fn, setup.drop_last)

    def _next_data(self):
        return self._fetcher.fetch(next(self._sampler_iter))


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Has workers make batches ahead, and gives them in order."""

    def __init__(self, loader):
        super().__init__(loader)
        setups = [self._setup(loader, k) for k in range(loader.num_workers)]
        if loader.multiprocessing_context == "thread":
            self._crew = Threads(setups)
        else:
            self._crew = Processes(setups, loader.multiprocessing_context or multiprocessing.get_context())
        self._finish = weakref.finalize(self, self._crew.stop)
        self._workers, self._timeout, self._in_order = loader.num_workers, loader.timeout, loader.in_order
        self._ahead, self._persistent = loader.prefetch_factor * loader.num_workers, loader.persistent_workers
        self._epoch = 0
        self._start()

    def _reset(self, loader):
        """Another pass with the same workers."""
        self._loader_settings(loader)
        if not self._finish.alive:
            raise RuntimeError("the workers of this DataLoader have ended after an error; make a new iterator")
        self._epoch += 1
        for k in range(self._workers):
            self._crew.give(k, ("begin", self._epoch, self._base_seed + k))
        self._start()

    def _start(self):
        self._given, self._next = 0, 0
        #: What is asked for: the worker, and its result once it is here.
        self._open, self._arrived = {}, {}
        self._alive = [True] * self._workers
        self._turn = itertools.cycle(range(self._workers))
        self._ended = False
        for _ in range(self._ahead):
            self._ask()

    def _ask(self):
        """Gives one more task to the worker whose turn it is."""
        if self._ended:
            return
        for _ in range(self._workers):
            worker = next(self._turn)
            if self._alive[worker]:
                break
        else:
            return
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            self._ended = True
            return
        try:
            self._crew.give(worker, (self._epoch, self._given, index))
        except BaseException:
            self._finish()
            raise
        self._open[self._given] = worker
        self._given += 1

    def _receive(self):
        """Takes one message in."""
        message = self._crew.take(self._timeout or None)
        if message is None:
            raise RuntimeError(f"DataLoader timed out after {self._timeout} seconds")
        epoch, number, result = message
        if epoch != self._epoch:
            return  # of a pass that was not finished
        if isinstance(result, Exhausted):
            self._alive[self._open.pop(number)] = False
            self._ask()  # on behalf of the others
        else:
            self._arrived[number] = result

    def _take(self):
        """The next result, in order or as they come; StopIteration when there are no more."""
        while True:
            if self._in_order:
                while self._next < self._given and self._next not in self._open:
                    self._next += 1
                number = self._next if self._next in self._arrived else None
            else:
                number = next(iter(self._arrived), None)
            if number is not None:
                del self._open[number]
                return self._arrived.pop(number)
            if not self._open:
                raise StopIteration
            self._receive()

    def _next_data(self):
        try:
            result = self._take()
        except StopIteration:
            if not self._persistent:
                self._finish()
            raise
        except BaseException:  # a dead worker, a timeout, Ctrl-C: nothing good comes any more
            self._finish()
            raise
        self._ask()
        if isinstance(result, ExceptionWrapper):
            result.reraise()
        return result
