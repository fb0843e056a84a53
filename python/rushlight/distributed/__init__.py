"""Processes that work together, of which there is one: questions are answered, all else is an error."""

import enum


def is_available():
    """False."""
    return False


def is_initialized():
    """False."""
    return False


def is_nccl_available():
    """False."""
    return False


def is_gloo_available():
    """False."""
    return False


def is_mpi_available():
    """False."""
    return False


def is_ucc_available():
    """False."""
    return False


def is_torchelastic_launched():
    """False."""
    return False


class ReduceOp(enum.Enum):
    """How numbers of several processes would be combined."""

    SUM, AVG, PRODUCT, MIN, MAX, BAND, BOR, BXOR = range(8)


class Backend(str):
    """The name of a way to talk."""

    NCCL, GLOO, MPI, UCC, UNDEFINED = "nccl", "gloo", "mpi", "ucc", "undefined"


class ProcessGroup:
    """Processes that talk; there are none."""


class group:
    """The group of all processes, of which there is none."""

    WORLD = None


GroupMember = group


def _absent(name):
    def call(*args, **kwargs):
        raise RuntimeError(f"distributed.{name}: rushlight runs in one process; see distributed.is_available()")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "RuntimeError: there is one process."
    return call


def _uninitialized(name):
    def call(*args, **kwargs):
        raise ValueError(f"distributed.{name}: Default process group has not been initialized; see distributed.is_initialized()")

    call.__name__ = call.__qualname__ = name
    call.__doc__ = "ValueError: there is no process group."
    return call


for _name in """init_process_group new_group""".split():
    globals()[_name] = _absent(_name)
for _name in """all_gather all_gather_into_tensor all_gather_object all_reduce all_to_all all_to_all_single barrier broadcast
    broadcast_object_list destroy_process_group gather gather_object get_backend get_global_rank get_rank
    get_world_size irecv isend monitored_barrier recv reduce reduce_scatter reduce_scatter_tensor scatter
    scatter_object_list send""".split():
    globals()[_name] = _uninitialized(_name)
