"""Random matrices: Wishart's positive-definite ones, and Cholesky factors of correlation matrices (LKJ)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.distributions import constraints, draws
from gradwright.distributions.dirichlet import Beta
from gradwright.distributions.distribution import Distribution, ExponentialFamily
from gradwright.distributions.multivariate_normal import COVARIANCE, OfCovariance, log_diagonal
from gradwright.distributions.utils import broadcast_all
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import no_grad
from gradwright.engine.source_line import warn
from gradwright.face.algebra.lapack import cholesky_solve
from gradwright.face.algebra.solve import slogdet
from gradwright.face.creation import arange, tensor
from gradwright.face.diagonal import diag_embed
from gradwright.face.elementwise import where
from gradwright.face.join import cat
from gradwright.face.reduce import norm
from gradwright.face.shape import broadcast_shapes
from gradwright.face.special_names import digamma, multigammaln
from gradwright.face.special_names import gammaln as lgamma

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value


def _count(n: int, like: Any) -> Any:
    """0 to n - 1."""
    return arange(n, dtype=like.dtype, device=like.device)


class Wishart(OfCovariance, ExponentialFamily):
    """The sum of x x' of ``df`` normal vectors x of mean 0 and a covariance C, of n rows, given in one of three ways.

    det(X)**((df - n - 1) / 2) exp(-tr(C^-1 X) / 2) over its integral, for any real df > n - 1: ValueError otherwise.
    Draws for df < n are often singular in finite precision; a warning says so.

    >>> import gradwright as gw
    >>> d = gw.distributions.Wishart(gw.tensor(3.0), gw.eye(2))
    >>> d.mean
    tensor([[3., 0.],
            [0., 3.]])
    >>> d.log_prob(gw.eye(2)).shape
    torch.Size([])
    """

    df: Tensor
    arg_constraints = {**COVARIANCE, "df": constraints.greater_than(0)}
    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(self, df: Value, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
                 scale_tril: Tensor | None = None, validate_args: bool | None = None) -> None:  # fmt: skip
        name, value = self._matrix(covariance_matrix=covariance_matrix, precision_matrix=precision_matrix,
                                   scale_tril=scale_tril)  # fmt: skip
        df = df if isinstance(df, TensorBase) else tensor(df, dtype=value.dtype, device=value.device)
        batch, n = broadcast_shapes(value.shape[:-2], df.shape), value.shape[-1]
        if (df <= n - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        if (df < n).any():
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.",
                 UserWarning)  # fmt: skip
        self._keep(2, **{name: value.expand(*batch, -1, -1)})
        self._keep(df=df.expand(batch))
        Distribution.__init__(self, batch, value.shape[-2:], validate_args)
        self._factor(name, value)

    def _scaled(self, factor: Any) -> Any:
        return factor.unsqueeze(-1).unsqueeze(-1) * self.covariance_matrix

    mean = property(lambda self: self._scaled(self.df))

    @property
    def mode(self) -> Tensor:
        """(df - n - 1) C; NaN where df is not above n + 1."""
        above = self.df - self._event_shape[0] - 1
        return self._scaled(where(above <= 0, math.nan, above))

    @property
    def variance(self) -> Tensor:
        c = self.covariance_matrix
        d = c.diagonal(dim1=-2, dim2=-1)
        return self.df.unsqueeze(-1).unsqueeze(-1) * (c**2 + d.unsqueeze(-1) * d.unsqueeze(-2))

    def rsample(self, sample_shape: Sequence[int] = (), max_try_correction: int = 10) -> Tensor:
        """Draws by Bartlett's decomposition; those that are singular in their dtype are drawn anew, some times."""
        drawn = self._drawn(sample_shape)
        for _ in range(max_try_correction):
            good = self.support.check(drawn)
            if good.all():
                return drawn
            drawn = where(good.unsqueeze(-1).unsqueeze(-1), drawn, self._drawn(sample_shape))
        if not self.support.check(drawn).all():
            warn("Singular sample detected.", UserWarning)
        return drawn

    def _drawn(self, sample_shape: Sequence[int]) -> Any:
        shape, n = self._extended_shape(sample_shape), self._event_shape[0]
        half = (self.df.unsqueeze(-1) - _count(n, self.df)) / 2
        tiny = dtypes.finfo(self.df.dtype).eps
        chi = (2 * draws.gamma(half.expand(shape[:-1]))).sqrt().clamp(min=tiny)
        factor = self._unbroadcasted_scale_tril @ (draws.normal(chi, shape).tril(-1) + diag_embed(chi))
        return factor @ factor.mT

    def log_prob(self, value: Tensor) -> Tensor:
        value, n = self._checked(value), self._event_shape[0]
        factor = self._unbroadcasted_scale_tril
        trace = cholesky_solve(value, factor.expand(value.shape)).diagonal(dim1=-2, dim2=-1).sum(-1)
        size = self.df * (n * math.log(2) / 2 + log_diagonal(factor)) + multigammaln(self.df / 2, n)
        return (self.df - n - 1) / 2 * slogdet(value).logabsdet - trace / 2 - size

    def entropy(self) -> Tensor:
        n, df = self._event_shape[0], self.df
        size = log_diagonal(self._unbroadcasted_scale_tril) + n * math.log(2) / 2
        slope = digamma((df / 2).unsqueeze(-1) - _count(n, df) / 2).sum(-1)
        return (n + 1) * size + multigammaln(df / 2, n) - (df - n - 1) / 2 * slope + df * n / 2

    @property
    def _natural_params(self) -> Any:
        return -self.precision_matrix / 2, (self.df - self._event_shape[0] - 1) / 2

    def _log_normalizer(self, *natural_params: Any) -> Any:
        x, y = natural_params
        n = self._event_shape[0]
        y = y + (n + 1) / 2
        return y * (n * math.log(2) - slogdet(-2 * x).logabsdet) + multigammaln(y, n)


class LKJCholesky(Distribution):
    """Cholesky factors L of correlation matrices of ``dim`` rows, p(L L') proportional to det**(concentration - 1).

    Raises ValueError if ``dim`` is below 2. Drawn by the onion method: Lewandowski, Kurowicka and Joe (2009), 3.2.

    >>> import gradwright as gw
    >>> d = gw.distributions.LKJCholesky(3, 1.0)
    >>> L = d.sample()
    >>> (L @ L.T).diagonal().round(decimals=4)
    tensor([1., 1., 1.])
    """

    concentration: Tensor
    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(self, dim: int, concentration: Value = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (c,) = broadcast_all(concentration)
        self._keep(concentration=c)
        super().__init__(c.shape, (dim, dim), validate_args)

    def sample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        """Rows of random directions in the first dims, whose lengths squared are beta variables."""
        shape, c = self._extended_shape(sample_shape), self.concentration
        with no_grad():
            before = _count(self.dim - 1, c)
            before = cat([before.new_zeros((1,)), before])
            length = Beta(before + 0.5, (c + 0.5 * (self.dim - 2)).unsqueeze(-1) - 0.5 * before, validate_args=False)
            normal = draws.normal(c, shape).tril(-1)
            size = norm(normal, dim=-1, keepdim=True)
            way = normal / where(size > 0, size, 1.0)
            rows = length.sample(sample_shape).sqrt().unsqueeze(-1) * way
            left = 1 - (rows**2).sum(-1)
            return rows + diag_embed(left.clamp(min=dtypes.finfo(c.dtype).tiny).sqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        n, c = self.dim, self.concentration
        diagonal = self._checked(value).diagonal(dim1=-2, dim2=-1)[..., 1:]
        power = 2 * (c - 1).unsqueeze(-1) + n - (_count(n - 1, c) + 2)
        top = c + 0.5 * (n - 1)
        size = 0.5 * (n - 1) * math.log(math.pi) + multigammaln(top - 0.5, n - 1) - (n - 1) * lgamma(top)
        return (power * diagonal.log()).sum(-1) - size
