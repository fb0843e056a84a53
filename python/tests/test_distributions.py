"""Samples have the moments that distributions say, gradients go through them, and what is wrong is refused."""

import pytest
import rushlight as torch
from rushlight import distributions as D

T = torch.tensor
MADE = [
    lambda: D.Normal(T([0.5, -1.0]), T([1.0, 2.0])),
    lambda: D.Uniform(T([0.5]), T([2.0])),
    lambda: D.Gamma(T([0.5, 3.0]), T([1.5, 2.0])),
    lambda: D.Beta(T([0.5, 3.0]), T([1.5, 2.0])),
    lambda: D.Dirichlet(T([0.5, 3.0, 1.0])),
    lambda: D.Exponential(T([0.5, 3.0])),
    lambda: D.Laplace(T([0.5]), T([2.0])),
    lambda: D.Gumbel(T([0.5]), T([2.0])),
    lambda: D.Weibull(T([1.5]), T([2.0])),
    lambda: D.HalfNormal(T([1.5])),
    lambda: D.LogNormal(T([0.1]), T([0.3])),
    lambda: D.Kumaraswamy(T([1.5]), T([2.0])),
    lambda: D.ContinuousBernoulli(T([0.2, 0.5])),
    lambda: D.StudentT(T([9.0]), T([1.0]), T([2.0])),
    lambda: D.InverseGamma(T([6.0]), T([2.0])),
    lambda: D.FisherSnedecor(T([4.0]), T([20.0])),
    lambda: D.Chi2(T([3.0])),
    lambda: D.Pareto(T([1.0]), T([9.0])),
    lambda: D.GeneralizedPareto(T([1.0]), T([2.0]), T([0.1])),
    lambda: D.Bernoulli(T([0.3, 0.8])),
    lambda: D.Binomial(7, T([0.3, 0.8])),
    lambda: D.Geometric(T([0.3])),
    lambda: D.Poisson(T([0.3, 40.0])),
    lambda: D.NegativeBinomial(T([3.0]), T([0.4])),
    lambda: D.Multinomial(6, T([0.2, 0.3, 0.5])),
    lambda: D.OneHotCategorical(T([0.2, 0.3, 0.5])),
    lambda: D.MultivariateNormal(T([0.5, -1.0]), T([[2.0, 0.5], [0.5, 1.0]])),
    lambda: D.LowRankMultivariateNormal(T([0.5, -1.0]), T([[2.0], [0.5]]), T([1.0, 0.5])),
    lambda: D.Wishart(T(6.0), T([[2.0, 0.5], [0.5, 1.0]])),
    lambda: D.MixtureSameFamily(D.Categorical(T([0.3, 0.7])), D.Normal(T([0.5, -1.0]), T([1.0, 2.0]))),
]  # fmt: skip


@pytest.mark.parametrize("make", MADE, ids=lambda m: m().__class__.__name__)
def test_samples_have_the_moments(make):
    torch.manual_seed(5)
    made = make()
    drawn = made.sample((40_000,)).double()
    assert made.support.check(drawn).all()
    mean, deviation = made.mean.double(), made.variance.double().sqrt()
    assert ((drawn.mean(0) - mean).abs() < 6 * deviation / 200 + 1e-6).all(), (drawn.mean(0), mean)
    assert torch.allclose(drawn.std(0), deviation, rtol=0.1, atol=1e-3), (drawn.std(0), deviation)


@pytest.mark.parametrize("make", MADE, ids=lambda m: m().__class__.__name__)
def test_what_is_drawn_has_a_probability(make):
    made = make()
    drawn = made.sample((50,))
    log = made.log_prob(drawn)
    assert log.shape == (50, *made.batch_shape) and log.isfinite().all()
    assert made.expand((3, *made.batch_shape)).sample().shape == (3, *made.batch_shape, *made.event_shape)


def test_the_distribution_function_and_its_inverse():
    u = torch.linspace(0.1, 0.9, 5, dtype=torch.float64)
    one = T(1.5, dtype=torch.float64)
    for made in (D.Normal(one, one), D.Laplace(one, one), D.Gumbel(one, one), D.Weibull(one, one), D.Pareto(one, one),
                 D.HalfNormal(one), D.HalfCauchy(one), D.Exponential(one), D.Uniform(one, one * 2), D.Kumaraswamy(one, one),
                 D.ContinuousBernoulli(one / 2.2), D.LogNormal(one, one), D.Cauchy(one, one)):  # fmt: skip
        assert torch.allclose(made.cdf(made.icdf(u)), u, rtol=1e-9), made


@pytest.mark.parametrize("shape", [0.3, 1.0, 2.5, 40.0])
def test_gradients_of_gamma_samples(shape):
    torch.manual_seed(1)
    a = T(shape, dtype=torch.float64, requires_grad=True)
    x = D.Gamma(a, T(1.0, dtype=torch.float64)).rsample((100_000,))
    (g,) = torch.autograd.grad((x**2).mean(), a)  # the mean of x^2 is a + a^2
    assert abs(g.item() - (1 + 2 * shape)) < 0.05 * (1 + 2 * shape)


def test_gradients_of_dirichlet_samples():
    torch.manual_seed(1)
    a = T([0.4, 2.0, 1.0], dtype=torch.float64, requires_grad=True)
    weights = T([1.0, -2.0, 0.5], dtype=torch.float64)
    drawn = (D.Dirichlet(a).rsample((200_000,)) @ weights).mean()
    (g,) = torch.autograd.grad(drawn, a)
    (want,) = torch.autograd.grad((a / a.sum()) @ weights, a)
    assert torch.allclose(g, want, atol=0.01)
    small = D.Dirichlet(torch.full((4,), 0.01)).sample((2000,))
    assert torch.allclose(small.sum(-1), torch.ones(2000)) and small.isfinite().all()


def test_divergences_by_class():
    class Own(D.Normal):
        pass

    p, q = Own(T(0.0), T(1.0)), D.Normal(T(1.0), T(2.0))
    assert D.kl_divergence(p, q).item() == pytest.approx(0.4431, abs=1e-4)

    @D.register_kl(Own, Own)
    def _(p, q):
        return "ours"

    assert D.kl_divergence(p, p) == "ours"
    with pytest.raises(NotImplementedError, match="VonMises"):
        D.kl_divergence(q, D.VonMises(T(0.0), T(1.0)))
    with pytest.raises(TypeError):
        D.register_kl(int, D.Normal)


def test_divergences_are_those_of_samples():
    torch.manual_seed(2)
    one = T(1.3)
    pairs = [
        (D.Exponential(one), D.Gamma(one * 2, one)), (D.Gamma(one, one), D.Exponential(one)), (D.Gumbel(one, one), D.Normal(one, one)),
        (D.Normal(one, one), D.Gumbel(one, one * 2)), (D.Normal(one, one), D.Laplace(one / 2, one)), (D.Uniform(one, one * 2), D.Normal(one, one)),
        (D.Gamma(one, one), D.Normal(one, one)), (D.Laplace(one, one), D.Normal(one / 2, one * 2)), (D.Exponential(one), D.Gumbel(one, one * 2)),
        (D.Gumbel(one, one), D.Gumbel(one * 2, one * 1.5)), (D.Geometric(T(0.3)), D.Geometric(T(0.5))),
    ]  # fmt: skip
    for p, q in pairs:
        x = p.sample((60_000,))
        assert D.kl_divergence(p, q).item() == pytest.approx((p.log_prob(x) - q.log_prob(x)).mean().item(), abs=0.05), (p, q)


@pytest.mark.parametrize(
    "call",
    [
        lambda: D.Normal(T(0.0), T(-1.0)),
        lambda: D.Normal(T(0.0), T(1.0)).log_prob(T(float("nan"))),
        lambda: D.Categorical(probs=T([0.5, -0.5])),
        lambda: D.Categorical(T([0.5, 0.5]), logits=T([0.0, 0.0])),
        lambda: D.Categorical(T([0.5, 0.5])).log_prob(T(2)),
        lambda: D.Bernoulli(T(0.5)).log_prob(T(0.5)),
        lambda: D.Uniform(T(1.0), T(0.0)),
        lambda: D.MultivariateNormal(T([0.0, 0.0]), T([[1.0, 2.0], [2.0, 1.0]])),
        lambda: D.MultivariateNormal(T([0.0, 0.0])),
        lambda: D.Normal(T([0.0, 1.0]), T(1.0)).log_prob(torch.zeros(3)),
        lambda: D.Independent(D.Normal(T(0.0), T(1.0)), 1),
        lambda: D.Normal("x", 1.0),
    ],
)
def test_what_is_refused(call):
    with pytest.raises(ValueError):
        call()
    D.Distribution.set_default_validate_args(False)
    try:
        D.Normal(T(0.0), T(-1.0))
    finally:
        D.Distribution.set_default_validate_args(True)


def test_a_policy_can_be_learnt():
    logits = torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.Adam([logits], 0.1)
    torch.manual_seed(0)
    for _ in range(60):
        law = D.Categorical(logits=logits)
        action = law.sample((64,))
        loss = -(law.log_prob(action) * (action == 2).float()).mean() - 0.01 * law.entropy()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert law.probs[2] > 0.9


def test_a_cache_gives_back_the_very_input():
    t = D.TanhTransform(cache_size=1)
    x = torch.full((2,), 30.0)
    assert t.inv(t(x)) is x and t.inv.inv is t
    assert D.ExpTransform() == D.ExpTransform() and D.AffineTransform(0, 1.0) == D.AffineTransform(0, 1.0)
