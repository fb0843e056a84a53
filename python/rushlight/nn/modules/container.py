"""Modules that hold others, or parameters, like lists and dicts."""

import operator
from collections import OrderedDict, abc
from itertools import chain, islice

from ..._C import Tensor
from ..parameter import Parameter
from .module import Module, _addindent

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def _place(index, length, what):
    """An index from the front. IndexError: there is none."""
    index = operator.index(index)
    if not -length <= index < length:
        raise IndexError(f"{what}: index {index} is out of range for {length} entries")
    return index + length if index < 0 else index


class Container(Module):
    """A module of the modules given by name. Deprecated."""

    def __init__(self, **kwargs):
        super().__init__()
        import warnings

        warnings.warn("Container: use Module with attributes instead", FutureWarning, stacklevel=2)
        for name, module in kwargs.items():
            self.add_module(name, module)


class Sequential(Module):
    """Modules one after another: each takes what the one before gives. Takes modules, or one OrderedDict of them."""

    def __init__(self, *args):
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def forward(self, input):
        for module in self._modules.values():
            input = module(input)
        return input

    def _name_at(self, index):
        return next(islice(self._modules, _place(index, len(self), "Sequential"), None))

    def _renumber(self, modules):
        self._modules = {str(k): module for k, module in enumerate(modules)}

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._name_at(idx)]

    def __setitem__(self, idx, module):
        setattr(self, self._name_at(idx), module)

    def __delitem__(self, idx):
        names = list(self._modules)[idx] if isinstance(idx, slice) else [self._name_at(idx)]
        for name in names:
            delattr(self, name)
        self._renumber(self._modules.values())

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def __add__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"Sequential: + takes another Sequential, not {type(other).__name__}")
        return Sequential(*self, *other)

    def __iadd__(self, other):
        if not isinstance(other, Sequential):
            raise ValueError(f"Sequential: += takes another Sequential, not {type(other).__name__}")
        return self.extend(list(other))

    def __mul__(self, other):
        if not isinstance(other, int):
            raise TypeError(f"Sequential: * takes an int, not {type(other).__name__}")
        if other <= 0:
            raise ValueError(f"Sequential: * takes a positive int, got {other}")
        return Sequential(*(module for _ in range(other) for module in self))

    __rmul__ = __mul__

    def __imul__(self, other):
        self._renumber(list(self * other))
        return self

    def pop(self, key):
        """Takes out a module, and gives it."""
        module = self[key]
        del self[key]
        return module

    def append(self, module):
        """Adds a module at the end; gives this one."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index, module):
        """Adds a module before ``index``; gives this one."""
        if not isinstance(module, Module):
            raise AssertionError(f"Sequential.insert: takes a Module, not {type(module).__name__}")
        length = len(self)
        if not -length <= index <= length:
            raise IndexError(f"Sequential.insert: index {index} is out of range for {length} entries")
        modules = list(self)
        modules.insert(index + length if index < 0 else index, module)
        self._renumber(modules)
        return self

    def extend(self, sequential):
        """Adds several modules at the end; gives this one."""
        for module in sequential:
            self.append(module)
        return self


class ModuleList(Module):
    """A list of modules, whose parameters are those of the module it is in. It has no forward."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self += modules

    def _name_at(self, idx):
        return str(_place(idx, len(self), "ModuleList"))

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return self._modules[self._name_at(idx)]

    def __setitem__(self, idx, module):
        setattr(self, self._name_at(idx), module)

    def __delitem__(self, idx):
        names = [str(k) for k in range(len(self))[idx]] if isinstance(idx, slice) else [self._name_at(idx)]
        for name in names:
            delattr(self, name)
        self._modules = {str(k): module for k, module in enumerate(self._modules.values())}

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules.values())

    def __iadd__(self, modules):
        return self.extend(modules)

    def __add__(self, other):
        joined = ModuleList()
        for k, module in enumerate(chain(self, other)):
            joined.add_module(str(k), module)
        return joined

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def __repr__(self):
        shown = [repr(module) for module in self]
        if not shown:
            return self._get_name() + "()"
        # Equal neighbours are shown once, with their number.
        runs = []
        for k, text in enumerate(shown):
            if runs and runs[-1][2] == text:
                runs[-1][1] = k
            else:
                runs.append([k, k, text])
        lines = [
            f"({first}): {_addindent(text, 2)}" if first == last
            else f"({first}-{last}): {last - first + 1} x {_addindent(text, 2)}"
            for first, last, text in runs
        ]  # fmt: skip
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"

    def insert(self, index, module):
        """Adds a module before ``index``."""
        modules = list(self)
        modules.insert(index, module)
        for k, each in enumerate(modules):
            self.add_module(str(k), each)

    def append(self, module):
        """Adds a module at the end; gives this list."""
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key):
        """Takes out a module, and gives it."""
        module = self[key]
        del self[key]
        return module

    def extend(self, modules):
        """Adds several modules at the end; gives this list."""
        if not isinstance(modules, abc.Iterable):
            raise TypeError(f"ModuleList.extend: takes several modules, not {type(modules).__name__}")
        for module in list(modules):
            self.append(module)
        return self


class ModuleDict(Module):
    """A dict of modules, whose parameters are those of the module it is in. Keys stay in order."""

    def __init__(self, modules=None):
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key):
        return self._modules[key]

    def __setitem__(self, key, module):
        self.add_module(key, module)

    def __delitem__(self, key):
        del self._modules[key]

    def __len__(self):
        return len(self._modules)

    def __iter__(self):
        return iter(self._modules)

    def __contains__(self, key):
        return key in self._modules

    def clear(self):
        """Takes out everything."""
        self._modules.clear()

    def pop(self, key):
        """Takes out a module, and gives it."""
        return self._modules.pop(key)

    def keys(self):
        """The names."""
        return self._modules.keys()

    def items(self):
        """Names and modules."""
        return self._modules.items()

    def values(self):
        """The modules."""
        return self._modules.values()

    def update(self, modules):
        """Adds the modules of a dict, or of pairs."""
        for key, module in _pairs("ModuleDict.update", modules):
            self[key] = module


def _pairs(name, given):
    """Keys and values of a dict, or of a list of pairs."""
    if isinstance(given, (abc.Mapping, ModuleDict, ParameterDict)):
        return list(given.items())
    if not isinstance(given, abc.Iterable):
        raise TypeError(f"{name}: takes a dict or pairs of names and values, not {type(given).__name__}")
    pairs = []
    for k, pair in enumerate(given):
        if not isinstance(pair, abc.Iterable):
            raise TypeError(f"{name}: entry {k} must be a pair of a name and a value, not {type(pair).__name__}")
        pair = tuple(pair)
        if len(pair) != 2:
            raise ValueError(f"{name}: entry {k} must be a pair of a name and a value, got {len(pair)} things")
        pairs.append(pair)
    return pairs


def _as_parameter(value):
    """Tensors become parameters; all else stays."""
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


def _described(value, kind_name):
    """How lists and dicts of parameters show one."""
    if not isinstance(value, Tensor):
        return f"Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    place = "" if value.device.type == "cpu" else f" ({value.device})"
    return f"{kind} containing: [{kind_name(value)} of size {'x'.join(str(n) for n in value.size())}{place}]"


class ParameterList(Module):
    """A list of parameters; tensors put into it become parameters, anything else stays as it is."""

    def __init__(self, values=None):
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def __getitem__(self, idx):
        if isinstance(idx, slice):
            made = type(self)()
            for k in range(len(self))[idx]:
                made.append(self[k])
            return made
        return getattr(self, str(_place(idx, len(self), "ParameterList")))

    def __setitem__(self, idx, param):
        setattr(self, str(_place(idx, len(self), "ParameterList")), _as_parameter(param))

    def __len__(self):
        return self._size

    def __iter__(self):
        return iter(self[k] for k in range(len(self)))

    def __iadd__(self, parameters):
        return self.extend(parameters)

    def __dir__(self):
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value):
        """Adds a value at the end; gives this list."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values):
        """Adds several values at the end; gives this list."""
        if not isinstance(values, abc.Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend: takes several values, not {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self):
        return "\n".join(f"  ({k}): {_described(value, lambda t: str(t.dtype))}" for k, value in enumerate(self))

    def __call__(self, *args, **kwargs):
        raise RuntimeError("ParameterList: is a list and cannot be called")


class ParameterDict(Module):
    """A dict of parameters; tensors put into it become parameters, anything else stays as it is."""

    def __init__(self, parameters=None):
        super().__init__()
        self._keys = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key):
        if not isinstance(key, str):
            raise TypeError(f"ParameterDict: a key is a str, not {type(key).__name__}")
        return key

    def __getitem__(self, key):
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key, value):
        attribute = self._key_to_attr(key)
        setattr(self, attribute, _as_parameter(value))
        self._keys[key] = None

    def __delitem__(self, key):
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self):
        return len(self._keys)

    def __iter__(self):
        return iter(self._keys)

    def __reversed__(self):
        return reversed(list(self._keys))

    def __contains__(self, key):
        return key in self._keys

    def copy(self):
        """Another dict of the same parameters."""
        return ParameterDict(OrderedDict((k, self[k]) for k in self._keys))

    def setdefault(self, key, default=None):
        """The value of a key, which is put in if it is not there."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self):
        """Takes out everything."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key):
        """Takes out a value, and gives it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self):
        """Takes out the last pair, and gives it."""
        if not self._keys:
            raise KeyError("ParameterDict.popitem: there is nothing in it")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key, default=None):
        """The value of a key, or ``default``."""
        return self[key] if key in self else default

    def fromkeys(self, keys, default=None):
        """Another dict, of these keys, with one value for all."""
        return ParameterDict((k, default) for k in keys)

    def keys(self):
        """The names."""
        return self._keys.keys()

    def items(self):
        """Names and values."""
        return ((k, self[k]) for k in self._keys)

    def values(self):
        """The values."""
        return (self[k] for k in self._keys)

    def update(self, parameters):
        """Adds the values of a dict, or of pairs."""
        pairs = _pairs("ParameterDict.update", parameters)
        # Only dicts that promise an order keep theirs, as in torch.
        if isinstance(parameters, abc.Mapping) and not isinstance(parameters, OrderedDict):
            pairs.sort(key=lambda pair: pair[0])
        for key, value in pairs:
            self[key] = value

    def extra_repr(self):
        return "\n".join(f"  ({key}): {_described(value, lambda t: t.type())}" for key, value in self.items())

    def __call__(self, input):
        raise RuntimeError("ParameterDict: is a dict and cannot be called")

    def __or__(self, other):
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other):
        joined = ParameterDict(other)
        joined.update(self)
        return joined

    def __ior__(self, other):
        self.update(other)
        return self
