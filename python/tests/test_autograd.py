"""Autograd beyond torch's answers: lifetimes, threads, lines in messages."""

import gc
import subprocess
import sys
import textwrap
import threading
import warnings
import weakref

import pytest
import rushlight as torch


def leaf(*values):
    return torch.tensor(values or (1.0, 2.0, 3.0), dtype=torch.float64, requires_grad=True)


# --- Lifetimes --------------------------------------------------------------------------------------


class Mark:
    """Something whose end can be seen."""


def is_freed(make):
    """Whether what ``make`` builds and drops is gone after a collection."""
    seen = weakref.ref(make())
    gc.collect()
    return seen() is None


def test_a_hook_that_holds_its_tensor_is_collected():
    def make():
        x, mark = leaf(), Mark()
        x.register_hook(lambda g: (x, mark) and None)
        x.register_post_accumulate_grad_hook(lambda t: (x, mark) and None)
        return mark

    assert is_freed(make)


def test_a_hook_that_holds_the_result_it_hangs_on_is_collected():
    def make():
        mark = Mark()
        y = leaf() * 2
        y.register_hook(lambda g: (y, mark) and None)
        y.grad_fn.register_hook(lambda a, b: (y, mark) and None)
        y.grad_fn.metadata["y"] = y, mark
        return mark

    assert is_freed(make)


def test_a_context_that_holds_its_result_is_collected():
    class Keep(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark, ctx.result = Mark(), x * 2
            ctx.save_for_backward(x)
            return ctx.result

        @staticmethod
        def backward(ctx, g):
            return g * 2

    def make(run):
        y = Keep.apply(leaf())
        if run:
            y.sum().backward()
        assert y.grad_fn.result is y
        return y.grad_fn.mark

    assert is_freed(lambda: make(False))
    assert is_freed(lambda: make(True))


def test_hooks_outlive_the_object_they_were_registered_on():
    seen = []
    x = leaf()
    y = x * 2
    y.register_hook(lambda g: seen.append(g.tolist()))
    handle = y.register_hook(lambda g: seen.append("removed"))
    z = y.sum()
    del y
    gc.collect()
    handle.remove()
    z.backward()
    assert seen == [[1.0, 1.0, 1.0]]


def test_a_removed_hook_is_let_go():
    def make():
        mark, x = Mark(), leaf()
        handle = x.register_hook(lambda g: mark and None)
        handle.remove()
        test_a_removed_hook_is_let_go.kept = x, handle
        return mark

    assert is_freed(make)


def test_attributes_of_a_base_that_lead_to_its_view_are_collected():
    def make():
        x, mark = torch.ones(3), Mark()
        x.part, x.mark = x[1:], mark
        return mark

    assert is_freed(make)


def test_long_chains_of_functions_end_without_recursion():
    class Step(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.x = x  # leads from one step to the one before
            ctx.save_for_backward(x)
            return x + 1

        @staticmethod
        def backward(ctx, g):
            return g

    for run in (False, True):
        x = leaf(1.0)
        y = x
        for _ in range(20_000):
            y = Step.apply(y)
        if run:
            y.backward()
            assert x.grad.item() == 1.0
        del y
        gc.collect()


# --- Threads ----------------------------------------------------------------------------------------

THREADS = textwrap.dedent(
    """
    import threading
    import rushlight as torch

    class Exp(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            sum(range(2000))        # gives other threads their turn
            return g * ctx.saved_tensors[0]

    shared = torch.ones(40_000, dtype=torch.float64, requires_grad=True)
    failures = []

    def work():
        try:
            for _ in range(15):
                handle = shared.register_hook(lambda g: g * 1)
                y = Exp.apply(shared * 1)
                y.register_hook(lambda g: None)
                y.sum().backward()
                handle.remove()
        except Exception as e:
            failures.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads: t.start()
    for t in threads: t.join()
    assert not failures, failures
    print("done")
    """
)


def test_threads_never_wait_for_each_other():
    run = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, timeout=120, check=False)
    assert run.stdout.strip() == "done", run.stderr


def test_backward_in_another_thread():
    x = leaf()
    y = (x * x).sum()
    seen = []

    def run():
        seen.append(torch.is_grad_enabled())
        y.backward()

    with torch.no_grad():
        t = threading.Thread(target=run)
        t.start()
        t.join(60)
    assert not t.is_alive() and seen == [True]
    assert x.grad.tolist() == [2.0, 4.0, 6.0]


def test_other_threads_run_while_backward_does():
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(1)
            stop.wait(0.0005)

    x = torch.ones(300, 300, dtype=torch.float64, requires_grad=True)
    y = x
    for _ in range(20):
        y = y @ x * 1e-3
    t = threading.Thread(target=tick)
    t.start()
    before = len(ticks)
    y.sum().backward()
    during = len(ticks) - before
    stop.set()
    t.join(60)
    assert during > 2


# --- Modes ------------------------------------------------------------------------------------------


def test_one_mode_object_may_be_nested():
    mode = torch.no_grad()
    with mode:
        with mode:
            assert not torch.is_grad_enabled()
        assert not torch.is_grad_enabled()
    assert torch.is_grad_enabled()


def test_generators_may_end_in_any_order():
    @torch.no_grad()
    def numbers():
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    a, b = numbers(), numbers()
    assert [next(a), next(b), next(a), next(b)] == [False] * 4
    assert torch.is_grad_enabled() and list(a) == list(b) == []


# --- Messages ---------------------------------------------------------------------------------------


def test_errors_name_op_shapes_and_what_works():
    x = leaf()
    y = x * 2
    with pytest.raises(RuntimeError, match=r"shape \[2\].*\[3\]"):
        y.backward(torch.ones(2))
    with pytest.raises(RuntimeError, match="one element.*Reduce"):
        y.backward()
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match=r"mul: an input kept for backward was changed in place.*version 1.*clone"):
        z.sum().backward()


def test_anomaly_mode_names_the_line_and_the_output():
    x = leaf(-1.0)
    with pytest.warns(UserWarning, match="Anomaly Detection"):
        mode = torch.autograd.detect_anomaly()
    with mode:
        assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
        y = x.sqrt()  # this line
        line = sys._getframe().f_lineno - 1
        with pytest.warns(UserWarning, match=f"SqrtBackward0.*test_autograd.py:{line}"):
            with pytest.raises(RuntimeError, match=rf"nan in its output 0; sqrt was called at .*test_autograd.py:{line}$"):
                y.backward()
    assert not torch.is_anomaly_enabled()
    x.sqrt().backward()


def test_anomaly_mode_says_where_any_error_comes_from():
    x = leaf()
    with torch.autograd.set_detect_anomaly(True, check_nan=False):
        y = x * 2
        z = y * y
        line = sys._getframe().f_lineno - 1
        y.add_(1)
        with pytest.warns(UserWarning, match=f"test_autograd.py:{line}"):
            with pytest.raises(RuntimeError, match=f"changed in place.*mul was called at .*:{line}"):
                z.sum().backward()
        leaf(-1.0).sqrt().backward()


def test_create_graph_warns_of_the_cycle():
    x = leaf()
    with pytest.warns(UserWarning, match="cycle"):
        (x * x).sum().backward(create_graph=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (x * x).sum().backward()
        torch.autograd.grad((x * x).sum(), x, create_graph=True)


def test_exceptions_pass_unchanged():
    class Special(Exception):
        pass

    error = Special("mine")

    def fail(g):
        raise error

    x = leaf()
    x.register_hook(fail)
    with pytest.raises(Special) as seen:
        (x * 2).sum().backward()
    assert seen.value is error
    y = leaf() * 2
    y.grad_fn.register_hook(lambda a, b: fail(a))
    with pytest.raises(Special) as seen:
        y.sum().backward()
    assert seen.value is error


def test_steps_have_one_object_and_come_from_ops_alone():
    y = leaf() * 2
    node = y.grad_fn
    assert y.grad_fn is node and (y + 1).grad_fn.next_functions[0][0] is node
    assert hash(node) == hash(y.grad_fn) and node != (y + 1).grad_fn
    for c in (type(node), torch.autograd.graph.Node):
        with pytest.raises(TypeError):
            c()
    ends = [weakref.ref(leaf().exp().grad_fn) for _ in range(3)]
    gc.collect()
    assert all(e() is None for e in ends)


# --- Random state -----------------------------------------------------------------------------------


def test_generator_state():
    g = torch.Generator()
    g.manual_seed(5)
    torch.rand(3, generator=g)
    state = g.get_state()
    assert state.dtype == torch.uint8 and state.dim() == 1
    a = torch.rand(4, generator=g).tolist()
    g.set_state(state)
    assert torch.rand(4, generator=g).tolist() == a
    twin = g.clone_state()
    assert torch.rand(4, generator=g).tolist() == torch.rand(4, generator=twin).tolist()
    assert g.seed() == g.initial_seed()
    with pytest.raises(TypeError):
        g.set_state([1, 2])
    with pytest.raises(TypeError):
        g.set_state(state.float() if hasattr(state, "float") else torch.ones(3))
    with pytest.raises(RuntimeError):
        g.set_state(state[1:])
    with pytest.raises(RuntimeError):
        g.manual_seed(2**70)
    assert g.manual_seed(-1).initial_seed() == 2**64 - 1


def test_fork_rng():
    torch.manual_seed(1)
    a = torch.rand(2).tolist()
    torch.manual_seed(1)
    with torch.random.fork_rng():
        torch.rand(100)
    assert torch.rand(2).tolist() == a
    with torch.random.fork_rng(enabled=False):
        torch.rand(1)


def test_gradcheck_is_a_function_however_it_was_imported():
    program = (
        "import rushlight as torch\n"
        "{}\n"
        "x = torch.ones(2, dtype=torch.float64, requires_grad=True)\n"
        "assert torch.autograd.gradcheck(torch.exp, x) and torch.autograd.gradcheck(torch.exp, x)\n"
        "from rushlight.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck\n"
        "assert gradcheck(torch.exp, x) and gradgradcheck(torch.exp, x)\n"
    )
    for first in ("", "from rushlight.autograd.gradcheck import GradcheckError", "import rushlight.autograd.gradcheck"):
        run = subprocess.run([sys.executable, "-c", program.format(first)], capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 0, run.stderr
