"""Normal vectors, and random matrices: positive-definite ones (Wishart), Cholesky factors of correlations (LKJ)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.base.source_line import warn
from gradwright.distributions import constraints, draws
from gradwright.distributions.distribution import LOG_2PI, Distribution, ExponentialFamily
from gradwright.distributions.shares import Beta
from gradwright.distributions.utils import broadcast_all, lazy_property
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import no_grad
from gradwright.face.creation import arange, eye, tensor
from gradwright.face.functions.algebra.decompose import cholesky
from gradwright.face.functions.algebra.lapack import cholesky_inverse, cholesky_solve
from gradwright.face.functions.algebra.solve import slogdet, solve_triangular
from gradwright.face.functions.diagonal import diag_embed
from gradwright.face.functions.elementwise import where
from gradwright.face.functions.join import cat
from gradwright.face.functions.reduce import norm
from gradwright.face.functions.shape import broadcast_shapes, broadcast_tensors
from gradwright.face.special_names import digamma, multigammaln
from gradwright.face.special_names import gammaln as lgamma

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor, Value


COVARIANCE = {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
              "scale_tril": constraints.lower_cholesky}  # fmt: skip


class OfCovariance(Distribution):
    """What has a positive-definite matrix: given as one of the following, it gives the others when asked for them.

    ``covariance_matrix``, ``precision_matrix``, its inverse, or ``scale_tril``, its Cholesky factor.
    """

    _unbroadcasted_scale_tril: Any

    def _matrix(self, **given: Any) -> tuple[str, Any]:
        """The name and the value of the one that is given; ValueError if it is not one, or no matrix."""
        (name, value), *more = [(n, v) for n, v in given.items() if v is not None] or [("", None)]
        if value is None or more:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        if value.ndim < 2:
            raise ValueError(f"{name} matrix must be at least two-dimensional, with optional leading batch dimensions")
        return name, value

    def _factor(self, name: str, value: Any) -> None:
        """Find the Cholesky factor, of which all is made."""
        if name == "covariance_matrix":
            value = cholesky(value)
        elif name == "precision_matrix":
            value = factor_of_inverse(value)
        self._unbroadcasted_scale_tril = value

    def _square(self, value: Any) -> Any:
        return value.expand(*self._batch_shape, *value.shape[-2:])

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance."""
        return self._square(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        factor = self._unbroadcasted_scale_tril
        return self._square(factor @ factor.mT)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        return self._square(cholesky_inverse(self._unbroadcasted_scale_tril))


class MultivariateNormal(OfCovariance):
    """exp(-d' C^-1 d / 2) / sqrt(det(2 pi C)), d = x - loc, C the covariance, given in one of three ways.

    Raises ValueError unless one of the three is given, of at least two dims, positive definite.

    >>> d = gw.distributions.MultivariateNormal(gw.zeros(2), gw.eye(2))
    >>> d.log_prob(gw.zeros(2)).exp()
    tensor(0.1592)
    >>> d.entropy()
    tensor(2.8379)
    """

    loc: Tensor
    arg_constraints = {"loc": constraints.real_vector, **COVARIANCE}
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, covariance_matrix: Tensor | None = None, precision_matrix: Tensor | None = None,
                 scale_tril: Tensor | None = None, validate_args: bool | None = None) -> None:  # fmt: skip
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        name, value = self._matrix(covariance_matrix=covariance_matrix, precision_matrix=precision_matrix,
                                   scale_tril=scale_tril)  # fmt: skip
        batch = broadcast_shapes(value.shape[:-2], loc.shape[:-1])
        self._keep(2, **{name: value.expand(*batch, -1, -1)})
        self._keep(1, loc=loc.expand(*batch, -1))
        super().__init__(batch, loc.shape[-1:], validate_args)
        self._factor(name, value)

    mean = mode = property(lambda self: self.loc)

    @property
    def variance(self) -> Tensor:
        return (self._unbroadcasted_scale_tril**2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        return self.loc + product(
            self._unbroadcasted_scale_tril, draws.normal(self.loc, self._extended_shape(sample_shape))
        )

    def log_prob(self, value: Tensor) -> Tensor:
        factor = self._unbroadcasted_scale_tril
        distance = squared_distance(factor, self._checked(value) - self.loc)
        return -0.5 * (self._event_shape[0] * LOG_2PI + distance) - log_diagonal(factor)

    def entropy(self) -> Tensor:
        size = log_diagonal(self._unbroadcasted_scale_tril).expand(self._batch_shape)
        return 0.5 * self._event_shape[0] * (1 + LOG_2PI) + size


class LowRankMultivariateNormal(Distribution):
    """Normal vectors of covariance W W' + D: W the ``cov_factor`` of few columns, D of diagonal ``cov_diag``.

    Only the small matrix I + W' D^-1 W is factored. Raises ValueError if the shapes do not go together.

    >>> d = gw.distributions.LowRankMultivariateNormal(gw.zeros(2), gw.ones(2, 1), gw.ones(2))
    >>> d.covariance_matrix
    tensor([[2., 1.],
            [1., 2.]])
    """

    cov_diag: Tensor
    cov_factor: Tensor
    loc: Tensor
    arg_constraints = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }  # fmt: skip
    support = constraints.real_vector
    has_rsample = True

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        if loc.ndim < 1:
            raise ValueError("loc must be at least one-dimensional.")
        n = loc.shape[-1]
        if cov_factor.ndim < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2] != n:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {n} x m")
        if cov_diag.shape[-1:] != loc.shape[-1:]:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {loc.shape[-1:]}")
        try:
            batch = broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        except RuntimeError as error:
            raise ValueError(f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag "
                             f"{cov_diag.shape}") from error  # fmt: skip
        self._keep(1, loc=loc.expand(*batch, -1), cov_diag=cov_diag.expand(*batch, -1))
        self._keep(2, cov_factor=cov_factor.expand(*batch, -1, -1))
        super().__init__(batch, loc.shape[-1:], validate_args)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        small = self._whitened().mT @ cov_factor
        self._capacitance_tril = cholesky(small + identity(small))

    def _whitened(self) -> Any:
        """D^-1 W."""
        return self._unbroadcasted_cov_factor / self._unbroadcasted_cov_diag.unsqueeze(-1)

    mean = mode = property(lambda self: self.loc)

    @lazy_property
    def variance(self) -> Tensor:
        """The diagonal of the covariance."""
        own = (self._unbroadcasted_cov_factor**2).sum(-1) + self._unbroadcasted_cov_diag
        return own.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance."""
        return self.cov_factor @ self.cov_factor.mT + diag_embed(self.cov_diag)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The Cholesky factor of the covariance, made of the factor of a matrix whose eigenvalues are not below 1."""
        root = self.cov_diag.sqrt().unsqueeze(-1)
        part = self.cov_factor / root
        inside = part @ part.mT
        return root * cholesky(inside + identity(inside))

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The inverse of the covariance."""
        part = self._inner()
        own = diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - part.mT @ part
        return own.expand(self._batch_shape + self._event_shape * 2)

    def _inner(self) -> Any:
        """A with (W W' + D)^-1 = D^-1 - A' A."""
        return solve_triangular(self._capacitance_tril, self._whitened().mT, upper=False)

    def _log_det(self) -> Any:
        """The logarithm of the determinant of the covariance."""
        return 2 * log_diagonal(self._capacitance_tril) + self._unbroadcasted_cov_diag.log().sum(-1)

    def _distance(self, away: Any) -> Any:
        """d' C^-1 d."""
        inside = product(self._whitened().mT, away)
        return (away**2 / self._unbroadcasted_cov_diag).sum(-1) - squared_distance(self._capacitance_tril, inside)

    def rsample(self, sample_shape: Sequence[int] = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        few = draws.normal(self.loc, shape[:-1] + self.cov_factor.shape[-1:])
        own = self._unbroadcasted_cov_diag.sqrt() * draws.normal(self.loc, shape)
        return self.loc + product(self._unbroadcasted_cov_factor, few) + own

    def log_prob(self, value: Tensor) -> Tensor:
        distance = self._distance(self._checked(value) - self.loc)
        return -0.5 * (self._event_shape[0] * LOG_2PI + self._log_det() + distance)

    def entropy(self) -> Tensor:
        size = self._event_shape[0] * (1 + LOG_2PI) + self._log_det()
        return 0.5 * size.expand(self._batch_shape)


def identity(matrix: Any) -> Any:
    """That of the size of ``matrix``."""
    return eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)


def factor_of_inverse(precision: Any) -> Any:
    """The Cholesky factor of the inverse: the factor of the matrix read backwards, read backwards, is upper."""
    upper = cholesky(precision.flip((-2, -1))).flip((-2, -1))
    return solve_triangular(upper.mT, identity(precision), upper=False)


def product(matrix: Any, vector: Any) -> Any:
    """Matrices times vectors, in batches that broadcast."""
    return (matrix @ vector.unsqueeze(-1)).squeeze(-1)


def log_diagonal(factor: Any) -> Any:
    """The sum of the logarithms of the diagonal: half the log-determinant of L L'."""
    return factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def squared_distance(factor: Any, away: Any) -> Any:
    """d' (L L')^-1 d, for L (..., n, n) and d (..., n). Vectors that share a matrix are solved for together."""
    n, own = away.shape[-1], factor.ndim - 2
    if own > away.ndim - 1:
        away = broadcast_tensors(away, factor[..., 0])[0]
    batch = broadcast_shapes(factor.shape[:-2], away.shape[away.ndim - 1 - own : -1])
    away = away.expand(*away.shape[: away.ndim - 1 - own], *batch, n)
    columns = away.reshape(math.prod(away.shape[: away.ndim - 1 - own]), *batch, n).movedim(0, -1)
    solved = solve_triangular(factor.expand(*batch, n, n), columns, upper=False)
    return (solved**2).sum(-2).movedim(-1, 0).reshape(away.shape[:-1])


def _count(n: int, like: Any) -> Any:
    """0 to n - 1."""
    return arange(n, dtype=like.dtype, device=like.device)


class Wishart(OfCovariance, ExponentialFamily):
    """The sum of x x' of ``df`` normal vectors x of mean 0 and a covariance C, of n rows, given in one of three ways.

    det(X)**((df - n - 1) / 2) exp(-tr(C^-1 X) / 2) over its integral, for any real df > n - 1: ValueError otherwise.
    Draws for df < n are often singular in finite precision; a warning says so.

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
            lengths = length.sample(sample_shape).sqrt().unsqueeze(-1)
            normal = draws.normal(c, shape).tril(-1)
            size = norm(normal, dim=-1, keepdim=True)
            rows = lengths * normal / where(size > 0, size, 1.0)
            left = 1 - (rows**2).sum(-1)
            return rows + diag_embed(left.clamp(min=dtypes.finfo(c.dtype).tiny).sqrt())

    def log_prob(self, value: Tensor) -> Tensor:
        n, c = self.dim, self.concentration
        diagonal = self._checked(value).diagonal(dim1=-2, dim2=-1)[..., 1:]
        power = 2 * (c - 1).unsqueeze(-1) + n - (_count(n - 1, c) + 2)
        top = c + 0.5 * (n - 1)
        size = 0.5 * (n - 1) * math.log(math.pi) + multigammaln(top - 0.5, n - 1) - (n - 1) * lgamma(top)
        return (power * diagonal.log()).sum(-1) - size
