"""The order in which samples are read: places, or lists of places."""

import itertools
from typing import Generic, TypeVar

__all__ = """BatchSampler RandomSampler Sampler SequentialSampler SubsetRandomSampler WeightedRandomSampler""".split()

T_co = TypeVar("T_co", covariant=True)


def random_seed(generator=None):
    """A number that the generator gives: the seed of another one."""
    import rushlight

    return int(rushlight.empty((), dtype=rushlight.int64).random_(generator=generator).item())


def _own(generator):
    """The generator, or a new one with a seed of the default generator's."""
    import rushlight

    return rushlight.Generator().manual_seed(random_seed()) if generator is None else generator


class Sampler(Generic[T_co]):
    """Base of samplers: subclasses have ``__iter__``, and mostly ``__len__``."""

    def __init__(self, data_source=None):
        pass

    def __iter__(self):
        raise NotImplementedError


class SequentialSampler(Sampler[int]):
    """All places, in order."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Places in a random order, or drawn one by one (``replacement``); as many as there are unless ``num_samples`` says.

    Without replacement, more than there are begin another order.
    """

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source, self.replacement, self._num_samples, self.generator = data_source, replacement, num_samples, generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples < 0:
            raise ValueError(f"num_samples should be a non-negative integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self):
        """How many places one pass has."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        import rushlight

        n, left, generator = len(self.data_source), self.num_samples, _own(self.generator)
        if n == 0:
            return
        while left > 0:
            if self.replacement:
                part = rushlight.randint(n, (min(left, 1024),), dtype=rushlight.int64, generator=generator).tolist()
            else:
                part = rushlight.randperm(n, generator=generator).tolist()[:left]
            yield from part
            left -= len(part)

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler[int]):
    """The given places, in a random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        import rushlight

        for i in rushlight.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[i]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler[int]):
    """``num_samples`` places, drawn with chances in proportion to ``weights``."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        import rushlight

        if not isinstance(num_samples, int) or isinstance(num_samples, bool) or num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={num_samples}")
        if not isinstance(replacement, bool):
            raise ValueError(f"replacement should be a boolean value, but got replacement={replacement}")
        self.weights = rushlight.as_tensor(weights, dtype=rushlight.float64)
        if self.weights.dim() != 1:
            raise ValueError(f"weights should be a 1d sequence but given weights have shape {tuple(self.weights.shape)}")
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        import rushlight

        drawn = rushlight.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator)
        yield from drawn.tolist()

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler[list]):
    """Lists of ``batch_size`` of a sampler's places; ``drop_last`` leaves out a shorter last one."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        places = iter(self.sampler)
        while batch := list(itertools.islice(places, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self):
        n = len(self.sampler)
        return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
