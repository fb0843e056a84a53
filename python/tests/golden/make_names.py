"""Writes names.json: the public names that torch has in each place. Needs torch."""

import json
import pathlib

import torch

PLACES = {
    "torch": torch,
    "torch.Tensor": torch.Tensor,
    "torch.nn.functional": torch.nn.functional,
    "torch.linalg": torch.linalg,
    "torch.special": torch.special,
}

if __name__ == "__main__":
    names = {place: sorted(n for n in dir(thing) if not n.startswith("_")) for place, thing in PLACES.items()}
    path = pathlib.Path(__file__).with_name("names.json")
    path.write_text(json.dumps({"torch": torch.__version__, "names": names}, indent=0) + "\n")
