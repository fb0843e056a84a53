"""Stubs and the coverage page are what their generators write; mypy accepts a program."""

import pathlib
import sys

import pytest

PYTHON = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(PYTHON / "tools"))


def test_stubs_are_current(capsys):
    import stubs

    assert stubs.main(["--check"]) == 0, capsys.readouterr().out


def test_the_coverage_page_is_current(capsys):
    import coverage_page

    assert coverage_page.main(["--check"]) == 0, capsys.readouterr().out


def test_a_typed_program_passes_mypy(tmp_path, monkeypatch):
    api = pytest.importorskip("mypy.api")
    monkeypatch.setenv("MYPYPATH", str(PYTHON))
    sample = PYTHON / "tests" / "typed_sample.py"
    out, err, status = api.run(["--strict", "--cache-dir", str(tmp_path), str(sample)])
    assert status == 0, out + err


def test_mypy_sees_what_is_wrong(tmp_path, monkeypatch):
    api = pytest.importorskip("mypy.api")
    monkeypatch.setenv("MYPYPATH", str(PYTHON))
    program = tmp_path / "wrong.py"
    program.write_text(
        "import rushlight as torch\n"
        "x: int = torch.ones(2).shape\n"
        "torch.zeros('a')\n"
        "torch.ones(2).sum(dim='a')\n"
        "torch.ones(2).no_such_method()\n"
        "torch.nn.functional.relu(3)\n"
    )
    out, _, status = api.run(["--strict", "--cache-dir", str(tmp_path), str(program)])
    lines = {line.split(":")[1] for line in out.splitlines() if ": error:" in line}
    assert status == 1 and lines == {"2", "3", "4", "5", "6"}, out


def test_the_sample_runs():
    import runpy

    runpy.run_path(str(PYTHON / "tests" / "typed_sample.py"), run_name="__main__")
