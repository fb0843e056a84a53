"""Divergences of Kullback and Leibler: formulas by pairs of classes."""

import functools
import math
import warnings

import rushlight as torch

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .laplace import Laplace
from .lowrank_multivariate_normal import LowRankMultivariateNormal
from .multivariate_normal import MultivariateNormal, _batch_mahalanobis
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import _sum_rightmost, euler_constant

__all__ = ["register_kl", "kl_divergence"]

_formulas = {}


def register_kl(type_p, type_q):
    """A decorator: the function gives the divergence of the two classes and of those derived from them.

    TypeError: they are no distributions.
    """
    for kind in (type_p, type_q):
        if not (isinstance(kind, type) and issubclass(kind, Distribution)):
            raise TypeError(f"Expected type_p and type_q to be Distribution subclasses but got {kind}")

    def add(function):
        _formulas[type_p, type_q] = function
        _found.cache_clear()
        return function

    return add


@functools.cache
def _found(type_p, type_q):
    """The formula for the nearest classes, or ``None``; the first distribution decides."""
    matches = [(type_p.__mro__.index(p), type_q.__mro__.index(q), p, q) for p, q in _formulas if issubclass(type_p, p) and issubclass(type_q, q)]
    if not matches:
        return None
    by_p, by_q = min(matches), min(matches, key=lambda m: (m[1], m[0]))
    if by_p[2:] != by_q[2:]:
        warnings.warn(f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). Please register_kl({by_p[2].__name__}, {by_q[3].__name__})", RuntimeWarning, stacklevel=3)
    return _formulas[by_p[2:]]


def kl_divergence(p, q):
    """The mean under ``p`` of the logarithm of its density over that of ``q``.

    NotImplementedError: no formula is known for the two.
    """
    formula = _found(type(p), type(q))
    if formula is None:
        raise NotImplementedError(f"No KL(p || q) is implemented for p type {type(p).__name__} and q type {type(q).__name__}")
    return formula(p, q)



def _infinite(x):
    return torch.full_like(x, math.inf)


@register_kl(Bernoulli, Bernoulli)
def _(p, q):
    softplus = torch.nn.functional.softplus
    up = p.probs * (softplus(-q.logits) - softplus(-p.logits))
    up = up.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    down = (1 - p.probs) * (softplus(q.logits) - softplus(p.logits))
    return up + down.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


@register_kl(Beta, Beta)
def _(p, q):
    p1, p0, q1, q0 = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    norm = q1.lgamma() + q0.lgamma() + (p1 + p0).lgamma() - (q1 + q0).lgamma() - p1.lgamma() - p0.lgamma()
    return norm + (p1 - q1) * p1.digamma() + (p0 - q0) * p0.digamma() + (q1 + q0 - p1 - p0) * (p1 + p0).digamma()


@register_kl(Binomial, Binomial)
def _(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    return kl.masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _(p, q):
    t = p.probs * (p.logits - q.logits)
    t = t.masked_fill((q.probs == 0).expand_as(t), math.inf).masked_fill((p.probs == 0).expand_as(t), 0)
    return t.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _(p, q):
    return kl_divergence(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _(p, q):
    log = p._cont_bern_log_norm() + torch.log1p(-p.probs) - q._cont_bern_log_norm() - torch.log1p(-q.probs)
    return p.mean * (p.logits - q.logits) + log


@register_kl(Cauchy, Cauchy)
def _(p, q):
    return ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log() - (4 * p.scale * q.scale).log()


@register_kl(Dirichlet, Dirichlet)
def _(p, q):
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    norm = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return norm + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _(p, q):
    ratio = q.rate / p.rate
    return -ratio.log() + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _(p, q):
    if type(p) is not type(q):
        raise NotImplementedError("The cross KL-divergence between different exponential families cannot be computed using Bregman divergences")
    mine, other = [x.detach().requires_grad_() for x in p._natural_params], q._natural_params
    with torch.enable_grad():
        norm = p._log_normalizer(*mine)
        gradients = torch.autograd.grad(norm.sum(), mine, create_graph=True)
    result = q._log_normalizer(*other) - norm
    for a, b, g in zip(mine, other, gradients):
        result = result - _sum_rightmost((b - a) * g, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _(p, q):
    a, b = p.concentration, q.concentration
    return b * (p.rate / q.rate).log() + b.lgamma() - a.lgamma() + (a - b) * a.digamma() + (q.rate - p.rate) * (a / p.rate)


@register_kl(Gumbel, Gumbel)
def _(p, q):
    ratio, moved = p.scale / q.scale, q.loc / q.scale
    shift = p.loc / q.scale
    middle = ratio * euler_constant
    return -ratio.log() - (moved - shift) + middle + (moved + (1 + ratio).lgamma() - shift).exp() - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _(p, q):
    return -p.entropy() - (-q.probs).log1p() / p.probs - q.logits


@register_kl(HalfNormal, HalfNormal)
def _(p, q):
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _(p, q):
    ratio, apart = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + apart / q.scale + ratio * (-apart / p.scale).exp() - 1


@register_kl(Normal, Normal)
def _(p, q):
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


def _half_log_det(d):
    if isinstance(d, LowRankMultivariateNormal):
        return 0.5 * d._log_det()
    return d._half_log_det()


def _kl_normal_vectors(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError(f"KL-divergence between two Multivariate Normals with different event shapes cannot be computed: {p.event_shape}, {q.event_shape}")
    n, factor = p.event_shape[0], q.scale_tril
    shape = torch.broadcast_shapes(factor.shape[:-2], p.scale_tril.shape[:-2])
    solved = torch.linalg.solve_triangular(factor.expand((*shape, n, n)), p.scale_tril.expand((*shape, n, n)), upper=False)
    trace = solved.pow(2).sum((-2, -1))
    return _half_log_det(q) - _half_log_det(p) + 0.5 * (trace + _batch_mahalanobis(factor, q.loc - p.loc) - n)


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(_kl_normal_vectors)


@register_kl(Pareto, Pareto)
def _(p, q):
    ratio, scale = q.alpha / p.alpha, p.scale / q.scale
    return (q.alpha * scale.log() - ratio.log() + ratio - 1).masked_fill(p.support.lower_bound < q.support.lower_bound, math.inf)


@register_kl(Poisson, Poisson)
def _(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(TransformedDistribution, TransformedDistribution)
def _(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError("the two distributions are not of the same maps")
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Uniform, Uniform)
def _(p, q):
    return ((q.high - q.low) / (p.high - p.low)).log().masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(Independent, Independent)
def _(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError("the two distributions have other numbers of event dimensions")
    return _sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


# ---- between two kinds


@register_kl(Bernoulli, Poisson)
def _(p, q):
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Exponential, Gamma)
def _(p, q):
    ratio = q.rate / p.rate
    return -q.concentration * ratio.log() + ratio + q.concentration.lgamma() + q.concentration * euler_constant - (1 + euler_constant)


@register_kl(Gamma, Exponential)
def _(p, q):
    return -p.entropy() - q.rate.log() + q.rate * p.concentration / p.rate


@register_kl(Exponential, Gumbel)
def _(p, q):
    product, moved = p.rate * q.scale, q.loc / q.scale
    return product.log() - 1 + moved + product.reciprocal() + moved.exp() * (product / (product + 1)) - 2 * moved


@register_kl(Uniform, Normal)
def _(p, q):
    width = p.high - p.low
    square = (width.pow(2) / 12 + ((p.high + p.low - 2 * q.loc) / 2).pow(2)) / q.scale.pow(2)
    return (math.sqrt(math.pi * 2) * q.scale / width).log() + 0.5 * square


@register_kl(Laplace, Normal)
def _(p, q):
    square, ratio = q.scale.pow(2), p.scale / q.scale
    return -ratio.log() + 0.5 * math.log(math.pi / 2) + ratio.pow(2) + 0.5 * p.loc.pow(2) / square - p.loc * q.loc / square + 0.5 * q.loc.pow(2) / square - 1


@register_kl(Gamma, Normal)
def _(p, q):
    square, mean = q.scale.pow(2), p.concentration / p.rate
    return -p.entropy() + 0.5 * (2 * math.pi * square).log() + (0.5 * (mean.pow(2) + mean / p.rate) - q.loc * mean + 0.5 * q.loc.pow(2)) / square


@register_kl(Exponential, Normal)
def _(p, q):
    square, mean = q.scale.pow(2), p.rate.reciprocal()
    return -p.entropy() + 0.5 * (2 * math.pi * square).log() + (mean.pow(2) - q.loc * mean + 0.5 * q.loc.pow(2)) / square


@register_kl(Gumbel, Normal)
def _(p, q):
    square = q.scale.pow(2)
    apart = p.loc + p.scale * euler_constant - q.loc
    return -p.entropy() + 0.5 * (2 * math.pi * square).log() + (p.scale.pow(2) * math.pi**2 / 6 + apart.pow(2)) / (2 * square)


@register_kl(Normal, Gumbel)
def _(p, q):
    apart, ratio = (p.loc - q.loc) / q.scale, (p.scale / q.scale).pow(2)
    return -0.5 * ratio.log() + apart + (ratio / 2 - apart).exp() - 0.5 * (1 + math.log(2 * math.pi))


@register_kl(Normal, Laplace)
def _(p, q):
    apart = p.loc - q.loc
    ratio = apart / p.scale
    inner = math.sqrt(2 / math.pi) * p.scale * (-0.5 * ratio.pow(2)).exp() + apart * torch.erf(math.sqrt(0.5) * ratio)
    return -(p.scale / (2 * q.scale)).log() - 0.5 - 0.5 * math.log(2 * math.pi) + inner / q.scale


def _beyond(name):
    """``p`` has values that ``q`` does not."""
    return lambda p, q: _infinite(getattr(p, name) + 0 * q.mean.nan_to_num(0.0, 0.0, 0.0))


for _p, _name, _others in (
    (Exponential, "rate", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gamma, "concentration", (Beta, ContinuousBernoulli, Pareto, Uniform)),
    (Gumbel, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Laplace, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Normal, "loc", (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)),
    (Pareto, "scale", (Beta, ContinuousBernoulli, Uniform)),
    (Poisson, "rate", (Bernoulli, Binomial)),
    (Beta, "concentration1", (Pareto,)),
    (ContinuousBernoulli, "probs", (Pareto,)),
):
    for _q in _others:
        register_kl(_p, _q)(_beyond(_name))
