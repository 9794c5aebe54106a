"""One of each distribution: how it is made, its parameters, and a value to ask it for; moments of its draws."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import gradwright
from gradwright import distributions

FUNCTIONS = ("log_prob", "cdf", "icdf")
DRAWS = 4000
ERRORS = 5.0


@dataclass(frozen=True)
class Case:
    """A distribution made by ``make(D, **parameters)``, D a module of distributions, and a value of its support.

    Lists are tensors of ``dtype``.
    """

    make: Callable[..., Any]
    parameters: dict[str, Any]
    value: Any
    dtype: str = "float64"


def _of(name: str, value: Any, **parameters: Any) -> Case:
    return Case(lambda D, **p: getattr(D, name)(**p), parameters, value)


# fmt: off
PLACE = {"loc": [-0.7, 1.2, 0.1], "scale": [0.6, 1.5, 2.2]}
REAL = [0.3, -0.4, 1.9]
ABOVE = [0.3, 1.4, 2.9]
WITHIN = [0.2, 0.55, 0.9]
SIMPLEX = [[0.2, 0.5, 0.3], [0.1, 0.15, 0.75]]
SPREAD = [[1.3, 0.4, -0.2], [0.4, 2.1, 0.3], [-0.2, 0.3, 0.9]]
FACTOR = [[1.1, 0.0, 0.0], [0.4, 0.8, 0.0], [-0.3, 0.5, 1.4]]
CORRELATION = [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0], [0.48, -0.6, 0.64]]

CASES = {
    "Bernoulli": _of("Bernoulli", [1.0, 0.0, 1.0], probs=[0.2, 0.7, 0.95]),
    "Bernoulli, logits": _of("Bernoulli", [1.0, 0.0, 1.0], logits=[-30.0, 0.7, 3.0]),
    "Beta": _of("Beta", WITHIN, concentration1=[0.4, 2.0, 5.0], concentration0=[1.3, 0.8, 3.0]),
    "Binomial": _of("Binomial", [2.0, 0.0, 5.0], total_count=5, probs=[0.2, 0.7, 0.95]),
    "Binomial, logits": _of("Binomial", [2.0, 0.0, 5.0], total_count=5, logits=[-2.0, 0.7, 3.0]),
    "Categorical": _of("Categorical", [1, 2], probs=[[0.2, 0.5, 0.3], [1.0, 1.5, 0.2]]),
    "Categorical, logits": _of("Categorical", [1, 2], logits=[[0.2, 0.5, -3.0], [1.0, -1.5, 0.2]]),
    "Cauchy": _of("Cauchy", REAL, **PLACE),
    "Chi2": _of("Chi2", ABOVE, df=[0.7, 3.0, 6.5]),
    "ContinuousBernoulli": _of("ContinuousBernoulli", WITHIN, probs=[0.2, 0.7, 0.95]),
    "ContinuousBernoulli, logits": _of("ContinuousBernoulli", WITHIN, logits=[-5.0, 0.7, 3.0]),
    "Dirichlet": _of("Dirichlet", SIMPLEX, concentration=[[0.7, 2.0, 3.5], [1.0, 1.4, 6.0]]),
    "Exponential": _of("Exponential", ABOVE, rate=[0.5, 1.0, 2.5]),
    "FisherSnedecor": _of("FisherSnedecor", ABOVE, df1=[1.5, 4.0, 7.0], df2=[5.0, 6.5, 9.0]),
    "Gamma": _of("Gamma", ABOVE, concentration=[0.4, 1.0, 6.0], rate=[0.5, 1.2, 2.0]),
    "GeneralizedPareto": Case(  # PyTorch's takes float32 alone
        lambda D, **p: D.GeneralizedPareto(**p),
        {"loc": [-0.7, 1.2, 0.1], "scale": [0.6, 1.5, 2.2], "concentration": [0.3, -0.5, 0.1]}, ABOVE, "float32",
    ),
    "Geometric": _of("Geometric", [1.0, 0.0, 4.0], probs=[0.2, 0.7, 0.95]),
    "Geometric, logits": _of("Geometric", [1.0, 0.0, 4.0], logits=[-2.0, 0.7, 3.0]),
    "Gumbel": _of("Gumbel", REAL, **PLACE),
    "HalfCauchy": _of("HalfCauchy", ABOVE, scale=[0.6, 1.5, 2.2]),
    "HalfNormal": _of("HalfNormal", ABOVE, scale=[0.6, 1.5, 2.2]),
    "Independent": Case(lambda D, **p: D.Independent(D.Normal(**p), 1), PLACE, REAL),
    "InverseGamma": _of("InverseGamma", ABOVE, concentration=[0.7, 4.5, 6.0], rate=[0.5, 1.2, 2.0]),
    "Kumaraswamy": _of("Kumaraswamy", WITHIN, concentration1=[0.4, 2.0, 5.0], concentration0=[1.3, 1.8, 3.0]),
    "LKJCholesky": _of("LKJCholesky", CORRELATION, dim=3, concentration=[0.7, 1.0, 3.5]),
    "Laplace": _of("Laplace", REAL, **PLACE),
    "LogNormal": _of("LogNormal", ABOVE, loc=[-0.7, 0.4, 0.1], scale=[0.3, 0.5, 0.2]),
    "LogisticNormal": _of("LogisticNormal", [0.2, 0.3, 0.1, 0.4], **PLACE),
    "LowRankMultivariateNormal": _of("LowRankMultivariateNormal", [[0.3, -0.4, 1.9], [0.1, 0.2, 0.3]],
                                     loc=[0.1, 0.2, -0.3], cov_factor=[[0.5, 1.0], [-0.2, 0.3], [0.7, 0.1]],
                                     cov_diag=[0.5, 0.9, 1.3]),
    "MixtureSameFamily": Case(
        lambda D, probs, **p: D.MixtureSameFamily(D.Categorical(probs), D.Normal(**p)),
        {"probs": SIMPLEX[0], **PLACE}, [0.3, -0.4],
    ),
    "MixtureSameFamily, vectors": Case(
        lambda D, probs, **p: D.MixtureSameFamily(D.Categorical(probs), D.Independent(D.Normal(**p), 1)),
        {"probs": SIMPLEX, "loc": [[[0.1, 0.4], [1.0, -2.0], [0.2, 0.2]]] * 2,
         "scale": [[[1.0, 0.4], [1.3, 0.2], [0.9, 2]]] * 2},
        [[0.3, -0.4], [1.0, 1.1]],
    ),
    "Multinomial": _of("Multinomial", [[1.0, 3.0, 1.0], [0.0, 4.0, 1.0]], total_count=5, probs=SIMPLEX),
    "Multinomial, logits": _of("Multinomial", [[1.0, 3.0, 1.0], [0.0, 4.0, 1.0]], total_count=5,
                               logits=[[0.2, 0.5, -3.0], [1.0, -1.5, 0.2]]),
    "MultivariateNormal": _of("MultivariateNormal", [[0.3, -0.4, 1.9], [0.1, 0.2, 0.3]],
                              loc=[0.1, 0.2, -0.3], scale_tril=FACTOR),
    "MultivariateNormal, covariance": _of("MultivariateNormal", [0.3, -0.4, 1.9],
                                          loc=[[0.1, 0.2, -0.3], [1.0, 0.0, 2.0]], covariance_matrix=SPREAD),
    "MultivariateNormal, precision": _of("MultivariateNormal", [0.3, -0.4, 1.9], loc=[0.1, 0.2, -0.3],
                                         precision_matrix=[SPREAD, SPREAD]),
    "NegativeBinomial": _of("NegativeBinomial", [2.0, 0.0, 5.0], total_count=3.5, probs=[0.2, 0.7, 0.95]),
    "NegativeBinomial, logits": _of("NegativeBinomial", [2.0, 0.0, 5.0], total_count=[3.0, 1.0, 2.0],
                                    logits=[-2.0, 0.7, 3.0]),
    "Normal": _of("Normal", REAL, **PLACE),
    "OneHotCategorical": _of("OneHotCategorical", [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], probs=SIMPLEX),
    "OneHotCategoricalStraightThrough": _of("OneHotCategoricalStraightThrough", [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
                                            logits=[[0.2, 0.5, -3.0], [1.0, -1.5, 0.2]]),
    "Pareto": _of("Pareto", [0.7, 1.7, 4.0], scale=[0.5, 1.0, 2.0], alpha=[3.5, 2.6, 5.0]),
    "Poisson": _of("Poisson", [2.0, 0.0, 5.0], rate=[0.5, 1.2, 7.0]),
    "RelaxedBernoulli": _of("RelaxedBernoulli", WITHIN, temperature=[0.7], probs=[0.2, 0.7, 0.95]),
    "RelaxedBernoulli, logits": _of("RelaxedBernoulli", WITHIN, temperature=[0.7], logits=[-2.0, 0.7, 3.0]),
    "RelaxedOneHotCategorical": _of("RelaxedOneHotCategorical", SIMPLEX, temperature=[0.7], probs=SIMPLEX),
    "RelaxedOneHotCategorical, logits": _of("RelaxedOneHotCategorical", SIMPLEX, temperature=[0.7],
                                            logits=[[0.2, 0.5, -3.0], [1.0, -1.5, 0.2]]),
    "StudentT": _of("StudentT", REAL, df=[2.5, 5.0, 7.0], **PLACE),
    "TransformedDistribution": Case(
        lambda D, **p: D.TransformedDistribution(D.Normal(**p), [D.TanhTransform(), D.AffineTransform(0.5, -2.0)]),
        PLACE, [0.3, -0.4, 1.9],
    ),
    "Uniform": _of("Uniform", REAL, low=[-1.0, -0.5, 1.0], high=[0.5, 2.0, 4.0]),
    "VonMises": _of("VonMises", REAL, loc=[-0.7, 1.2, 0.1], concentration=[0.3, 1.0, 9.0]),
    "Weibull": _of("Weibull", ABOVE, scale=[0.6, 1.5, 2.2], concentration=[1.3, 1.5, 3.0]),
    "Wishart": _of("Wishart", SPREAD, df=[3.5, 5.0], covariance_matrix=SPREAD),
    "Wishart, scale_tril": _of("Wishart", SPREAD, df=4.5, scale_tril=FACTOR),
    "Wishart, precision": _of("Wishart", SPREAD, df=4.5, precision_matrix=SPREAD),
}
# fmt: on


class Made:
    """A case made by a library ``T`` and its module ``D`` of distributions, with its parameters and arguments."""

    def __init__(self, case: Case, T: Any, D: Any) -> None:
        def tensor(value: Any) -> Any:
            return T.tensor(value, dtype=getattr(T, case.dtype), requires_grad=True)

        self.T = T
        self.parameters = {k: tensor(v) if isinstance(v, list) else v for k, v in case.parameters.items()}
        self.it = case.make(D, **self.parameters)
        self.value = tensor(case.value)
        self.share = T.full(self.it.batch_shape, 0.3, dtype=self.value.dtype, requires_grad=True)

    def leaves(self) -> dict[str, Any]:
        own = {k: p for k, p in self.parameters.items() if isinstance(p, self.T.Tensor)}
        return {**own, "value": self.value, "share": self.share}

    def ask(self, name: str) -> Any:
        """What it says to a name; NotImplementedError if nothing."""
        found = getattr(self.it, name)
        if name in FUNCTIONS:
            return found(self.share if name == "icdf" else self.value)
        return found() if callable(found) else found

    def slopes(self, out: Any) -> dict[str, np.ndarray]:
        """The derivatives of a weighted sum of ``out``; 0 where there are none."""
        weights = self.T.tensor(np.random.default_rng(0).normal(size=tuple(out.shape)), dtype=out.dtype)
        leaves = self.leaves()
        found = self.T.autograd.grad((out * weights).sum(), list(leaves.values()), allow_unused=True, retain_graph=True)
        return {k: np.zeros(()) if g is None else g.numpy() for k, g in zip(leaves, found, strict=True)}


def ours(name: str) -> Made:
    """A case, made by gradwright."""
    return Made(CASES[name], gradwright, distributions)


def strays(name: str) -> Iterator[str]:
    """Exact moments from which those of draws lie more than five standard errors away."""
    made = ours(name)
    gradwright.manual_seed(0)
    x = made.it.sample((DRAWS,)).double().numpy()
    for what, values in (("mean", x), ("variance", (x - x.mean(0)) ** 2)):
        try:
            exact = np.asarray(made.ask(what).detach().double().numpy())
        except NotImplementedError:
            continue
        if name != "VonMises" and not _near(values, exact, np.isfinite(exact)):
            yield what


def _near(values: Any, exact: Any, asked: Any = True) -> bool:
    error = values.std(0) / np.sqrt(len(values))
    return bool(((np.abs(values.mean(0) - exact) <= ERRORS * error + 1e-12) | ~np.asarray(asked)).all())
