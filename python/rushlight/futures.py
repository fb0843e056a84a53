"""Results that come later: ``Future``, as programs pass it between threads."""

import threading
import types

__all__ = ["Future", "collect_all", "wait_all"]


class Future:
    """A value that is set once, perhaps by another thread, and waited for."""

    #: `Future[Tensor]`, in annotations.
    __class_getitem__ = classmethod(types.GenericAlias)

    def __init__(self, *, devices=None):
        self._ready, self._lock, self._then = threading.Event(), threading.Lock(), []
        self._value = self._error = None

    def done(self):
        """Whether the value, or an error in its place, is there."""
        return self._ready.is_set()

    def set_result(self, result):
        """Sets the value and calls what waits for it."""
        self._finish(result, None)

    def set_exception(self, result):
        """Sets an error, which ``wait`` raises."""
        if not isinstance(result, Exception):
            raise AssertionError(f"set_exception: {result!r} is no exception")
        self._finish(None, result)

    def _finish(self, value, error):
        with self._lock:
            if self._ready.is_set():
                raise RuntimeError("Future: the result has been set already")
            self._value, self._error = value, error
            self._ready.set()
            waiting, self._then = self._then, []
        for callback in waiting:
            callback(self)

    def wait(self):
        """The value, once it is there."""
        self._ready.wait()
        return self.value()

    def value(self):
        """The value, which must be there."""
        if not self._ready.is_set():
            raise RuntimeError("Future: there is no result yet; use wait()")
        if self._error is not None:
            raise self._error
        return self._value

    def add_done_callback(self, callback):
        """Calls ``callback(self)`` when the value is there, at once if it is."""
        with self._lock:
            if not self._ready.is_set():
                self._then.append(callback)
                return
        callback(self)

    def then(self, callback):
        """A future of ``callback(self)``."""
        after = Future()

        def run(_):
            try:
                result = callback(self)
            except Exception as error:
                after.set_exception(error)
            else:
                after.set_result(result)

        self.add_done_callback(run)
        return after


def collect_all(futures):
    """A future of the list of these, done when all are."""
    futures = list(futures)
    whole, left, lock = Future(), [len(futures)], threading.Lock()
    if not futures:
        whole.set_result(futures)

    def one(_):
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            whole.set_result(futures)

    for future in futures:
        future.add_done_callback(one)
    return whole


def wait_all(futures):
    """The values of these, once all are there."""
    return [future.wait() for future in collect_all(futures).wait()]
