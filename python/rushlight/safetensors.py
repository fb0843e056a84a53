"""Files in the safetensors format, under the names of the package ``safetensors`` (its ``safetensors.torch``).

Loading maps the file: tensors use its pages, copy on write, and nothing is read before it is needed.
"""

import os
import tempfile

from . import _C


def load_file(filename, device="cpu"):
    """All tensors of a file by name."""
    loaded = _C._safetensors_load(os.fspath(filename), None)
    return loaded if str(device) == "cpu" else {name: t.to(device) for name, t in loaded.items()}


def save_file(tensors, filename, metadata=None):
    """Writes tensors under their names, and ``metadata``, text by name, beside them. The file is replaced at
    once and only when all went well. Tensors over one memory are written one by one."""
    _C._safetensors_save(os.fspath(filename), dict(tensors), dict(metadata or {}))


def load(data):
    """All tensors of a file that is in memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bytes")
        with open(path, "wb") as file:
            file.write(data)
        # The mapping outlives the name.
        return load_file(path)


def save(tensors, metadata=None):
    """The bytes of a file with these tensors."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bytes")
        save_file(tensors, path, metadata)
        with open(path, "rb") as file:
            return file.read()


def save_model(model, filename, metadata=None, force_contiguous=True):
    """Writes a module's ``state_dict``; of names that stand for one tensor, each."""
    save_file(model.state_dict(), filename, metadata)


def load_model(model, filename, strict=True, device="cpu"):
    """Loads a module's ``state_dict``: (missing, unexpected) names."""
    return model.load_state_dict(load_file(filename, device), strict=strict)


class safe_open:
    """A file whose tensors are made one by one.

    >>> with safe_open("model.safetensors", framework="pt") as file:  # doctest: +SKIP
    ...     weight = file.get_tensor(file.keys()[0])
    """

    def __init__(self, filename, framework="pt", device="cpu"):
        if framework not in ("pt", "torch", "pytorch", "np", "numpy"):
            raise ValueError(f"safe_open: framework {framework!r} is neither 'pt' nor 'numpy'")
        self._path, self._numpy, self._device = os.fspath(filename), framework in ("np", "numpy"), device
        header, self._metadata = _C._safetensors_header(self._path)
        self._shapes = {name: (dtype, shape) for name, dtype, shape in header}

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return None

    def keys(self):
        """The tensors' names, in order of the alphabet."""
        return sorted(self._shapes)

    def offset_keys(self):
        """The tensors' names, in the order of their bytes."""
        return list(self._shapes)

    def metadata(self):
        """What the writer noted beside the tensors; None if nothing."""
        return self._metadata or None

    def get_tensor(self, name):
        """The tensor of that name."""
        tensor = _C._safetensors_load(self._path, [name])[name]
        return tensor.numpy() if self._numpy else tensor.to(self._device)

    def get_slice(self, name):
        """A part of a tensor, by indexing; the rest is not read."""
        return _Slice(self, name, *self._shapes[name])


class _Slice:
    """A tensor that is made when it is indexed."""

    def __init__(self, file, name, dtype, shape):
        self._file, self._name, self._dtype, self._shape = file, name, dtype, shape

    def get_shape(self):
        """Its sizes."""
        return self._shape

    def get_dtype(self):
        """Its dtype."""
        return self._dtype

    def __getitem__(self, key):
        return self._file.get_tensor(self._name)[key]
