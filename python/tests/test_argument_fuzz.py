"""No argument of any public function may end the process, panic, or hang."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CALLS = int(os.environ.get("RUSHLIGHT_FUZZ_CALLS", "60000"))


@pytest.mark.parametrize("seed", [1, int.from_bytes(os.urandom(3), "little")], ids=["fixed", "new"])
def test_random_arguments(seed, tmp_path):
    script, trail = Path(__file__).with_name("argument_fuzz.py"), tmp_path / "trail"
    run = subprocess.run([sys.executable, script, str(CALLS), str(seed), trail], stderr=subprocess.PIPE, text=True, timeout=1800)
    last = trail.read_text(errors="replace") if trail.exists() else "no call was made"
    assert run.returncode == 0, f"seed {seed}, exit status {run.returncode}, at {last}\n{run.stderr[-2000:]}"
    functions, worked = (int(word) for word in run.stderr.split() if word.isdigit())
    assert functions > 900 and worked > 400, run.stderr
