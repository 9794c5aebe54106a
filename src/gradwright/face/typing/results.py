"""What functions return that return several tensors with names."""

from __future__ import annotations

from typing import NamedTuple

from gradwright.face.tensor import Tensor


class ValuesIndices(NamedTuple):
    """Of max, min, sort, topk and the like."""

    values: Tensor
    indices: Tensor


class MinMax(NamedTuple):
    """Of aminmax."""

    min: Tensor
    max: Tensor


class MantissaExponent(NamedTuple):
    """Of frexp."""

    mantissa: Tensor
    exponent: Tensor


class Histogram(NamedTuple):
    """Of histogram."""

    hist: Tensor
    bin_edges: Tensor


class HistogramDD(NamedTuple):
    """Of histogramdd."""

    hist: Tensor
    bin_edges: tuple[Tensor, ...]


class InverseInfo(NamedTuple):
    """Of linalg.inv_ex."""

    inverse: Tensor
    info: Tensor


class ResultInfo(NamedTuple):
    """Of linalg.solve_ex."""

    result: Tensor
    info: Tensor


class SignLogDet(NamedTuple):
    """Of slogdet."""

    sign: Tensor
    logabsdet: Tensor


class LeastSquares(NamedTuple):
    """Of linalg.lstsq."""

    solution: Tensor
    residuals: Tensor
    rank: Tensor
    singular_values: Tensor


class CholeskyInfo(NamedTuple):
    """Of linalg.cholesky_ex."""

    L: Tensor
    info: Tensor


class Eigen(NamedTuple):
    """Of linalg.eig and linalg.eigh."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class LDLFactor(NamedTuple):
    """Of linalg.ldl_factor."""

    LD: Tensor
    pivots: Tensor


class LDLFactorInfo(NamedTuple):
    """Of linalg.ldl_factor_ex."""

    LD: Tensor
    pivots: Tensor
    info: Tensor


class PLU(NamedTuple):
    """Of linalg.lu and lu_unpack."""

    P: Tensor
    L: Tensor
    U: Tensor


class LUFactor(NamedTuple):
    """Of linalg.lu_factor."""

    LU: Tensor
    pivots: Tensor


class LUFactorInfo(NamedTuple):
    """Of linalg.lu_factor_ex."""

    LU: Tensor
    pivots: Tensor
    info: Tensor


class QR(NamedTuple):
    """Of qr."""

    Q: Tensor
    R: Tensor


class USVh(NamedTuple):
    """Of linalg.svd."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class USV(NamedTuple):
    """Of svd."""

    U: Tensor
    S: Tensor
    V: Tensor


class ATau(NamedTuple):
    """Of geqrf."""

    a: Tensor
    tau: Tensor


class Triangular(NamedTuple):
    """Of triangular_solve."""

    solution: Tensor
    cloned_coefficient: Tensor
