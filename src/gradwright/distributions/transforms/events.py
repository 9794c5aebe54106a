"""Transforms of whole vectors and matrices: onto simplices, triangular and positive-definite matrices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradwright.base import dtypes
from gradwright.base.dtypes import Size
from gradwright.distributions import constraints
from gradwright.distributions.transforms.transform import Same, Transform
from gradwright.distributions.utils import tril_matrix_to_vec, vec_to_tril_matrix
from gradwright.face.functions.algebra.decompose import cholesky
from gradwright.face.functions.diagonal import diag_embed
from gradwright.face.functions.elementwise import softplus
from gradwright.face.functions.join import cat
from gradwright.face.functions.reduce import softmax
from gradwright.face.functions.scan import cumprod, cumsum


def _last(shape: Any, dims: int) -> None:
    if len(shape) < dims:
        raise ValueError("Too few dimensions on input")


class ReshapeTransform(Transform):
    """Events of ``in_shape`` as events of ``out_shape``. ValueError if these hold different numbers of entries.

    >>> gw.distributions.ReshapeTransform((2, 3), (6,))(gw.ones(5, 2, 3)).shape
    torch.Size([5, 6])
    """

    bijective = True

    def __init__(self, in_shape: Sequence[int], out_shape: Sequence[int], cache_size: int = 0) -> None:
        super().__init__(cache_size)
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")

    @constraints.dependent_property
    def domain(self) -> Any:
        """Real events of ``in_shape``."""
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        """Real events of ``out_shape``."""
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape((*x.shape[: x.ndim - len(self.in_shape)], *self.out_shape))

    def _inverse(self, y: Any) -> Any:
        return y.reshape((*y.shape[: y.ndim - len(self.out_shape)], *self.in_shape))

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[: x.ndim - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return self._swapped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self._swapped(shape, self.out_shape, self.in_shape)

    def _swapped(self, shape: Any, old: Size, new: Size) -> Size:
        _last(shape, len(old))
        cut = len(shape) - len(old)
        if tuple(shape[cut:]) != tuple(old):
            raise ValueError(f"Shape mismatch: expected {old} but got {Size(shape[cut:])}")
        return Size(shape[:cut]) + new


class SoftmaxTransform(Same):
    """y = exp x / sum exp x, of vectors; x = log y is one of those that y is made of.

    It has no volume change: NotImplementedError.

    >>> gw.distributions.SoftmaxTransform()(gw.zeros(2))
    tensor([0.5000, 0.5000])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        return softmax(x, -1)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        _last(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Same):
    """Vectors of n numbers to points of the simplex in n + 1 dims: each breaks a share off what is left.

    The share is sigmoid(x - log(n - i)) for the i-th number, so that x = 0 goes to the middle.

    >>> gw.distributions.StickBreakingTransform()(gw.zeros(3))
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def _shift(self, x: Any, n: int) -> Any:
        return x.new_tensor([math.log(n - i) for i in range(n)])

    def _call(self, x: Any) -> Any:
        info = dtypes.finfo(x.dtype)
        share = (x - self._shift(x, x.shape[-1])).sigmoid().clamp(info.tiny, 1 - info.eps)
        left = cumprod(1 - share, -1)
        one = left.new_ones((*x.shape[:-1], 1))
        return cat([share, one], -1) * cat([one, left], -1)

    def _inverse(self, y: Any) -> Any:
        most = y[..., :-1]
        left = (1 - cumsum(most, -1)).clamp(min=dtypes.finfo(y.dtype).tiny)
        return most.log() - left.log() + self._shift(y, most.shape[-1])

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        shifted = x - self._shift(x, x.shape[-1])
        return (-softplus(shifted) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        _last(shape, 1)
        return Size((*shape[:-1], shape[-1] + 1))

    def inverse_shape(self, shape: Any) -> Any:
        _last(shape, 1)
        return Size((*shape[:-1], shape[-1] - 1))


class CorrCholeskyTransform(Transform):
    """Vectors of n (n - 1)/2 numbers to the Cholesky factors of correlation matrices of n rows.

    The tanh of the numbers are the canonical partial correlations z, row by row below the diagonal: L_ij = z_ij sqrt of
    the product over k < j of (1 - z_ik**2).

    >>> gw.distributions.CorrCholeskyTransform()(gw.zeros(1))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = dtypes.finfo(x.dtype).eps
        z = vec_to_tril_matrix(x.tanh().clamp(-1 + eps, 1 - eps), diag=-1)
        left = cumprod((1 - z * z).sqrt(), -1)
        ones = left.new_ones((*left.shape[:-1], 1))
        return (z + diag_embed(z.new_ones(z.shape[:-1]))) * cat([ones, left[..., :-1]], -1)

    def _inverse(self, y: Any) -> Any:
        left = 1 - cumsum(y * y, -1)
        ones = left.new_ones((*left.shape[:-1], 1))
        left = cat([ones, left[..., :-1]], -1)
        z = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (z.log1p() - (-z).log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        left = 1 - cumsum(y * y, -1)
        parts = 0.5 * tril_matrix_to_vec(left, diag=-2).log().sum(-1) if y.shape[-1] > 2 else 0
        return parts - 2 * (x + softplus(-2 * x) - math.log(2)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        _last(shape, 1)
        n = round((0.25 + 2 * shape[-1]) ** 0.5 + 0.5)
        if n * (n - 1) // 2 != shape[-1]:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return Size((*shape[:-1], n, n))

    def inverse_shape(self, shape: Any) -> Any:
        _last(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        return Size((*shape[:-2], shape[-1] * (shape[-1] - 1) // 2))


class LowerCholeskyTransform(Same):
    """Square matrices to lower-triangular ones with a positive diagonal: that of y is exp of that of x.

    >>> gw.distributions.LowerCholeskyTransform()(gw.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + diag_embed(x.diagonal(dim1=-2, dim2=-1).exp())

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + diag_embed(y.diagonal(dim1=-2, dim2=-1).log())


class PositiveDefiniteTransform(Same):
    """Square matrices to positive-definite ones, L L' with the L of `LowerCholeskyTransform`.

    >>> gw.distributions.PositiveDefiniteTransform()(gw.tensor([[0.0, 9.0], [1.0, 0.0]]))
    tensor([[1., 1.],
            [1., 2.]])
    """

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        factor = LowerCholeskyTransform()(x)
        return factor @ factor.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(cholesky(y))
