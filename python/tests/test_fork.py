"""A process that forks while the threads of the pool are awake."""

import os
import signal
import time

import pytest
import rushlight as torch


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_process_computes():
    x = torch.ones(1 << 18)
    for _ in range(100):
        x.add_(1)
        child = os.fork()
        if child == 0:
            os._exit(0 if x.mul(2).sum().item() > 0 else 1)
        end = time.monotonic() + 20
        while (done := os.waitpid(child, os.WNOHANG))[0] == 0:
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                pytest.fail("the child hangs")
            time.sleep(0.001)
        assert done[1] == 0
