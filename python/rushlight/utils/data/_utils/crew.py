"""Workers as processes or as threads, behind one interface: ``give``, ``take``, ``stop``.

Every process has two pipes of its own and shares no lock with others, so that one that dies, however
it dies, is noticed at once and holds up nobody.
"""

import multiprocessing
import os
import pickle
import queue
import signal
import threading
import time
import weakref
from multiprocessing import connection

from .worker import ExceptionWrapper, work

#: The parent's ends of all pipes. A forked process has copies of them, and nobody would see the other
#: end close while it holds them.
_ENDS = weakref.WeakSet()

#: Seconds that a worker has to end by itself when it is told to.
PATIENCE = 5.0


def _run_process(setup, tasks, results):
    """A worker's process: computes in this thread, hands results back in another, so that it can work ahead."""
    import rushlight

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent gets it too, and ends the workers
    rushlight.set_num_threads(1)
    for pipe in list(_ENDS):
        pipe.close()
    parent = multiprocessing.parent_process()
    outbox = queue.Queue()

    def receive():
        while not tasks.poll(2.0):
            if parent is not None and not parent.is_alive():
                return None
        try:
            return tasks.recv()
        except (EOFError, OSError):
            return None

    def deliver():
        while True:
            try:
                results.send_bytes(outbox.get())
            except OSError:
                return  # nobody listens any more

    def send(message):
        try:
            data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
        except Exception as error:
            where = f"in DataLoader worker process {setup.id} while its batch was pickled"
            data = pickle.dumps((*message[:2], ExceptionWrapper(error, where)), pickle.HIGHEST_PROTOCOL)
        outbox.put(data)

    threading.Thread(target=deliver, daemon=True).start()
    try:
        work(setup, receive, send, True)
    except KeyboardInterrupt:
        pass
    # Told to end, or alone: nobody waits for what is still in the outbox.


class Processes:
    """Workers that are processes."""

    def __init__(self, setups, context):
        self.tasks, self.results, self.processes, self.owner = [], [], [], os.getpid()
        try:
            for setup in setups:
                task_out, task_in = context.Pipe(duplex=False)
                result_out, result_in = context.Pipe(duplex=False)
                self.tasks.append(task_in)
                self.results.append(result_out)
                _ENDS.update((task_in, result_out))
                process = context.Process(target=_run_process, args=(setup, task_out, result_in), daemon=True)
                self.processes.append(process)
                process.start()
                task_out.close()
                result_in.close()
        except BaseException:
            self.stop()
            raise

    def give(self, worker, task):
        """Tells a worker what to do."""
        try:
            self.tasks[worker].send(task)
        except OSError:
            raise self._death(worker) from None

    def _death(self, worker):
        process = self.processes[worker]
        process.join(1.0)
        code = process.exitcode
        how = f"by signal: {signal.Signals(-code).name}" if code is not None and code < 0 else f"with exit code {code}"
        return RuntimeError(f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly {how}")

    def take(self, timeout):
        """The next message of any worker; ``None`` when none came in ``timeout`` seconds."""
        ready = connection.wait(self.results, timeout)
        if not ready:
            return None
        try:
            data = ready[0].recv_bytes()
        except (EOFError, OSError):
            raise self._death(self.results.index(ready[0])) from None
        return pickle.loads(data)

    def stop(self):
        """Ends all workers; those that do not end are killed."""
        if os.getpid() != self.owner:
            return  # a copy of this object in a forked process
        for pipe in self.tasks:
            try:
                os.set_blocking(pipe.fileno(), False)
                pipe.send(None)
            except OSError:
                pass  # it is dead, or so far behind that only the closed pipe tells it
            pipe.close()
        for pipe in self.results:
            pipe.close()
        started = [p for p in self.processes if p.pid is not None]
        end = time.monotonic() + PATIENCE
        for process in started:
            process.join(max(0.0, end - time.monotonic()))
        for force in ("terminate", "kill"):
            for process in started:
                if process.is_alive():
                    getattr(process, force)()
                    process.join(PATIENCE)
        self.processes = []

    def pids(self):
        """The processes' numbers."""
        return [process.pid for process in self.processes]


class Threads:
    """Workers that are threads of this process: no copies of batches, and Python's lock to share."""

    def __init__(self, setups):
        self.tasks = [queue.SimpleQueue() for _ in setups]
        self.results = queue.SimpleQueue()
        self.stopped = False
        self.threads = [
            threading.Thread(target=self._run, args=(setup, tasks, self.results), daemon=True)
            for setup, tasks in zip(setups, self.tasks)
        ]
        for thread in self.threads:
            thread.start()

    @staticmethod
    def _run(setup, tasks, results):
        work(setup, tasks.get, results.put, False)

    def give(self, worker, task):
        """Tells a worker what to do."""
        self.tasks[worker].put(task)

    def take(self, timeout):
        """The next message of any worker; ``None`` when none came in ``timeout`` seconds."""
        try:
            return self.results.get(timeout=timeout)
        except queue.Empty:
            return None

    def stop(self):
        """Ends all workers after what they are at; does not wait for a sample that takes long."""
        for tasks in self.tasks:
            while not tasks.empty():
                try:
                    tasks.get_nowait()
                except queue.Empty:
                    break
            tasks.put(None)

    def pids(self):
        """None: they are threads."""
        return []
