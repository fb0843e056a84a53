"""One number for each dimension, and other small tools of modules."""

from itertools import repeat

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n, name="parse"):
    def parse(x):
        return tuple(x) if hasattr(x, "__iter__") else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single, _pair, _triple, _quadruple = _ntuple(1, "_single"), _ntuple(2, "_pair"), _ntuple(3, "_triple"), _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t, n):
    """Each element ``n`` times, the last first: paddings of dimensions as ``pad`` takes them."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size, defaults):
    """Sizes, where None stands for the default at the same place from the end."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"sizes: {list(out_size)} are more than the input of shape {list(defaults)} has")
    return [d if v is None else v for v, d in zip(out_size, defaults[-len(out_size) :])]


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Takes ``prefix`` off the keys that begin so, in place; the order of keys stays."""
    for key in list(state_dict):
        value = state_dict.pop(key)
        state_dict[key.removeprefix(prefix)] = value
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is None:
        return
    for key in list(metadata):
        if not key:
            continue
        value = metadata.pop(key)
        bare = prefix.rstrip(".")
        if key == bare:
            metadata[""] = value
        else:
            metadata[key.removeprefix(prefix)] = value


def _parse_to(name, args, kwargs):
    """The arguments of ``to``: device, dtype, non_blocking and memory_format, None where not said."""
    from ..._C import Tensor, device, dtype, memory_format

    found = {"device": None, "dtype": None, "non_blocking": False, "memory_format": None}
    rest = dict(kwargs)
    if "tensor" in rest or "other" in rest:
        args = (rest.pop("tensor", None) if "tensor" in rest else rest.pop("other"), *args)
    extra = [k for k in rest if k not in (*found, "copy")]
    if extra or len(args) > 4:
        raise TypeError(f"{name}: there is no argument called {extra[0]!r}" if extra else f"{name}: takes at most 4 arguments")
    flags = ["non_blocking", "copy"]
    for x in args:
        if isinstance(x, Tensor):
            found["device"], found["dtype"] = x.device, x.dtype
        elif isinstance(x, dtype):
            found["dtype"] = x
        elif isinstance(x, bool) and flags:
            found[flags.pop(0)] = x
        elif isinstance(x, str):
            found["device"] = device(x)
        elif isinstance(x, int):
            found["device"] = device("cuda", x)
        elif isinstance(x, device):
            found["device"] = x
        elif isinstance(x, memory_format):
            found["memory_format"] = x
        elif x is not None:
            raise TypeError(f"{name}: takes a device, a dtype or a tensor, not {type(x).__name__}")
    found.update({k: v for k, v in rest.items() if v is not None})
    if isinstance(found["device"], str):
        found["device"] = device(found["device"])
    elif isinstance(found["device"], int):
        found["device"] = device("cuda", found["device"])
    return found["device"], found["dtype"], found["non_blocking"], found["memory_format"]
