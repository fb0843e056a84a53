"""``save`` and ``load`` in torch's file format, which torch reads and writes too.

A file holds a pickle, which is a program. Here it is never run as one: a machine of our own builds
tensors, containers, numbers and text from it and refuses everything else by name. That is what
torch calls ``weights_only``, and it is the only way there is.
"""

import collections
import contextlib
import io
import os
import pickle
import types

from . import _C, _utils
from ._C import Tensor, UntypedStorage
from ._size import Size
from .storage import TypedStorage

DEFAULT_PROTOCOL = 2


class _Pickler(pickle._Pickler):
    """Names what is ours as torch names it, and keeps the memory of tensors out of the pickle."""

    dispatch = dict(pickle._Pickler.dispatch)

    def __init__(self, file, protocol):
        super().__init__(file, protocol)
        #: By address: the key, the storage, and the dtype it is read as.
        self.storages = {}

    def persistent_id(self, obj):
        if isinstance(obj, TypedStorage):
            return self._storage(obj.untyped(), obj.dtype)
        if isinstance(obj, UntypedStorage):
            return self._storage(obj, None)
        return None

    def _storage(self, storage, dtype):
        key, _, known = self.storages.setdefault(storage._cdata, (str(len(self.storages)), storage, dtype))
        if known is not dtype:
            raise RuntimeError(
                f"save: one memory is read both as {known or 'bytes'} and as {dtype or 'bytes'}; clone one of the tensors"
            )
        width = 1 if dtype is None else dtype.itemsize
        return ("storage", _StorageClass(dtype), key, "cpu", storage.nbytes() // width)

    def reducer_override(self, obj):
        if type(obj) is Tensor:
            return self._tensor(obj)
        if isinstance(obj, (_Global, _StorageClass)):
            return obj.name
        return NotImplemented

    def _tensor(self, t):
        if t.device.type == "meta":
            raise NotImplementedError("save: a tensor on the meta device has no elements")
        place = (t.storage_offset(), tuple(t.size()), t.stride(), t.requires_grad, collections.OrderedDict())
        if _C._storage_name(t.dtype) is None:
            return _Global("torch._utils", "_rebuild_tensor_v3"), (t.untyped_storage(), *place, t.dtype)
        storage = TypedStorage(wrap_storage=t.untyped_storage(), dtype=t.dtype)
        return _utils._rebuild_tensor_v2, (storage, *place)

    def save_global(self, obj, name=None):
        module, name = _named(obj, name)
        if module is None:
            return super().save_global(obj, name)
        self.write(pickle.GLOBAL + f"{module}\n{name}\n".encode())
        self.memoize(obj)

    def save_size(self, obj):
        """torch writes the call ``Size((2, 3))``."""
        self.save_reduce(Size, (tuple(obj),), obj=obj)

    dispatch[types.FunctionType] = save_global
    dispatch[Size] = save_size


class _StorageClass:
    """Stands for torch's class of storages of a dtype."""

    def __init__(self, dtype):
        self.name = "UntypedStorage" if dtype is None else _C._storage_name(dtype)
        if self.name is None:
            raise NotImplementedError(f"save: torch's format has no storage of {dtype}; save a tensor")


class _Global:
    """Stands for a function of torch's."""

    def __init__(self, module, name):
        self.module, self.name = module, name

    def __call__(self):
        raise TypeError("stands for a function in a file")


def _named(obj, name):
    """torch's module and name for what is ours; no module for what is not."""
    if isinstance(obj, _Global):
        return obj.module, obj.name
    if isinstance(obj, _StorageClass):
        return ("torch.storage" if obj.name == "UntypedStorage" else "torch"), obj.name
    if isinstance(obj, _C.dtype):
        return "torch", str(obj).split(".")[1]
    if obj is Size or obj is _C.device:
        return "torch", obj.__name__
    module = getattr(obj, "__module__", None) or ""
    if module == "rushlight" or module.startswith("rushlight."):
        return "torch" + module[len("rushlight") :], name or obj.__qualname__
    return None, name


def save(obj, f, pickle_module=None, pickle_protocol=DEFAULT_PROTOCOL, _use_new_zipfile_serialization=True, _disable_byteorder_record=False):
    """Writes an object to a file: a path, or anything with ``write``. Tensors that share memory still do
    after ``load``, and the whole memory under a view is written. A path's file is replaced at once and only
    when all went well.

    >>> import io, rushlight
    >>> buffer = io.BytesIO()
    >>> rushlight.save({"step": 3, "weight": rushlight.ones(2)}, buffer)
    >>> rushlight.load(io.BytesIO(buffer.getvalue()))
    {'step': 3, 'weight': tensor([1., 1.])}
    """
    if not isinstance(f, (str, os.PathLike)) and not hasattr(f, "write"):
        raise AttributeError(f"save: expected a path or an object with write(), not {type(f).__name__}")
    data = io.BytesIO()
    # Later protocols name things in ways that torch's own careful reader does not know.
    pickler = _Pickler(data, min(pickle_protocol, 2))
    pickler.dump(obj)
    storages = [(key, storage) for key, storage, _ in pickler.storages.values()]
    path = os.fspath(f) if isinstance(f, (str, os.PathLike)) else None
    packed = _C._pt_save(path, data.getvalue(), storages)
    if path is None:
        f.write(packed)


def load(f, map_location=None, pickle_module=None, *, weights_only=None, mmap=None, **pickle_load_args):
    """What ``save``, or torch's, wrote: from a path, or anything with ``read``.

    Only tensors, containers, numbers and text are ever built; a file that names anything else raises
    ``pickle.UnpicklingError`` saying what, whatever ``weights_only`` is. Tensors come to the cpu wherever
    they were. With ``mmap=True`` they use the file's pages, copy on write, and nothing is read before it is
    needed.
    """
    device = _location(map_location)
    if isinstance(f, (str, os.PathLike)):
        source = os.fspath(f)
        if not os.path.exists(source):
            raise FileNotFoundError(2, "No such file or directory", source)
        if os.path.isdir(source):
            raise IsADirectoryError(21, "Is a directory", source)
    elif hasattr(f, "read"):
        if mmap:
            raise ValueError("load: mmap=True maps a file by its path; f has none")
        source = bytes(f.read())
        if not source:
            raise EOFError("load: there is nothing to read")
    else:
        raise AttributeError(f"load: expected a path or an object with read(), not {type(f).__name__}")
    try:
        nodes, root = _C._pt_load(source, bool(mmap))
    except (OSError, RuntimeError) as error:
        if " names " in str(error) or "calls " in str(error):
            raise pickle.UnpicklingError(str(error)) from None
        raise RuntimeError(str(error)) from None
    try:
        return _assemble(nodes, root, device)
    except (TypeError, ValueError) as error:
        raise RuntimeError(f"load: the file is damaged: {error}") from None


def _location(map_location):
    """The device asked for; functions and tables of devices lead to the cpu."""
    if map_location is None or callable(map_location) or isinstance(map_location, dict):
        return None
    device = _C.device(map_location)
    if device.type not in ("cpu", "meta"):
        raise RuntimeError(f"load: there is no device {device} here; use map_location='cpu'")
    return device if device.type == "meta" else None


_CLASSES = {c.__name__: c for c in (list, dict, set, tuple, int, float, str, bool, bytes)}


def _assemble(nodes, root, device):
    """Puts the nodes of a file together. What a value holds stands before it, but for lists, dictionaries and
    sets, which are filled when all are there."""
    made = [None] * len(nodes)
    for i, (kind, *rest) in enumerate(nodes):
        made[i] = _make(kind, rest, made, device)
    for i, (kind, *rest) in enumerate(nodes):
        if kind == "list":
            made[i].extend(made[k] for k in rest[0])
        elif kind == "set":
            made[i].update(made[k] for k in rest[0])
        elif kind in ("dict", "OrderedDict", "Counter", "defaultdict"):
            _, items, attributes = rest
            for key, value in items:
                made[i][made[key]] = made[value]
            if attributes is not None:
                made[i].__dict__.update({made[key]: made[value] for key, value in nodes[attributes][2]})
    return made[root]


def _make(kind, rest, made, device):
    """One value; lists, dictionaries and sets still empty."""
    if kind == "value":
        value = rest[0]
        return value.to(device) if device is not None and isinstance(value, Tensor) else value
    if kind == "tuple" or kind == "frozenset":
        return (tuple if kind == "tuple" else frozenset)(made[k] for k in rest[0])
    if kind in ("list", "set", "dict"):
        return {"list": list, "set": set, "dict": dict}[kind]()
    if kind in ("OrderedDict", "Counter"):
        return getattr(collections, kind)()
    if kind == "defaultdict":
        return collections.defaultdict(_CLASSES.get(rest[0]))
    if kind == "parameter":
        from .nn import Parameter

        return Parameter(made[rest[0]].detach(), rest[1])
    if kind == "storage":
        storage, dtype, _ = rest
        return storage if dtype is None else TypedStorage(wrap_storage=storage, dtype=dtype)
    if kind == "size":
        return Size(rest[0])
    if kind == "device":
        return _C.device(rest[0])
    if kind == "class":
        return _CLASSES.get(rest[0])
    import numpy

    code, big = rest[0], rest[1]
    dtype = numpy.dtype((">" if big else "<") + code)
    if kind == "dtype":
        return dtype
    _, _, shape, fortran, data = rest
    if shape is None:
        return numpy.frombuffer(data, dtype, 1)[0]
    return numpy.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C").copy()


def add_safe_globals(safe_globals):
    """Accepted for torch's sake: classes of programs are not built, whoever calls them safe."""


def clear_safe_globals():
    """There are none."""


def get_safe_globals():
    """There are none."""
    return []


@contextlib.contextmanager
def safe_globals(safe_globals):
    """As ``add_safe_globals``."""
    yield
