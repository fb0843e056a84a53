"""Writes the files of torch's formats that the tests read. Needs torch."""

import pathlib

import torch

HERE = pathlib.Path(__file__).parent

if __name__ == "__main__":
    weight = torch.nn.Parameter(torch.arange(12.0).reshape(3, 4))
    value = {
        "model": {"weight": weight, "part": weight.detach()[1:, ::2], "turned": weight.detach().t()},
        "steps": [torch.tensor([7, -1]), torch.tensor(1.5, dtype=torch.bfloat16)],
        "scale": torch.tensor([1 - 2j], dtype=torch.complex64),
        "epoch": 3,
        "note": ("text", None, {1, 2}, b"bytes", 2**70),
    }
    torch.save(value, HERE / "zip.pt")
    torch.save(value, HERE / "legacy.pt", _use_new_zipfile_serialization=False)
