"""What is accepted of torch and does nothing, and what says that it is absent."""

import multiprocessing
import os
import warnings

import pytest
import rushlight as torch


def test_nothing_is_compiled_and_one_note_says_so():
    def f(x):
        return x + 1

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert torch.jit.script(f) is f and torch.jit.trace(f, (1,)) is f
        assert torch.jit.script(f) is f and torch.jit.trace(f, (1,)) is f
    assert len(seen) <= 2
    assert torch.jit.ignore(f) is f and torch.jit.ignore(drop=True)(f) is f and torch.jit.export(f) is f
    assert not torch.jit.is_scripting() and not torch.compiler.is_compiling()
    assert issubclass(torch.jit.ScriptModule, torch.nn.Module)
    assert not issubclass(torch.nn.Linear, torch.jit.ScriptModule)
    assert torch.jit.isinstance([1], list[int]) and not torch.jit.isinstance(3, str)
    assert torch.compile(f) is f and torch.compile(mode="reduce-overhead")(f) is f and torch.compiler.disable(f) is f


def test_there_are_no_other_devices_and_processes():
    assert not torch.cuda.is_available() and torch.cuda.device_count() == 0 and torch.cuda.memory_allocated() == 0
    assert not torch.distributed.is_available() and not torch.distributed.is_initialized()
    for call in (torch.cuda.Event, torch.cuda.Stream, torch.cuda.synchronize, lambda: torch.cuda.device(0)):
        with pytest.raises(RuntimeError, match="CUDA"):
            call()
    with torch.cuda.device(-1), torch.cuda.stream(None):
        pass
    with pytest.raises(RuntimeError, match="one process"):
        torch.distributed.init_process_group("nccl")
    with pytest.raises(ValueError, match="not been initialized"):
        torch.distributed.get_rank()
    with pytest.raises(RuntimeError, match="downloads"):
        torch.hub.load("a/b", "c")
    with pytest.raises(AttributeError, match="graphs"):
        torch.fx


def test_flags_are_kept():
    cudnn = torch.backends.cudnn
    before = cudnn.benchmark
    with cudnn.flags(benchmark=not before):
        assert cudnn.benchmark is not before
    assert cudnn.benchmark is before


def test_the_profiler_measures_nothing_and_says_so():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as p:
            with torch.profiler.record_function("part"), torch.autograd.profiler.record_function("other"):
                torch.ones(2) + 1
            p.step()
    assert "nothing was measured" in p.key_averages().table(sort_by="cpu_time_total")
    with pytest.raises(RuntimeError, match="measured nothing"):
        p.export_chrome_trace("x")


def _work(index, path, fail):
    if index == fail:
        raise ValueError("on purpose")
    with open(os.path.join(path, str(index)), "w") as f:
        f.write(str(torch.ones(2).sum().item()))


def test_processes_are_spawned_and_their_errors_come_back(tmp_path):
    how = "fork" if "fork" in multiprocessing.get_all_start_methods() else "spawn"
    torch.multiprocessing.start_processes(_work, (str(tmp_path), None), nprocs=2, start_method=how)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["0", "1"]
    with pytest.raises(Exception, match="on purpose"):
        torch.multiprocessing.start_processes(_work, (str(tmp_path), 1), nprocs=2, start_method=how)
