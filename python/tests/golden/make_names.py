"""Writes names.json: the public names that torch has in each place. Needs torch."""

import importlib
import json
import pathlib
import types

import torch

#: Modules, and one class.
PLACES = """torch torch.Tensor torch.nn.functional torch.linalg torch.fft torch.special torch.signal.windows
    torch.autograd torch.autograd.functional torch.func torch.nn torch.nn.init torch.nn.utils
    torch.nn.utils.rnn torch.nn.utils.parametrize torch.optim torch.optim.lr_scheduler torch.optim.swa_utils
    torch.utils.data torch.distributions""".split()


def place(path):
    """What stands under a path."""
    return torch.Tensor if path == "torch.Tensor" else importlib.import_module(path)


if __name__ == "__main__":
    names, modules = {}, {}
    for path in PLACES:
        thing = place(path)
        public = sorted(n for n in dir(thing) if not n.startswith("_"))
        names[path] = public
        # What was imported there for its own use is none of its names.
        own = set(getattr(thing, "__all__", public)) if path.count(".") and path != "torch.Tensor" else set(public)
        modules[path] = [n for n in public if n not in own or isinstance(getattr(thing, n), types.ModuleType)]
    path = pathlib.Path(__file__).with_name("names.json")
    found = {"torch": torch.__version__, "names": names, "not counted": modules}
    path.write_text(json.dumps(found, indent=0) + "\n")
