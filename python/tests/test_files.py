"""Files: torch's formats, safetensors, and the commands that look into them."""

import collections
import io
import json
import os
import pathlib
import pickle

import pytest
import rushlight as torch
from rushlight import _tool, safetensors

GOLDEN = pathlib.Path(__file__).parents[2] / "crates/rushlight-io/tests/golden"


def value():
    base = torch.arange(12.0).reshape(3, 4)
    return {
        "base": base,
        "part": base[1:, ::2],
        "turned": base.t(),
        "ints": torch.tensor([1, -2]),
        "bf16": torch.ones(2, dtype=torch.bfloat16),
        "wide": torch.tensor([1, 65535], dtype=torch.uint16),
        "complex": torch.tensor([1 - 2j]),
        "empty": torch.zeros(0, 3),
        "number": torch.tensor(3.5),
        "trained": torch.ones(2, requires_grad=True),
        "parameter": torch.nn.Parameter(torch.ones(2), requires_grad=False),
        "plain": [1, 2.5, None, True, "text", b"bytes", (1, (2,)), {1, 2}, frozenset([3]), 2**70, 1 + 2j],
        "ordered": collections.OrderedDict(a=1),
        "counter": collections.Counter("aab"),
        "default": collections.defaultdict(list, {"x": [1]}),
        "dtype": torch.float16,
        "size": torch.Size([2, 3]),
        "device": torch.device("cpu"),
    }


def same(a, b):
    if isinstance(a, torch.Tensor):
        return (
            type(a) is type(b)
            and (a.dtype, a.shape, a.stride(), a.storage_offset(), a.requires_grad)
            == (b.dtype, b.shape, b.stride(), b.storage_offset(), b.requires_grad)
            and a.tolist() == b.tolist()
        )
    return type(a) is type(b) and a == b


@pytest.mark.parametrize("protocol", [2, 4])
@pytest.mark.parametrize("mmap", [False, True])
def test_what_is_saved_is_loaded(tmp_path, protocol, mmap):
    path = tmp_path / "x.pt"
    torch.save(value(), path, pickle_protocol=protocol)
    loaded = torch.load(path, mmap=mmap)
    assert [key for key, v in value().items() if not same(v, loaded[key])] == []
    loaded["part"][0, 0] = -1
    assert loaded["base"][1, 0] == -1 and loaded["turned"][0, 1] == -1
    assert torch.load(path)["base"][1, 0] == 4, "the file stays as it was"


def test_buffers_and_lists_that_hold_themselves():
    loop = [1]
    loop.append(loop)
    buffer = io.BytesIO()
    torch.save(loop, buffer)
    loaded = torch.load(io.BytesIO(buffer.getvalue()))
    assert loaded[1] is loaded


def test_the_metadata_of_a_state_dict_survives(tmp_path):
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    torch.save(model.state_dict(), tmp_path / "x.pt")
    state = torch.load(tmp_path / "x.pt")
    assert state._metadata == model.state_dict()._metadata
    other = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
    other.load_state_dict(state)
    x = torch.ones(4, 2)
    assert model(x).tolist() == other(x).tolist()


@pytest.mark.parametrize("name", ["zip.pt", "legacy.pt"])
def test_torchs_own_files(name):
    loaded = torch.load(GOLDEN / name)
    assert isinstance(loaded["model"]["weight"], torch.nn.Parameter) and loaded["epoch"] == 3
    assert loaded["note"] == ("text", None, {1, 2}, b"bytes", 2**70)
    assert loaded["model"]["part"].tolist() == [[4, 6], [8, 10]]


class Evil:
    def __reduce__(self):
        return os.system, ("echo this must never be seen",)


@pytest.mark.parametrize("careful", [None, True, False])
def test_nothing_of_a_file_is_run(tmp_path, capfd, careful):
    torch.save({"x": Evil()}, tmp_path / "x.pt")
    with pytest.raises(pickle.UnpicklingError, match="system"):
        torch.load(tmp_path / "x.pt", weights_only=careful)
    assert capfd.readouterr().out == ""


def test_errors_say_what_is_wrong(tmp_path):
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "nothing.pt")
    with pytest.raises(EOFError):
        torch.load(io.BytesIO())
    with pytest.raises(RuntimeError, match="neither"):
        torch.load(io.BytesIO(b"hello"))
    with pytest.raises(RuntimeError, match="map_location"):
        torch.load(GOLDEN / "zip.pt", map_location="cuda")
    x = torch.ones(4)
    with pytest.raises(RuntimeError, match="clone"):
        torch.save([x, x.view(torch.int32)], tmp_path / "x.pt")
    assert list(tmp_path.iterdir()) == []
    assert torch.load(GOLDEN / "zip.pt", map_location="meta")["scale"].device.type == "meta"


def test_safetensors(tmp_path):
    path = tmp_path / "x.safetensors"
    given = {"a": torch.arange(6.0).reshape(2, 3), "b": torch.tensor([True]), "t": torch.ones(2, 3).t()}
    safetensors.save_file(given, path, {"note": "text"})
    assert {k: v.tolist() for k, v in safetensors.load_file(path).items()} == {k: v.tolist() for k, v in given.items()}
    with safetensors.safe_open(path, framework="pt") as file:
        assert file.keys() == ["a", "b", "t"] and file.metadata() == {"note": "text"}
        assert file.get_tensor("a").tolist() == given["a"].tolist()
        assert file.get_slice("a")[:, 1].tolist() == [1, 4] and file.get_slice("a").get_shape() == [2, 3]
    assert safetensors.load(safetensors.save(given))["t"].tolist() == given["t"].tolist()


def test_inspect_and_convert(tmp_path, capsys):
    assert _tool.inspect([str(GOLDEN / "zip.pt")]) == 0
    out = capsys.readouterr().out
    assert "model.weight" in out and "3x4" in out and "3 share memory" in out
    target = str(tmp_path / "x.safetensors")
    assert _tool.convert([str(GOLDEN / "legacy.pt"), target, "--quiet"]) == 0
    assert _tool.inspect([target, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == "safetensors" and len(found["tensors"]) == 6
    assert {"model.part": [2, 2], "steps.1": []}.items() <= {t["name"]: t["shape"] for t in found["tensors"]}.items()
    assert _tool.convert([target, str(tmp_path / "x.xyz")]) == 1
    assert _tool.inspect([str(tmp_path / "nothing")]) == 1
    assert "nothing" in capsys.readouterr().err
