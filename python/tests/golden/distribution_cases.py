"""Densities, moments, divergences and maps of distributions. ``python distribution_cases.py`` writes torch's numbers."""

import json
import pathlib
import warnings

#: How each is made (``T`` makes a tensor of float64, ``D`` is the module), and values to look at.
CASES = {
    "Normal": ("D.Normal(T([0.5, -1.0]), T([1.0, 2.0]))", "T([0.3, 1.5])"),
    "LogNormal": ("D.LogNormal(T([0.5, -1.0]), T([1.0, 0.5]))", "T([0.3, 1.5])"),
    "Uniform": ("D.Uniform(T([0.5, -1.0]), T([1.0, 2.0]))", "T([0.7, 1.5])"),
    "Bernoulli": ("D.Bernoulli(T([0.3, 0.8]))", "T([1.0, 0.0])"),
    "BernoulliLogits": ("D.Bernoulli(logits=T([0.3, -2.0]))", "T([1.0, 0.0])"),
    "Categorical": ("D.Categorical(T([[0.2, 0.3, 0.5], [1.0, 0.0, 3.0]]))", "T([1, 2])"),
    "CategoricalLogits": ("D.Categorical(logits=T([0.2, -1.0, 0.5]))", "T([0, 1, 2])"),
    "OneHotCategorical": ("D.OneHotCategorical(T([0.2, 0.3, 0.5]))", "T([0.0, 1.0, 0.0])"),
    "OneHotCategoricalStraightThrough": ("D.OneHotCategoricalStraightThrough(T([0.2, 0.3, 0.5]))", "T([0.0, 1.0, 0.0])"),
    "Beta": ("D.Beta(T([0.5, 2.0]), T([1.5, 3.0]))", "T([0.2, 0.9])"),
    "Gamma": ("D.Gamma(T([0.5, 2.0]), T([1.5, 3.0]))", "T([0.2, 0.9])"),
    "Chi2": ("D.Chi2(T([0.5, 2.0]))", "T([0.2, 0.9])"),
    "Dirichlet": ("D.Dirichlet(T([[0.5, 2.0, 1.0], [0.3, 0.2, 0.1]]))", "T([0.2, 0.5, 0.3])"),
    "Exponential": ("D.Exponential(T([0.5, 2.0]))", "T([0.2, 0.9])"),
    "Laplace": ("D.Laplace(T([0.5, -2.0]), T([1.0, 2.0]))", "T([0.2, 0.9])"),
    "Poisson": ("D.Poisson(T([0.5, 2.0]))", "T([0.0, 3.0])"),
    "Geometric": ("D.Geometric(T([0.5, 0.2]))", "T([0.0, 3.0])"),
    "Binomial": ("D.Binomial(5, T([0.5, 0.2]))", "T([0.0, 3.0])"),
    "BinomialLogits": ("D.Binomial(5, logits=T([0.5, -2.0]))", "T([0.0, 3.0])"),
    "NegativeBinomial": ("D.NegativeBinomial(T([5.0, 2.5]), T([0.5, 0.2]))", "T([0.0, 3.0])"),
    "Multinomial": ("D.Multinomial(4, T([0.2, 0.3, 0.5]))", "T([1.0, 1.0, 2.0])"),
    "MultivariateNormal": ("D.MultivariateNormal(T([0.5, -1.0]), T([[2.0, 0.5], [0.5, 1.0]]))", "T([0.3, 1.0])"),
    "MultivariateNormalTril": ("D.MultivariateNormal(T([0.5, -1.0]), scale_tril=T([[2.0, 0.0], [0.5, 1.0]]))", "T([0.3, 1.0])"),
    "MultivariateNormalPrecision": ("D.MultivariateNormal(T([0.5, -1.0]), precision_matrix=T([[2.0, 0.5], [0.5, 1.0]]))", "T([0.3, 1.0])"),
    "LowRankMultivariateNormal": ("D.LowRankMultivariateNormal(T([0.5, -1.0, 0.0]), T([[2.0], [0.5], [1.0]]), T([1.0, 0.5, 2.0]))", "T([0.3, 1.0, 2.0])"),
    "StudentT": ("D.StudentT(T([3.0, 1.5]), T([0.5, 0.0]), T([1.0, 2.0]))", "T([0.2, 0.9])"),
    "HalfNormal": ("D.HalfNormal(T([0.5, 2.0]))", "T([0.2, 0.9])"),
    "HalfCauchy": ("D.HalfCauchy(T([0.5, 2.0]))", "T([0.2, 0.9])"),
    "Cauchy": ("D.Cauchy(T([0.5, 2.0]), T([1.0, 2.0]))", "T([0.2, 0.9])"),
    "Gumbel": ("D.Gumbel(T([0.5, 2.0]), T([1.0, 2.0]))", "T([0.2, 0.9])"),
    "Weibull": ("D.Weibull(T([0.5, 2.0]), T([1.0, 2.0]))", "T([0.2, 0.9])"),
    "Pareto": ("D.Pareto(T([0.5, 2.0]), T([1.0, 2.5]))", "T([0.9, 2.9])"),
    "GeneralizedPareto": ("D.GeneralizedPareto(F([0.5, 2.0, 0.0]), F([1.0, 2.0, 1.0]), F([0.3, 0.0, -0.2]))", "F([0.9, 2.9, 0.3])"),
    "VonMises": ("D.VonMises(T([0.5, 2.0]), T([1.0, 30.0]))", "T([0.2, 0.9])"),
    "RelaxedBernoulli": ("D.RelaxedBernoulli(T(0.5), T([0.3, 0.8]))", "T([0.2, 0.9])"),
    "RelaxedOneHotCategorical": ("D.RelaxedOneHotCategorical(T(0.5), T([0.2, 0.3, 0.5]))", "T([0.2, 0.2, 0.6])"),
    "ContinuousBernoulli": ("D.ContinuousBernoulli(T([0.3, 0.5, 0.9]))", "T([0.2, 0.4, 0.9])"),
    "Kumaraswamy": ("D.Kumaraswamy(T([0.5, 2.0]), T([1.5, 2.5]))", "T([0.2, 0.9])"),
    "Wishart": ("D.Wishart(T(4.0), T([[2.0, 0.5], [0.5, 1.0]]))", "T([[3.0, 0.5], [0.5, 2.0]])"),
    "LKJCholesky": ("D.LKJCholesky(3, T([0.5, 2.0]))", "T([[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.0, 0.6, 0.8]])"),
    "InverseGamma": ("D.InverseGamma(T([2.5, 3.0]), T([1.0, 2.0]))", "T([0.2, 0.9])"),
    "FisherSnedecor": ("D.FisherSnedecor(T([2.5, 3.0]), T([5.0, 6.0]))", "T([0.2, 0.9])"),
    "LogisticNormal": ("D.LogisticNormal(T([0.5, -1.0]), T([1.0, 2.0]))", "T([0.2, 0.5, 0.3])"),
    "Independent": ("D.Independent(D.Normal(T([0.5, -1.0]), T([1.0, 2.0])), 1)", "T([0.3, 1.5])"),
    "MixtureSameFamily": ("D.MixtureSameFamily(D.Categorical(T([0.3, 0.7])), D.Normal(T([0.5, -1.0]), T([1.0, 2.0])))", "T([0.3, 1.5])"),
    "Transformed": ("D.TransformedDistribution(D.Normal(T([0.5, -1.0]), T([1.0, 2.0])), [D.AffineTransform(1.0, -2.0), D.SigmoidTransform()])", "T([0.3, 0.5])"),
}  # fmt: skip
ASKED = "mean mode variance stddev entropy".split()

#: Divergences, by the names above.
PAIRS = [(a, a) for a in CASES if a not in ("LKJCholesky", "StudentT", "FisherSnedecor", "VonMises", "NegativeBinomial", "MixtureSameFamily", "Multinomial", "RelaxedBernoulli", "RelaxedOneHotCategorical", "Kumaraswamy", "Weibull", "HalfCauchy", "Wishart", "GeneralizedPareto")]
PAIRS += [("Bernoulli", "BernoulliLogits"), ("MultivariateNormal", "MultivariateNormalTril"), ("Exponential", "Gamma"), ("Gamma", "Exponential"), ("Uniform", "Normal"), ("Laplace", "Normal"), ("Normal", "Laplace"), ("Gamma", "Normal"), ("Exponential", "Normal"), ("Gumbel", "Normal"), ("Normal", "Gumbel"), ("Exponential", "Gumbel"), ("Normal", "Beta"), ("Gamma", "Chi2"), ("Bernoulli", "Poisson"), ("Cauchy", "Normal")]  # fmt: skip

#: Maps, and points of their domain.
TRANSFORMS = {
    "ExpTransform()": "[0.5, -1.0]", "PowerTransform(T(2.5))": "[0.5, 1.5]", "SigmoidTransform()": "[0.5, -1.0]",
    "TanhTransform()": "[0.5, -1.0]", "SoftplusTransform()": "[0.5, -1.0]", "AffineTransform(1.0, T([2.0, -3.0]))": "[0.5, -1.0]",
    "StickBreakingTransform()": "[0.5, -1.0, 2.0]", "CorrCholeskyTransform()": "[0.5, -1.0, 0.3]",
    "ComposeTransform([ExpTransform(), AffineTransform(0.5, 2.0)])": "[0.5, -1.0]", "ExpTransform().inv": "[0.5, 2.0]",
    "ReshapeTransform((4,), (2, 2))": "[1.0, 2.0, 3.0, 4.0]", "IndependentTransform(ExpTransform(), 1)": "[0.5, -1.0]",
    "CatTransform([ExpTransform(), TanhTransform()], 0, [2, 1])": "[0.5, -1.0, 0.2]",
    "StackTransform([ExpTransform(), TanhTransform()], 0)": "[0.5, -1.0]",
}  # fmt: skip
SETS = "real positive unit_interval simplex lower_cholesky positive_definite corr_cholesky real_vector greater_than(1.5) less_than(-1.0) interval(-1.0,3.0) half_open_interval(0.0,2.0)".split()

NAMES = [f"of:{c}" for c in CASES] + [f"kl:{a}:{b}" for a, b in PAIRS] + [f"map:{t}" for t in TRANSFORMS] + [f"onto:{s}" for s in SETS]


def plain(x):
    return [repr(float(v)) for v in x.detach().reshape(-1).tolist()] + [list(x.shape)] if hasattr(x, "detach") else repr(x)


def attempt(call):
    try:
        return plain(call())
    except NotImplementedError:
        return "NotImplementedError"


def run(torch, name):
    D = torch.distributions

    def T(x):
        made = torch.tensor(x)
        return torch.tensor(x, dtype=torch.float64) if made.is_floating_point() else made

    kind, _, rest = name.partition(":")
    space = {**{n: getattr(D, n) for n in dir(D) if n.endswith("Transform")}, "D": D, "T": T, "F": torch.tensor}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if kind == "of":
            made, value = (eval(text, space) for text in CASES[rest])
            seen = {"log_prob": plain(made.log_prob(value)), "repr": repr(made), "shapes": [list(made.batch_shape), list(made.event_shape)]}
            for ask in ASKED:
                seen[ask] = attempt(lambda: getattr(made, ask)() if ask == "entropy" else getattr(made, ask))
            seen["cdf"] = attempt(lambda: made.cdf(value))
            seen["icdf"] = attempt(lambda: made.icdf((value * 0 + 0.25) if value.dim() == 1 else value))
            if made.has_enumerate_support:
                seen["values"] = plain(made.enumerate_support())
            shape = torch.Size([3]) + made.batch_shape if made.batch_shape else torch.Size([1])
            seen["expanded"] = plain(made.expand(shape).log_prob(value))
            seen["sampled"] = list(made.sample((2, 5)).shape)
            seen["has_rsample"] = made.has_rsample
            return seen
        if kind == "kl":
            a, b = rest.split(":")
            return attempt(lambda: D.kl_divergence(eval(CASES[a][0], space), eval(CASES[b][0], space)))
        if kind == "map":
            t, x = eval(rest, space), T(eval(TRANSFORMS[rest]))
            y = t(x)
            return [plain(y), plain(t.inv(y)), plain(t.log_abs_det_jacobian(x, y)), list(t.forward_shape(x.shape)), list(t.inverse_shape(y.shape))]
        limit = eval(f"C.{rest}", {"C": D.constraints})
        x = T([[0.5, -1.0, 0.25]] * 3)
        maps = [attempt(lambda: to(limit)(x)) for to in (D.transform_to, D.biject_to)]
        inside = bool(limit.check(D.transform_to(limit)(x)).all())
        return [repr(limit), maps, inside, plain(limit.check(x).double())]


if __name__ == "__main__":
    import torch

    path = pathlib.Path(__file__).with_name("distributions.json")
    path.write_text("{\n" + ",\n".join(f"{json.dumps(n)}: {json.dumps(run(torch, n))}" for n in NAMES) + "\n}\n")
