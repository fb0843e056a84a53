"""Data sets: by place (``Dataset``) or as streams (``IterableDataset``), and those made of others."""

import bisect
import itertools
import math
import warnings
from typing import Generic, TypeVar

__all__ = """Dataset IterableDataset TensorDataset StackDataset ConcatDataset ChainDataset Subset random_split""".split()

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """Samples by place: subclasses have ``__getitem__``, and mostly ``__len__``.

    With ``__getitems__`` a loader fetches a batch in one call.
    """

    def __getitem__(self, index):
        """The sample at ``index``."""
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co]):
    """A stream of samples: subclasses have ``__iter__``.

    Each worker of a loader has a copy of it; ``get_worker_info`` tells which, so that they share the work.
    """

    def __add__(self, other):
        return ChainDataset([self, other])


class TensorDataset(Dataset):
    """Tensors of the same first size: sample ``i`` is the tuple of their rows ``i``."""

    def __init__(self, *tensors):
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise AssertionError(f"Size mismatch between tensors: first sizes are {[t.size(0) for t in tensors]}")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(t[index] for t in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class StackDataset(Dataset):
    """Data sets side by side: sample ``i`` is the tuple, or by names the dict, of their samples ``i``."""

    def __init__(self, *args, **kwargs):
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset takes data sets, either all by place or all by name")
        self.datasets = args if args else kwargs
        lengths = {len(d) for d in self._parts()}
        if len(lengths) > 1:
            raise ValueError(f"Size mismatch between datasets: {sorted(lengths)}")
        self._length = lengths.pop()

    def _parts(self):
        return list(self.datasets.values()) if isinstance(self.datasets, dict) else list(self.datasets)

    def _joined(self, samples):
        return dict(zip(self.datasets, samples)) if isinstance(self.datasets, dict) else tuple(samples)

    def __getitem__(self, index):
        return self._joined([d[index] for d in self._parts()])

    def __getitems__(self, indices):
        """The samples at ``indices``."""
        columns = []
        for d in self._parts():
            if callable(getattr(d, "__getitems__", None)):
                columns.append(d.__getitems__(indices))
                if len(columns[-1]) != len(indices):
                    raise ValueError(f"__getitems__ gave {len(columns[-1])} samples for {len(indices)} indices")
            else:
                columns.append([d[i] for i in indices])
        return [self._joined(row) for row in zip(*columns)]

    def __len__(self):
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Data sets one after the other."""

    @staticmethod
    def cumsum(sequence):
        """Where each data set ends."""
        return list(itertools.accumulate(len(d) for d in sequence))

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, index):
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        at = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[at][index - (self.cumulative_sizes[at - 1] if at else 0)]

    @property
    def cummulative_sizes(self):
        """A former name of ``cumulative_sizes``."""
        warnings.warn("cummulative_sizes attribute is renamed to cumulative_sizes", DeprecationWarning, stacklevel=2)
        return self.cumulative_sizes


class ChainDataset(IterableDataset):
    """Streams one after the other."""

    def __init__(self, datasets):
        super().__init__()
        self.datasets = datasets

    def _checked(self):
        for d in self.datasets:
            if not isinstance(d, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield d

    def __iter__(self):
        for d in self._checked():
            yield from d

    def __len__(self):
        return sum(len(d) for d in self._checked())


class Subset(Dataset[T_co]):
    """The samples of a data set at ``indices``."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index):
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices):
        """The samples at ``indices``."""
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__([self.indices[i] for i in indices])
        return [self.dataset[self.indices[i]] for i in indices]

    def __len__(self):
        return len(self.indices)


def random_split(dataset, lengths, generator=None):
    """Subsets of these lengths, or of these fractions of the whole, that share no sample, in a random order.

    What rounding leaves goes to the first ones, one each. ValueError: the lengths do not add up.
    """
    import rushlight

    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        shares, lengths = list(lengths), []
        for i, share in enumerate(shares):
            if not 0 <= share <= 1:
                raise ValueError(f"Fraction at index {i} is not between 0 and 1")
            lengths.append(math.floor(len(dataset) * share))
        for i in range(len(dataset) - sum(lengths)):
            lengths[i % len(lengths)] += 1
        for i, length in enumerate(lengths):
            if length == 0:
                warnings.warn(f"Length of split at index {i} is 0. This might result in an empty dataset.", stacklevel=2)
    if sum(lengths) != len(dataset):
        raise ValueError(f"Sum of input lengths, {sum(lengths)}, does not equal the length of the input dataset, {len(dataset)}")
    order = rushlight.randperm(sum(lengths), generator=generator).tolist()
    ends = itertools.accumulate(lengths)
    return [Subset(dataset, order[end - length : end]) for end, length in zip(ends, lengths)]
