"""``python -m rushlight``, or ``rushlight``: runs a program that was written for torch, or looks into files."""

import runpy
import sys

HELP = """\
Runs a Python program in which `torch` is rushlight, or looks into files of tensors.

Usage: python -m rushlight inspect FILE [--json]
       python -m rushlight convert IN OUT
       python -m rushlight SCRIPT [ARGUMENT ...]
       python -m rushlight -m MODULE [ARGUMENT ...]
       python -m rushlight -c CODE [ARGUMENT ...]

`inspect --help` and `convert --help` say more. A script of one of these names is
run as ./inspect. Installed, `rushlight` is short for `python -m rushlight`.

In a program that is run so `import torch`, `import torch.nn.functional as F` and the like
give rushlight. What rushlight does not have raises an error that names it. A
torch that is installed is not imported, and no other process is affected.

  -m MODULE   Run a module as a program, as `python -m MODULE` does.
  -c CODE     Run a piece of code: python -m rushlight -c "import torch; print(torch.arange(3))"
  --version   Print rushlight's version.
  -h, --help  Print this text.

To do the same from code, call this before torch is first imported:

  import rushlight
  rushlight.as_torch()

A new program needs neither: `import rushlight as torch`.
"""


def refuse(why):
    """Says what is wrong with the command line."""
    sys.stderr.write(f"rushlight: {why}\n\n{HELP}")
    return 2


def main(arguments):
    """Runs what the command line asks for."""
    if not arguments:
        return refuse("no script given")
    first, rest = arguments[0], arguments[1:]
    if first in ("-h", "--help"):
        sys.stdout.write(HELP)
        return 0
    import rushlight

    if first == "--version":
        print(f"rushlight {rushlight.__version__}")
        return 0
    if first in ("-m", "-c") and not rest:
        return refuse(f"{first} needs {'a module' if first == '-m' else 'code'}")
    if first.startswith("-") and first not in ("-m", "-c"):
        return refuse(f"there is no option {first}")
    if first in ("inspect", "convert"):
        from rushlight import _tool

        return getattr(_tool, first)(rest)
    rushlight.as_torch()
    if first == "-m":
        sys.argv = rest
        sys.path[0] = ""
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif first == "-c":
        sys.argv = ["-c", *rest[1:]]
        sys.path[0] = ""
        # Not the module's own names: the program starts with none.
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__", "__builtins__": __builtins__})
    else:
        import os

        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(first))
        if not os.path.exists(first):
            return refuse(f"there is no file {first}")
        runpy.run_path(first, run_name="__main__")
    return 0


def entry():
    """What the command `rushlight` runs."""
    return main(sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
