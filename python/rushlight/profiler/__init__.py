"""The profiler, of which there is none: its names are accepted, and say once that nothing is measured."""

import enum
import functools

from .._notes import note

_NOTHING = "rushlight has no profiler: profile() measures nothing; trace() shows copies, and Python's profilers the rest"


class ProfilerActivity(enum.Enum):
    """What would be measured."""

    CPU, XPU, MTIA, CUDA, HPU, PrivateUse1 = 0, 1, 2, 3, 4, 5


class ProfilerAction(enum.Enum):
    """What is done in a step."""

    NONE, WARMUP, RECORD, RECORD_AND_SAVE = range(4)


class record_function:
    """A named part of a program: a block or a decorator; nothing is recorded."""

    def __init__(self, name, args=None):
        self.name, self.args = name, args

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def __call__(self, function):
        @functools.wraps(function)
        def run(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return run


class _NoEvents(list):
    """What was measured: nothing."""

    def table(self, *args, **kwargs):
        """A line that says so."""
        return "rushlight has no profiler: nothing was measured"

    total_average = table


class profile:
    """A block in which nothing is measured; the methods that ask for results say so."""

    def __init__(self, *args, **kwargs):
        note(_NOTHING)
        self.step_num, self._ready = 0, kwargs.get("on_trace_ready")

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def start(self):
        """Nothing begins."""

    def stop(self):
        """Nothing ends."""

    def step(self):
        """Counts a step."""
        self.step_num += 1

    def key_averages(self, *args, **kwargs):
        """No events."""
        return _NoEvents()

    def events(self):
        """No events."""
        return _NoEvents()

    def export_chrome_trace(self, path):
        """RuntimeError: there is nothing to write."""
        raise RuntimeError("profile: rushlight measured nothing that could be exported")

    export_stacks = export_memory_timeline = export_chrome_trace


def schedule(*, wait, warmup, active, repeat=0, skip_first=0, skip_first_wait=0):
    """A function that says of each step that nothing is done in it."""
    return lambda step: ProfilerAction.NONE


def tensorboard_trace_handler(dir_name, worker_name=None, use_gzip=False):
    """A function that writes nothing."""
    return lambda profiler: None


def supported_activities():
    """None."""
    return set()
