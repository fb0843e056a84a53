"""Copies are seen, with the line of Python that caused them; and they can be forbidden."""

import sys
import threading

import pytest
import rushlight as torch


def here():
    return sys._getframe(1).f_lineno


def matrix():
    return torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def test_a_log_names_op_bytes_shape_reason_and_line():
    x = matrix()
    with torch.trace.copies() as log:
        x.t().reshape(-1); line = here()  # noqa: E702
        x.t()
        x.view(-1)
    (copy,) = log
    assert (copy.op, copy.bytes, tuple(copy.shape), copy.line) == ("reshape", 16, (2, 2), line)
    assert copy.file == __file__ and "row-major" in copy.reason
    assert f"test_trace.py:{line}: reshape copied 16 bytes" in repr(log)
    assert log.bytes == 16 and log[-1] == copy and log[:] == [copy] and len(log) == 1
    with pytest.raises(IndexError):
        log[1]


def test_the_log_grows_while_it_is_open_and_not_after():
    x = matrix()
    with torch.trace.copies() as log:
        assert len(log) == 0 and repr(log) == "no copies"
        x.t().contiguous()
        assert [c.op for c in log] == ["contiguous"]
        x.contiguous()
        x[[0, 1]]
        assert [c.op for c in log][1:] and log[1].bytes == 16
    x.t().contiguous()
    assert len(log) == 2


def test_lines_are_those_of_the_caller_not_of_the_package():
    x = matrix().t()
    x.requires_grad_()
    with torch.trace.copies() as log:
        torch.autograd.functional.vjp(lambda a: a.reshape(-1), x, torch.ones(4)); line = here()  # noqa: E702
    assert log and {c.file for c in log} == {__file__} and {c.line for c in log} == {line}


def test_large_copies_run_without_the_interpreter_and_still_know_their_line():
    x = torch.ones(300, 400)
    with torch.trace.copies() as log:
        x.t().contiguous(); line = here()  # noqa: E702
    assert log[0].line == line and log[0].bytes == 300 * 400 * 4


def test_copies_forbidden():
    x = matrix()
    with torch.trace.forbid_copies():
        x.t()
        x.view(-1)
        x + 1
        with pytest.raises(RuntimeError, match=r"reshape: would copy 16 bytes of shape \[2, 2\] at .*test_trace.py:\d+ because"):
            x.t().reshape(-1)
        with pytest.raises(RuntimeError):
            x[[0]]
    x.t().reshape(-1)


def test_nesting_and_errors_leave_nothing_behind():
    x = matrix()
    with torch.trace.copies() as outer:
        with torch.trace.copies() as inner:
            x.t().contiguous()
        with pytest.raises(KeyError), torch.trace.copies():
            raise KeyError
        x.t().contiguous()
    assert (len(inner), len(outer)) == (1, 2)


def test_each_thread_observes_itself():
    x = matrix()
    done = []
    with torch.trace.copies() as log, torch.trace.forbid_copies():
        t = threading.Thread(target=lambda: done.append(x.t().contiguous()))
        t.start()
        t.join(60)
    assert len(done) == 1 and len(log) == 0


def test_trace_is_torchs_function_too():
    if "trace" in torch._C._functions:
        assert torch.trace(matrix()).item() == 5.0
    assert callable(torch.trace)
