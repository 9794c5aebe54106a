"""Probability distributions under the names of `torch.distributions`: densities, draws, divergences."""

from gradwright.base.lazy import lazy
from gradwright.distributions import transforms
from gradwright.distributions.composed import Independent, MixtureSameFamily, TransformedDistribution
from gradwright.distributions.constraint_registry import biject_to, transform_to
from gradwright.distributions.continuous import (
    Cauchy,
    Gumbel,
    HalfCauchy,
    HalfNormal,
    Laplace,
    LogisticNormal,
    LogNormal,
    Normal,
    Uniform,
    VonMises,
)
from gradwright.distributions.discrete import (
    Bernoulli,
    Binomial,
    Categorical,
    Geometric,
    Multinomial,
    NegativeBinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from gradwright.distributions.distribution import Distribution, ExponentialFamily
from gradwright.distributions.kl import kl_divergence, register_kl
from gradwright.distributions.multivariate import LKJCholesky, LowRankMultivariateNormal, MultivariateNormal, Wishart
from gradwright.distributions.positive import (
    Chi2,
    Exponential,
    FisherSnedecor,
    Gamma,
    GeneralizedPareto,
    InverseGamma,
    Kumaraswamy,
    Pareto,
    StudentT,
    Weibull,
)
from gradwright.distributions.shares import (
    Beta,
    ContinuousBernoulli,
    Dirichlet,
    RelaxedBernoulli,
    RelaxedOneHotCategorical,
)
from gradwright.distributions.transforms import *  # noqa: F403
from gradwright.face.reading.keywords import told_keywords

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet",
    "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric",
    "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace",
    "LogNormal", "LogisticNormal", "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial",
    "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough",
    "Pareto", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT", "Poisson", "Uniform", "VonMises", "Weibull",
    "Wishart", "TransformedDistribution", "biject_to", "kl_divergence", "register_kl", "transform_to",
]  # fmt: skip
__all__ += transforms.__all__

told_keywords(globals(), __all__)

lazy(__name__)
