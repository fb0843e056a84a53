"""Sets of numbers, vectors and matrices: what parameters and samples may be."""

import rushlight as torch

__all__ = """Constraint boolean cat corr_cholesky dependent dependent_property greater_than greater_than_eq independent
    integer_interval interval half_open_interval is_dependent less_than lower_cholesky lower_triangular
    MixtureSameFamilyConstraint multinomial nonnegative nonnegative_integer one_hot positive positive_semidefinite
    positive_definite positive_integer real real_vector simplex square stack symmetric unit_interval""".split()


class Constraint:
    """A set: ``check(value)`` says for each event whether it is inside.

    ``is_discrete``: of separate points; ``event_dim``: dimensions of one event.
    """

    is_discrete = False
    event_dim = 0

    def check(self, value):
        """Whether each event is inside."""
        raise NotImplementedError

    def __repr__(self):
        return type(self).__name__[1:] + "()"


class _Dependent(Constraint):
    """A set that depends on other parameters."""

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def _known(self, what):
        value = getattr(self, f"_{what}")
        if value is NotImplemented:
            raise NotImplementedError(f".{what} cannot be determined statically")
        return value

    @property
    def is_discrete(self):
        """Whether it consists of separate points; NotImplementedError where that depends."""
        return self._known("is_discrete")

    @property
    def event_dim(self):
        """Dimensions of one event; NotImplementedError where that depends."""
        return self._known("event_dim")

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        """The same with more known."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, x):
        """ValueError: the parameters are not known here."""
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint):
    """Whether it depends on other parameters."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """A property that gives a set, and on the class is a dependent one."""

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn):
        """As a decorator with arguments."""
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


class _IndependentConstraint(Constraint):
    """A set of events whose dimensions are part batch, part event of another set."""

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        self.base_constraint, self.reinterpreted_batch_ndims = base_constraint, reinterpreted_batch_ndims

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        inside, n = self.base_constraint.check(value), self.reinterpreted_batch_ndims
        if inside.dim() < n:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return inside.reshape(inside.shape[: inside.dim() - n] + (-1,)).all(-1)

    def __repr__(self):
        return f"{type(self).__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """The set of a mixture's components."""

    def __init__(self, base_constraint):
        self.base_constraint = base_constraint

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim

    def check(self, value):
        inside = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        n = value.dim() - self.event_dim
        if n < 0:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return inside.reshape(inside.shape[:n] + (-1,)).all(-1)

    def __repr__(self):
        return f"{type(self).__name__}({self.base_constraint!r})"


def _simple(name, check, discrete=False, event_dim=0, doc=""):
    """A class of sets without parameters."""
    return type(name, (Constraint,), {"check": lambda self, value: check(value), "is_discrete": discrete, "event_dim": event_dim, "__doc__": doc})


class _Bounded(Constraint):
    """A set with bounds, which it shows."""

    _NAMES = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def __repr__(self):
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._NAMES)
        return f"{type(self).__name__[1:]}({shown})"


class _IntegerInterval(_Bounded):
    """Integers between two, both inside."""

    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _Interval(_Bounded):
    """Numbers between two, both inside."""

    def check(self, value):
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Bounded):
    """Numbers between two, only the first inside."""

    def check(self, value):
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _OneBound(_Bounded):
    _NAMES = ("lower_bound",)

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound


class _IntegerGreaterThan(_OneBound):
    """Integers from one on."""

    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class _GreaterThan(_OneBound):
    """Numbers above one."""

    def check(self, value):
        return self.lower_bound < value


class _GreaterThanEq(_OneBound):
    """Numbers from one on."""

    def check(self, value):
        return self.lower_bound <= value


class _IntegerLessThan(_Bounded):
    """Integers up to one."""

    is_discrete = True
    _NAMES = ("upper_bound",)

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, value):
        return (value % 1 == 0) & (value <= self.upper_bound)


class _LessThan(_IntegerLessThan):
    """Numbers below one."""

    is_discrete = False

    def check(self, value):
        return value < self.upper_bound


class _Multinomial(Constraint):
    """Counts that add up to at most a number."""

    is_discrete, event_dim = True, 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, x):
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class _Parts(Constraint):
    """Sets side by side along a dimension."""

    def __init__(self, cseq, dim=0):
        self.cseq, self.dim = list(cseq), dim

    @property
    def is_discrete(self):
        return any(c.is_discrete for c in self.cseq)


class _Cat(_Parts):
    """Parts of several lengths."""

    def __init__(self, cseq, dim=0, lengths=None):
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    @property
    def event_dim(self):
        return max(c.event_dim for c in self.cseq)

    def check(self, value):
        parts, at = [], 0
        for c, length in zip(self.cseq, self.lengths):
            parts.append(c.check(value.narrow(self.dim, at, length)))
            at += length
        return torch.cat(parts, self.dim)


class _Stack(_Parts):
    """One part at each place of the dimension."""

    @property
    def event_dim(self):
        n = max(c.event_dim for c in self.cseq)
        return n + 1 if self.dim + n < 0 else n

    def check(self, value):
        rows = [value.select(self.dim, i) for i in range(value.size(self.dim))]
        return torch.stack([c.check(v) for c, v in zip(self.cseq, rows)], self.dim)


def _is_symmetric(x):
    square = x.shape[-1] == x.shape[-2]
    if not square:
        return torch.full(x.shape[:-2], False, dtype=torch.bool)
    return torch.isclose(x, x.mT, atol=1e-6).all(-2).all(-1)


def _is_lower(x):
    return (x.tril() == x).reshape(x.shape[:-2] + (-1,)).min(-1)[0]


def _has_positive_diagonal(x):
    return (x.diagonal(dim1=-2, dim2=-1) > 0).min(-1)[0]


def _has_unit_rows(x):
    tolerance = torch.finfo(x.dtype).eps * x.size(-1) * 10
    return ((x.norm(dim=-1) - 1).abs() < tolerance).all(-1)


_Boolean = _simple("_Boolean", lambda x: (x == 0) | (x == 1), True, doc="0 and 1.")
_OneHot = _simple("_OneHot", lambda x: ((x == 0) | (x == 1)).all(-1) & x.sum(-1).eq(1), True, 1, "Vectors with one 1 among 0s.")
_Real = _simple("_Real", lambda x: x == x, doc="All numbers but NaN.")
_Simplex = _simple("_Simplex", lambda x: (x >= 0).all(-1) & ((x.sum(-1) - 1).abs() < 1e-6), False, 1, "Nonnegative vectors of sum 1.")
_LowerTriangular = _simple("_LowerTriangular", _is_lower, False, 2, "Lower triangular matrices.")
_LowerCholesky = _simple("_LowerCholesky", lambda x: _is_lower(x) & _has_positive_diagonal(x), False, 2, "Those with a positive diagonal.")
_CorrCholesky = _simple("_CorrCholesky", lambda x: _is_lower(x) & _has_positive_diagonal(x) & _has_unit_rows(x), False, 2, "Those with rows of length 1.")
_Square = _simple("_Square", lambda x: torch.full(x.shape[:-2], x.shape[-2] == x.shape[-1], dtype=torch.bool), False, 2, "Square matrices.")
_Symmetric = _simple("_Symmetric", _is_symmetric, False, 2, "Symmetric matrices.")
_PositiveSemidefinite = _simple(
    "_PositiveSemidefinite",
    lambda x: _is_symmetric(x) & (torch.linalg.eigvalsh(x).ge(0).all(-1) if _is_symmetric(x).all() else False),
    False, 2, "Symmetric matrices without negative eigenvalues.",
)  # fmt: skip
_PositiveDefinite = _simple(
    "_PositiveDefinite",
    lambda x: _is_symmetric(x) & (torch.linalg.cholesky_ex(x)[1].eq(0) if _is_symmetric(x).all() else False),
    False, 2, "Symmetric matrices with positive eigenvalues.",
)  # fmt: skip

dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
