"""Modules over several processes, of which there is one."""

from ..modules.module import Module

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """Fails when it is made: there is no group of processes here, as in torch before ``init_process_group``."""

    def __init__(self, module, *args, **kwargs):
        raise ValueError("DistributedDataParallel: there is no group of processes; use the module as it is")
