"""How samples become a batch."""

import collections.abc
import copy
import sys

from ...._C import Tensor

__all__ = ["collate", "default_collate", "default_convert", "default_collate_fn_map"]


def _is_numpy(x, name):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(x, getattr(numpy, name))


def _check_numbers(dtype):
    if dtype.kind in "SUOV":
        raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found an array of {dtype}")


def _rebuilt(old, entries):
    """A mapping like ``old`` with these entries; a plain dict where its class cannot be copied or filled."""
    try:
        if isinstance(old, collections.abc.MutableMapping):
            new = copy.copy(old)
            new.update(entries)
            return new
        return type(old)(entries)
    except TypeError:
        return dict(entries)


def _relisted(old, entries):
    try:
        if isinstance(old, collections.abc.MutableSequence):
            new = copy.copy(old)
            for i, x in enumerate(entries):
                new[i] = x
            return new
        return type(old)(entries)
    except TypeError:
        return list(entries)


def _is_named_tuple(x):
    return isinstance(x, tuple) and hasattr(x, "_fields")


def default_convert(data):
    """NumPy arrays and numbers in ``data`` as tensors; all else stays."""
    import rushlight

    if isinstance(data, Tensor):
        return data
    if _is_numpy(data, "ndarray") or _is_numpy(data, "generic"):
        return data if data.dtype.kind in "SUOV" else rushlight.as_tensor(data)
    if isinstance(data, collections.abc.Mapping):
        return _rebuilt(data, {key: default_convert(data[key]) for key in data})
    if _is_named_tuple(data):
        return type(data)(*(default_convert(d) for d in data))
    if isinstance(data, tuple):
        return [default_convert(d) for d in data]
    if isinstance(data, collections.abc.Sequence) and not isinstance(data, (str, bytes)):
        return _relisted(data, [default_convert(d) for d in data])
    return data


def collate(batch, *, collate_fn_map=None):
    """A batch of samples: by the function that ``collate_fn_map`` has for their class, else part by part.

    Mappings and sequences are taken apart. TypeError: something that has no function and no parts.
    """
    first = batch[0]
    kind = type(first)
    if collate_fn_map is not None:
        if kind in collate_fn_map:
            return collate_fn_map[kind](batch, collate_fn_map=collate_fn_map)
        for known in collate_fn_map:
            if isinstance(first, known):
                return collate_fn_map[known](batch, collate_fn_map=collate_fn_map)

    def part(samples):
        return collate(samples, collate_fn_map=collate_fn_map)

    if isinstance(first, collections.abc.Mapping):
        return _rebuilt(first, {key: part([sample[key] for sample in batch]) for key in first})
    if _is_named_tuple(first):
        return kind(*(part(samples) for samples in zip(*batch)))
    if isinstance(first, collections.abc.Sequence):
        sizes = {len(sample) for sample in batch}
        if len(sizes) > 1:
            raise RuntimeError(f"each element in list of batch should be of equal size, not {sorted(sizes)}")
        columns = [part(samples) for samples in zip(*batch)]
        return columns if isinstance(first, tuple) else _relisted(first, columns)
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {kind}")


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Tensors stacked."""
    import rushlight

    return rushlight.stack(batch, 0)


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    """Arrays as tensors, stacked."""
    import rushlight

    _check_numbers(batch[0].dtype)
    return collate([rushlight.as_tensor(b) for b in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    """NumPy's numbers as a tensor."""
    import rushlight

    _check_numbers(batch[0].dtype)
    return rushlight.as_tensor(batch)


def collate_float_fn(batch, *, collate_fn_map=None):
    """Floats as a tensor of float64."""
    import rushlight

    return rushlight.tensor(batch, dtype=rushlight.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """Integers as a tensor."""
    import rushlight

    return rushlight.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    """Texts as the list they are."""
    return batch


class _Functions(dict):
    """The functions by class; those of NumPy's classes are added when NumPy has been imported."""

    def known(self):
        numpy = sys.modules.get("numpy")
        if numpy is not None and numpy.ndarray not in self:
            self[numpy.ndarray] = collate_numpy_array_fn
            for kind in (numpy.bool_, numpy.number, numpy.object_):
                self[kind] = collate_numpy_scalar_fn
        return self


#: The functions that ``default_collate`` uses, by class; programs may add theirs.
default_collate_fn_map = _Functions({
    Tensor: collate_tensor_fn, float: collate_float_fn, int: collate_int_fn, str: collate_str_fn, bytes: collate_str_fn
})  # fmt: skip


def default_collate(batch):
    """A batch of samples: tensors are stacked, numbers become tensors, texts lists; dicts and lists are taken apart."""
    return collate(batch, collate_fn_map=default_collate_fn_map.known())
