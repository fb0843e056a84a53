"""Python's ``multiprocessing``; tensors go from process to process as copies."""

import multiprocessing as _python
from multiprocessing import *  # noqa: F403

__all__ = [*_python.__all__, "get_all_sharing_strategies", "get_sharing_strategy", "set_sharing_strategy", "spawn", "start_processes", "ProcessContext"]


def get_all_sharing_strategies():
    """One: tensors are copied."""
    return {"file_system"}


def get_sharing_strategy():
    """Tensors are copied."""
    return "file_system"


def set_sharing_strategy(new_strategy):
    """Accepted; tensors are copied whatever it is."""
    if new_strategy not in ("file_system", "file_descriptor"):
        raise AssertionError(f"{new_strategy!r} is no way to share; 'file_system' and 'file_descriptor' are known")


class ProcessException(Exception):
    """A process of ``spawn`` failed."""

    def __init__(self, msg, error_index, pid):
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid


class ProcessRaisedException(ProcessException):
    """It raised."""


class ProcessExitedException(ProcessException):
    """It ended with an exit code or by a signal."""

    def __init__(self, msg, error_index, error_pid, exit_code, signal_name=None):
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name


def _run(function, index, args, errors):
    import sys
    import traceback

    try:
        function(index, *args)
    except KeyboardInterrupt:
        pass
    except Exception:
        errors.put(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """The processes of ``spawn``."""

    def __init__(self, processes, errors):
        self.processes, self.error_queues = processes, errors

    def pids(self):
        """Their numbers."""
        return [process.pid for process in self.processes]

    def join(self, timeout=None, grace_period=None):
        """Waits for one to end; True when all have. One that failed ends the others, and is raised here."""
        from multiprocessing import connection

        running = [p for p in self.processes if p.is_alive()]
        if running:  # waiting for none of them would never end
            connection.wait([p.sentinel for p in running], timeout)
        alive = [p.is_alive() for p in self.processes]  # one look: a process may end between two
        failed = next((i for i, p in enumerate(self.processes) if not alive[i] and p.exitcode), None)
        if failed is None:
            return not any(alive)
        for process in self.processes:
            if process.is_alive():
                process.terminate()
        for process in self.processes:
            process.join(grace_period or 30)
            if process.is_alive():
                process.kill()
        process = self.processes[failed]
        if not self.error_queues[failed].empty():
            text = self.error_queues[failed].get()
            raise ProcessRaisedException(f"\n\n-- Process {failed} terminated with the following error:\n{text}", failed, process.pid)
        raise ProcessExitedException(f"process {failed} terminated with exit code {process.exitcode}", failed, process.pid, process.exitcode)


def start_processes(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """Starts ``fn(index, *args)`` in ``nprocs`` processes, and waits for them unless ``join`` is false."""
    context = _python.get_context(start_method)
    errors = [context.SimpleQueue() for _ in range(nprocs)]
    processes = [context.Process(target=_run, args=(fn, i, args, errors[i]), daemon=daemon) for i in range(nprocs)]
    for process in processes:
        process.start()
    running = ProcessContext(processes, errors)
    if not join:
        return running
    while not running.join():
        pass
    return None


def spawn(fn, args=(), nprocs=1, join=True, daemon=False, start_method="spawn"):
    """As ``start_processes``, with new interpreters."""
    return start_processes(fn, args, nprocs, join, daemon, start_method)
