"""Probability distributions under the names of `torch.distributions`: densities, draws, divergences."""

from typing import TYPE_CHECKING

from gradwright.base.later import later
from gradwright.distributions import kl_cross, kl_same  # noqa: F401 - they register their formulas
from gradwright.distributions.binary import Bernoulli, Binomial, Geometric, NegativeBinomial, Poisson
from gradwright.distributions.categorical import (
    Categorical,
    Multinomial,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from gradwright.distributions.constraint_registry import biject_to, transform_to
from gradwright.distributions.continuous_bernoulli import ContinuousBernoulli
from gradwright.distributions.dirichlet import Beta, Dirichlet
from gradwright.distributions.distribution import Distribution, ExponentialFamily
from gradwright.distributions.gamma import Chi2, FisherSnedecor, Gamma, InverseGamma, StudentT
from gradwright.distributions.independent import Independent
from gradwright.distributions.kl import kl_divergence, register_kl
from gradwright.distributions.location_scale import Cauchy, Gumbel, HalfCauchy, Laplace, Uniform
from gradwright.distributions.matrices import LKJCholesky, Wishart
from gradwright.distributions.mixture import MixtureSameFamily
from gradwright.distributions.multivariate_normal import LowRankMultivariateNormal, MultivariateNormal
from gradwright.distributions.normal import HalfNormal, LogisticNormal, LogNormal, Normal
from gradwright.distributions.positive import Exponential, GeneralizedPareto, Kumaraswamy, Pareto, Weibull
from gradwright.distributions.relaxed import RelaxedBernoulli, RelaxedOneHotCategorical
from gradwright.distributions.transformed_distribution import TransformedDistribution
from gradwright.distributions.transforms import (
    AbsTransform,
    AffineTransform,
    CatTransform,
    ComposeTransform,
    CorrCholeskyTransform,
    CumulativeDistributionTransform,
    ExpTransform,
    IndependentTransform,
    LowerCholeskyTransform,
    PositiveDefiniteTransform,
    PowerTransform,
    ReshapeTransform,
    SigmoidTransform,
    SoftmaxTransform,
    SoftplusTransform,
    StackTransform,
    StickBreakingTransform,
    TanhTransform,
    Transform,
    identity_transform,
)
from gradwright.distributions.von_mises import VonMises
from gradwright.face.reading.keywords import told_keywords

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet",
    "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric",
    "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace",
    "LogNormal", "LogisticNormal", "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial",
    "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough",
    "Pareto", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT", "Poisson", "Uniform", "VonMises", "Weibull",
    "Wishart", "TransformedDistribution", "biject_to", "kl_divergence", "register_kl", "transform_to",
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform",
    "SoftplusTransform", "StackTransform", "StickBreakingTransform", "TanhTransform", "Transform",
    "identity_transform",
]  # fmt: skip

told_keywords(globals(), __all__)

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)
