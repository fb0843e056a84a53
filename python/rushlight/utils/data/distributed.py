"""``DistributedSampler``: the share of one process of several."""

import math

from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler):
    """Every ``num_replicas``-th place from ``rank`` on, in an order that ``seed`` and ``set_epoch`` decide.

    All shares are equally long: some places come twice, or with ``drop_last`` the last ones not at all.
    """

    def __init__(self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False):
        if num_replicas is None or rank is None:
            raise RuntimeError("DistributedSampler: there is no process group here; give num_replicas and rank")
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset, self.num_replicas, self.rank, self.epoch = dataset, num_replicas, rank, 0
        self.drop_last, self.shuffle, self.seed = drop_last, shuffle, seed
        n = len(dataset)
        self.num_samples = n // num_replicas if drop_last else math.ceil(n / num_replicas)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        import rushlight

        n = len(self.dataset)
        if self.shuffle:
            order = rushlight.randperm(n, generator=rushlight.Generator().manual_seed(self.seed + self.epoch)).tolist()
        else:
            order = list(range(n))
        if len(order) < self.total_size and order:
            order *= math.ceil(self.total_size / n)
        return iter(order[: self.total_size][self.rank :: self.num_replicas])

    def __len__(self):
        return self.num_samples

    def set_epoch(self, epoch):
        """Another order for another pass; the same in every process."""
        self.epoch = epoch
