"""``as_torch()``: makes ``import torch`` and its submodules give rushlight, in this process.

A finder in front of all others answers for ``torch`` and ``torch.*``: with the module of the same
place here, or with an error that says what is missing. A real torch is neither imported nor touched.
"""

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys

import rushlight


def ours(name):
    """The name here of a module of torch."""
    return "rushlight" + name[len("torch") :]


def exists(name):
    """Whether there is a module of this name."""
    try:
        return name in sys.modules or importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the modules of torch here, and gives the very module that bears our name."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch" and not name.startswith("torch."):
            return None
        if not exists(ours(name)):
            # Programs try some modules and go on without them, so this is the error of a missing one.
            raise ModuleNotFoundError(
                f"{name} is not part of rushlight {rushlight.__version__}, which stands in for torch here", name=name
            )
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        module = importlib.import_module(ours(spec.name))
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module):
        # It ran under its own name. The import system has just put the spec of the other into it.
        module.__spec__ = module.__spec__.loader_state


def install():
    """Puts the finder first; twice is once."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    loaded = sys.modules.get("torch")
    if loaded is not None and loaded is not rushlight:
        raise RuntimeError("as_torch: torch has been imported already; call as_torch() first")
    sys.meta_path.insert(0, _Finder())
    sys.modules["torch"] = rushlight
