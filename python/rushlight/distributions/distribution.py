"""``Distribution``: shapes, checks, and what every distribution answers."""

import warnings

import rushlight as torch

from .._C import Tensor
from . import constraints
from .utils import lazy_property

__all__ = ["Distribution"]


class Distribution:
    """A batch of distributions of one kind: ``batch_shape`` of them, over events of ``event_shape``.

    Samples have shape ``sample_shape + batch_shape + event_shape``. Parameters and values are checked
    unless ``validate_args`` is false: ValueError.
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = __debug__

    @staticmethod
    def set_default_validate_args(value):
        """Whether distributions made from now on check."""
        if value not in (True, False):
            raise ValueError(f"validate_args is True or False, not {value!r}")
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        self._batch_shape, self._event_shape = torch.Size(batch_shape), torch.Size(event_shape)
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()

    def _check_parameters(self):
        try:
            limits = self.arg_constraints
        except NotImplementedError:
            warnings.warn(f"{type(self)} does not define `arg_constraints`; its parameters are not checked", stacklevel=3)
            return
        for name, constraint in limits.items():
            if constraints.is_dependent(constraint):
                continue
            if name not in self.__dict__ and isinstance(type(self).__dict__.get(name), lazy_property):
                continue  # it follows from another parameter
            value = getattr(self, name)
            if not constraint.check(value).all():
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} "
                    f"to satisfy the constraint {constraint!r}, but found invalid values:\n{value}"
                )

    def expand(self, batch_shape, _instance=None):
        """The same distributions in a larger batch, without copies."""
        raise NotImplementedError

    @property
    def batch_shape(self):
        """How many distributions there are."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one event."""
        return self._event_shape

    @property
    def arg_constraints(self):
        """The sets that parameters lie in, by name."""
        raise NotImplementedError

    @property
    def support(self):
        """The set that samples lie in."""
        raise NotImplementedError

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self):
        """The likeliest value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self):
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape=torch.Size()):
        """Samples, without gradients."""
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape=torch.Size()):
        """Samples that carry gradients to the parameters, where the distribution has such."""
        raise NotImplementedError

    def sample_n(self, n):
        """``sample((n,))``."""
        warnings.warn("sample_n(n) will be deprecated. Use .sample((n,)) instead.", UserWarning, stacklevel=2)
        return self.sample(torch.Size((n,)))

    def log_prob(self, value):
        """The logarithm of the density, or of the probability, at ``value``."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability of values up to ``value``."""
        raise NotImplementedError

    def icdf(self, value):
        """The value that ``cdf`` is ``value`` at."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values, along a new first dimension."""
        raise NotImplementedError

    def entropy(self):
        """The entropy, in nats."""
        raise NotImplementedError

    def perplexity(self):
        """``e`` to the entropy."""
        return self.entropy().exp()

    def _extended_shape(self, sample_shape=torch.Size()):
        return torch.Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value):
        """ValueError: no tensor, another shape, or values outside of the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        event = len(self._event_shape)
        if tuple(value.shape[value.dim() - event :]) != tuple(self._event_shape) or value.dim() < event:
            raise ValueError(f"The right-most size of value must match event_shape: {tuple(value.shape)} vs {tuple(self._event_shape)}.")
        have, want = tuple(value.shape), (*self._batch_shape, *self._event_shape)
        for a, b in zip(reversed(have), reversed(want)):
            if a != 1 and b != 1 and a != b:
                raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {have} vs {want}.")
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(f"{type(self)} does not define `support`; values are not checked", stacklevel=3)
            return
        if not support.check(value).all():
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}"
            )

    def _get_checked_instance(self, cls, _instance=None):
        """An object of the same class without parameters, for ``expand``."""
        if _instance is None and type(self).__init__ != cls.__init__:
            raise NotImplementedError(f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ method must also define a custom .expand() method.")
        return type(self).__new__(type(self)) if _instance is None else _instance

    def _expanded(self, cls, batch_shape, _instance, names, event=()):
        """``expand`` for parameters of the shape of the batch; those in ``event`` have more dimensions."""
        new = self._get_checked_instance(cls, _instance)
        batch_shape = torch.Size(batch_shape)
        for name in names:
            if name in self.__dict__:
                tail = dict(event).get(name, ())
                setattr(new, name, self.__dict__[name].expand((*batch_shape, *tail)))
        Distribution.__init__(new, batch_shape, self._event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    def __repr__(self):
        names = [name for name in self.arg_constraints if name in self.__dict__]
        shown = (f"{n}: {self.__dict__[n] if self.__dict__[n].numel() == 1 else self.__dict__[n].size()}" for n in names)
        return f"{type(self).__name__}({', '.join(shown)})"
