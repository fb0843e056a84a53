"""Zeros put into parameters, and kept there: a parameter becomes ``name_orig`` times the mask ``name_mask``."""

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable

from ... import _C

_rows = _C._functions


class BasePruningMethod(ABC):
    """The hook that multiplies before each call; classes say which elements stay, by ``compute_mask``.

    ``PRUNING_TYPE``: ``"unstructured"``, ``"structured"`` or ``"global"``.
    """

    _tensor_name: str

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t, default_mask):
        """1 where an element stays and 0 elsewhere; zeros of ``default_mask`` remain."""

    def apply_mask(self, module):
        """The masked tensor now."""
        name = self._tensor_name
        return getattr(module, name + "_mask").to(getattr(module, name + "_orig").dtype) * getattr(module, name + "_orig")

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        """Prunes a parameter, further if it has been pruned already; gives the hook."""
        earlier = [
            (number, hook) for number, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]  # fmt: skip
        if len(earlier) > 1:
            raise AssertionError(f"prune: {name!r} has {len(earlier)} hooks; one is expected")
        method = cls(*args, **kwargs)
        method._tensor_name = name
        if earlier:
            number, hook = earlier[0]
            container = hook if isinstance(hook, PruningContainer) else PruningContainer(hook)
            if container is not hook:
                container._tensor_name = name
            container.add_pruning_method(method)
            del module._forward_pre_hooks[number]
            method = container
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(f"prune: importance_scores have shape {list(importance_scores.shape)}, {name!r} {list(original.shape)}")
        if not earlier:
            parameter = module._parameters[name]
            module.register_parameter(name + "_orig", parameter)
            del module._parameters[name]
            before = _rows["ones"](parameter.shape, dtype=parameter.dtype, device=parameter.device)
        else:
            before = getattr(module, name + "_mask").detach().clone().contiguous()
        try:
            module.register_buffer(name + "_mask", method.compute_mask(importance_scores, default_mask=before))
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if not earlier:
                parameter = getattr(module, name + "_orig")
                del module._parameters[name + "_orig"]
                module.register_parameter(name, parameter)
            else:
                module._forward_pre_hooks[earlier[0][0]] = earlier[0][1]
            raise
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        """``t`` times the mask that ``importance_scores`` (or itself) give."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(f"prune: importance_scores have shape {list(importance_scores.shape)}, the tensor {list(t.shape)}")
        mask = default_mask if default_mask is not None else _rows["ones"](t.shape, dtype=t.dtype, device=t.device)
        return t * self.compute_mask(importance_scores, default_mask=mask)

    def remove(self, module):
        """Makes the masked tensor the parameter; the hook is to be taken out besides."""
        name = self._tensor_name
        if name is None:
            raise AssertionError("prune.remove: nothing has been pruned")
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters[name + "_orig"]
        original.data = weight.data
        del module._parameters[name + "_orig"], module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Several methods, one after another, each on what the others leave."""

    def __init__(self, *args):
        self._pruning_methods = ()
        if not isinstance(args, Iterable) or len(args) == 1 and not isinstance(args[0], Iterable):
            self._tensor_name = args[0]._tensor_name
        for method in args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args:
            if not hasattr(self, "_tensor_name"):
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        """Adds one at the end."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"PruningContainer: takes pruning methods, not {type(method).__name__}")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(f"PruningContainer: prunes {self._tensor_name!r}, the method {method._tensor_name!r}")
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t, default_mask):
        method = self._pruning_methods[-1]
        mask = default_mask.to(t.dtype)
        if method.PRUNING_TYPE == "unstructured":
            left = mask == 1
        elif method.PRUNING_TYPE == "structured":
            if not hasattr(method, "dim"):
                raise AttributeError("PruningContainer: a structured method needs the dim it prunes along")
            dim = method.dim + t.ndim if method.dim < 0 else method.dim
            others = [k for k in range(t.ndim) if k != dim]
            left = [slice(None)] * t.ndim
            left[dim] = mask.sum(others) != 0 if others else mask != 0
            left = tuple(left)
        elif method.PRUNING_TYPE == "global":
            left = tuple([slice(None)] * t.ndim)
        else:
            raise ValueError(f"PruningContainer: there is no PRUNING_TYPE {method.PRUNING_TYPE!r}")
        part = method.compute_mask(t[left], default_mask=mask[left])
        made = mask.clone()
        made[left] = part.to(mask.dtype)
        return made


class Identity(BasePruningMethod):
    """Nothing pruned, but mask and original there."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask

    @classmethod
    def apply(cls, module, name):
        """Prunes nothing."""
        return super().apply(module, name)


class RandomUnstructured(BasePruningMethod):
    """A number of elements (or a part between 0 and 1), at random."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = _count(self.amount, t.numel())
        mask = default_mask.clone().contiguous()
        if count:
            chosen = _rows["rand"](t.numel(), device=t.device).topk(count).indices
            mask.view(-1)[chosen] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount):
        """Prunes a parameter."""
        return super().apply(module, name, amount=amount)


class L1Unstructured(BasePruningMethod):
    """The smallest elements: a number of them, or a part between 0 and 1."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        count = _count(self.amount, t.numel())
        mask = default_mask.clone().contiguous()
        if count:
            mask.view(-1)[t.abs().reshape(-1).topk(count, largest=False).indices] = 0
        return mask

    @classmethod
    def apply(cls, module, name, amount, importance_scores=None):
        """Prunes a parameter."""
        return super().apply(module, name, amount=amount, importance_scores=importance_scores)


def _without(t, mask, dim, places):
    """`mask` with zeros at these places of `dim`."""
    made = mask.new_zeros(t.shape)
    at = [slice(None)] * t.ndim
    at[dim] = places
    made[tuple(at)] = 1
    return mask * made


class RandomStructured(BasePruningMethod):
    """Whole places of ``dim``, at random."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        _validate_pruning_amount_init(amount)
        self.amount, self.dim = amount, dim

    def compute_mask(self, t, default_mask):
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        return _without(t, default_mask, self.dim, _rows["randperm"](size, device=t.device)[count:])

    @classmethod
    def apply(cls, module, name, amount, dim=-1):
        """Prunes a parameter."""
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(BasePruningMethod):
    """Whole places of ``dim``, those of the smallest ``n``-norm."""

    PRUNING_TYPE = "structured"

    def __init__(self, amount, n, dim=-1):
        _validate_pruning_amount_init(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def compute_mask(self, t, default_mask):
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        kept = _compute_norm(t, self.n, self.dim).topk(size - count, largest=True).indices
        return _without(t, default_mask, self.dim, kept)

    @classmethod
    def apply(cls, module, name, amount, n, dim, importance_scores=None):
        """Prunes a parameter."""
        return super().apply(module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores)


class CustomFromMask(BasePruningMethod):
    """The zeros of a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        if default_mask.shape != self.mask.shape:
            raise AssertionError(f"prune: a mask of shape {list(self.mask.shape)} for a tensor of {list(default_mask.shape)}")
        return default_mask * self.mask.to(default_mask.dtype)

    @classmethod
    def apply(cls, module, name, mask):
        """Prunes a parameter."""
        return super().apply(module, name, mask=mask)


def identity(module, name):
    """Prunes nothing of a parameter, but adds mask and original. Gives the module."""
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    """Prunes elements at random. Gives the module."""
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    """Prunes the elements of smallest size, or of smallest score. Gives the module."""
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    """Prunes places of ``dim`` at random. Gives the module."""
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    """Prunes the places of ``dim`` of smallest ``n``-norm. Gives the module."""
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    """Prunes by a mask. Gives the module."""
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    """Prunes several parameters, pairs of module and name, as if they were one."""
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured: takes pairs of modules and names")
    parameters = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured: importance_scores is a dict from pairs of module and name")
    parts = [scores.get((module, name), getattr(module, name)) for module, name in parameters]
    flat = _rows["cat"]([t.detach().reshape(-1) for t in parts])
    masks = [getattr(m, n + "_mask", None) for m, n in parameters]
    before = _rows["cat"]([
        (_rows["ones"](t.shape, dtype=t.dtype) if mask is None else mask).reshape(-1) for t, mask in zip(parts, masks)
    ])  # fmt: skip
    container = PruningContainer()
    container._tensor_name = "temp"
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    container.add_pruning_method(method)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(f"global_unstructured: takes unstructured methods, not {method.PRUNING_TYPE!r}")
    final = container.compute_mask(flat, before)
    at = 0
    for module, name in parameters:
        parameter = getattr(module, name)
        size = parameter.numel()
        custom_from_mask(module, name, mask=final[at : at + size].view_as(parameter))
        at += size


def remove(module, name):
    """Makes pruning permanent: the masked tensor is the parameter. ValueError: it is not pruned. Gives the module."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[number]
            return module
    raise ValueError(f"prune.remove: {name!r} of {module} is not pruned")


def is_pruned(module):
    """Whether a module, or one below, is pruned."""
    return any(isinstance(hook, BasePruningMethod) for below in module.modules() for hook in below._forward_pre_hooks.values())


def _validate_pruning_amount_init(amount):
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"prune: amount must be a number, not {type(amount).__name__}")
    if isinstance(amount, numbers.Integral) and amount < 0 or not isinstance(amount, numbers.Integral) and not 0 <= amount <= 1:
        raise ValueError(f"prune: amount must be a number of elements, or a part between 0 and 1, got {amount}")


def _validate_pruning_amount(amount, tensor_size):
    if isinstance(amount, numbers.Integral) and amount > tensor_size:
        raise ValueError(f"prune: amount {amount} is more than the {tensor_size} there are")


def _validate_structured_pruning(t):
    if t.ndim <= 1:
        raise ValueError(f"prune: structured methods need at least 2 dimensions, not {t.ndim}; use an unstructured one")


def _validate_pruning_dim(t, dim):
    if dim >= t.ndim:
        raise IndexError(f"prune: dim {dim} is out of range for {t.ndim} dimensions")


def _compute_nparams_toprune(amount, tensor_size):
    """How many a number, or a part, of so many is."""
    return amount if isinstance(amount, numbers.Integral) else round(amount * tensor_size)


def _count(amount, size):
    count = _compute_nparams_toprune(amount, size)
    _validate_pruning_amount(count, size)
    return count


def _compute_norm(t, n, dim):
    """The ``n``-norm of each place of ``dim``."""
    others = [k for k in range(t.ndim) if k != (dim + t.ndim if dim < 0 else dim)]
    return t.norm(n, others)
