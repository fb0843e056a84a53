"""The memory under tensors: ``UntypedStorage`` in bytes, ``TypedStorage`` in elements."""

from . import _C
from ._C import Tensor, UntypedStorage


def _meta(nbytes):
    return _C._meta_storage(nbytes)


class TypedStorage:
    """A storage seen as elements of one dtype: a number of them, or those of a sequence."""

    dtype = None

    def __init__(self, *args, wrap_storage=None, dtype=None, device=None, _internal=False):
        fixed = type(self).dtype
        if dtype is None:
            dtype = _C.tensor(()).dtype if fixed is None else fixed
        elif fixed is not None and dtype is not fixed:
            raise RuntimeError(f"{type(self).__name__}: holds {fixed}, not {dtype}")
        self.dtype = dtype
        if wrap_storage is not None:
            if args:
                raise RuntimeError("TypedStorage: takes wrap_storage or data, not both")
            if not isinstance(wrap_storage, UntypedStorage):
                raise TypeError(f"TypedStorage: wrap_storage must be an UntypedStorage, not {type(wrap_storage).__name__}")
            self._untyped_storage = wrap_storage
        elif not args:
            self._untyped_storage = UntypedStorage(device=device)
        elif len(args) > 1:
            raise TypeError("TypedStorage: takes a size or a sequence")
        elif isinstance(args[0], int):
            self._untyped_storage = UntypedStorage(args[0] * dtype.itemsize, device=device)
        else:
            self._untyped_storage = _C.tensor(args[0], dtype=dtype, device=device).untyped_storage()

    def _tensor(self):
        n = len(self)
        return _C._from_storage(self._untyped_storage, 0, [n], [1], self.dtype)

    def untyped(self):
        """The same memory in bytes."""
        return self._untyped_storage

    @property
    def _cdata(self):
        return self._untyped_storage._cdata

    @property
    def device(self):
        return self._untyped_storage.device

    @property
    def is_cuda(self):
        return self._untyped_storage.is_cuda

    def size(self):
        """The number of elements."""
        return len(self)

    def __len__(self):
        return self._untyped_storage.nbytes() // self.dtype.itemsize

    def nbytes(self):
        return self._untyped_storage.nbytes()

    def element_size(self):
        return self.dtype.itemsize

    def data_ptr(self):
        return self._untyped_storage.data_ptr()

    def resizable(self):
        return self._untyped_storage.resizable()

    def is_shared(self):
        return False

    def is_pinned(self):
        return False

    def resize_(self, size):
        self._untyped_storage.resize_(size * self.dtype.itemsize)

    def _index(self, key):
        if isinstance(key, slice):
            raise RuntimeError("TypedStorage: slices are for UntypedStorage; a tensor over the storage has them too")
        if not isinstance(key, int):
            raise RuntimeError(f"TypedStorage: a {type(key).__name__} is no index")
        if not -len(self) <= key < len(self):
            raise IndexError(f"TypedStorage: index {key} is out of range for {len(self)} elements")
        return key

    def __getitem__(self, key):
        return self._tensor()[self._index(key)].item()

    def __setitem__(self, key, value):
        self._tensor()[key if isinstance(key, slice) else self._index(key)] = value

    def __iter__(self):
        return iter(self.tolist())

    def tolist(self):
        """The elements as Python numbers."""
        return self._tensor().tolist()

    def fill_(self, value):
        self._tensor()[...] = value
        return self

    def copy_(self, source, non_blocking=None):
        """Takes over the elements of ``source``, converted; it must have as many."""
        if len(source) != len(self):
            raise RuntimeError(f"copy_: the source has {len(source)} elements, the storage {len(self)}")
        self._tensor()[...] = source._tensor()
        return self

    def clone(self):
        return self._wrap(self._untyped_storage.clone())

    def _wrap(self, untyped):
        return TypedStorage(wrap_storage=untyped, dtype=self.dtype)

    def cpu(self):
        return self

    def _to(self, dtype):
        if dtype is self.dtype:
            return self
        return TypedStorage(wrap_storage=self._tensor().to(dtype).untyped_storage(), dtype=dtype)

    def type(self):
        return f"torch.{self.pickle_storage_type()}"

    def pickle_storage_type(self):
        for name, dtype in _names().items():
            if dtype is self.dtype:
                return name
        raise KeyError(self.dtype)

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__

    def __copy__(self):
        return self.clone()

    def __deepcopy__(self, memo):
        import copy

        return self._wrap(copy.deepcopy(self._untyped_storage, memo))

    def __reduce__(self):
        return _typed, (self._untyped_storage, self.dtype)

    def __repr__(self):
        text = "..." if self.device.type == "meta" else "\n ".join(map(str, self))
        return f" {text}\n[torch.storage.TypedStorage(dtype={self.dtype}, device={self.device}) of size {len(self)}]"


def _typed(untyped, dtype):
    return TypedStorage(wrap_storage=untyped, dtype=dtype)


def _names():
    return {name: cls.dtype for name, cls in globals().items() if name.endswith("Storage") and getattr(cls, "dtype", None)}


for _prefix, _dtype in {
    "Double": _C.float64,
    "Float": _C.float32,
    "Half": _C.float16,
    "BFloat16": _C.bfloat16,
    "Long": _C.int64,
    "Int": _C.int32,
    "Short": _C.int16,
    "Char": _C.int8,
    "Byte": _C.uint8,
    "Bool": _C.bool,
    "ComplexFloat": _C.complex64,
    "ComplexDouble": _C.complex128,
}.items():
    _name = _prefix + "Storage"
    globals()[_name] = type(_name, (TypedStorage,), {"dtype": _dtype, "__doc__": f"A storage of {_dtype}."})


def _cast(dtype):
    return lambda self: self._to(dtype)


for _name, _dtype in {
    "double": _C.float64,
    "float": _C.float32,
    "half": _C.float16,
    "bfloat16": _C.bfloat16,
    "long": _C.int64,
    "int": _C.int32,
    "short": _C.int16,
    "char": _C.int8,
    "byte": _C.uint8,
    "bool": _C.bool,
}.items():
    setattr(TypedStorage, _name, _cast(_dtype))
    setattr(UntypedStorage, _name, lambda self, _dtype=_dtype: _typed(self, _C.uint8)._to(_dtype))

UntypedStorage.type = lambda self: "torch.storage.UntypedStorage"


def _storage(self):
    """The storage underneath, in elements of this tensor's dtype."""
    return TypedStorage(wrap_storage=self.untyped_storage(), dtype=self.dtype)


Tensor.storage = Tensor._typed_storage = _storage
