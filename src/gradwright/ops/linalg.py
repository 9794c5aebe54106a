"""Products of vectors and matrices."""

from __future__ import annotations

from math import prod

from gradwright.ops.complex import is_complex
from gradwright.ops.declare import A, Sample, builtin
from gradwright.ops.shape import sum_to

_PRODUCTS = [
    Sample(A(3, 4), A(4, 2)),
    Sample(A(3, 4), A(4)),
    Sample(A(4), A(4, 2)),
    Sample(A(4), A(4)),
    Sample(A(2, 3, 4), A(4, 2)),
    Sample(A(2, 1, 3, 4), A(3, 4, 2)),
    Sample(A(2, 3, 4), A(4)),
    Sample(A(4), A(2, 4, 3)),
]


@builtin(complex="holomorphic", node="MmBackward0", multilinear=True, ufuncs=True, samples=_PRODUCTS)
def matmul(xp, x, y):
    """Matrix product over the last two axes; a vector counts as a row on the left, a column on the right.

    The other axes broadcast. For matrices z = x y: dx = g y^T, dy = x^T g.
    """
    return _product(xp, x, y)


def rows(xp, x):
    """``x`` as a matrix of its last axis, all others joined."""
    return x if x.ndim == 2 else xp.reshape(x, (prod(x.shape[:-1]), x.shape[-1]))


def _product(xp, x, y):
    """x y; one large product instead of many small ones where y is one matrix."""
    if y.ndim != 2 or x.ndim < 3:
        return xp.matmul(x, y)
    return xp.reshape(xp.matmul(rows(xp, x), y), (*x.shape[:-1], y.shape[1]))


def transposed(xp, x):
    """Each matrix transposed."""
    return xp.permute_dims(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def adjoint(xp, x):
    """Each matrix transposed and conjugated."""
    return xp.conj(transposed(xp, x)) if is_complex(xp, x) else transposed(xp, x)


def _left(xp, g, x_shape, y):
    if len(x_shape) == 1 and y.ndim == 2:
        return xp.matmul(y, g)
    if y.ndim == 1:
        return sum_to(xp, xp.expand_dims(g, axis=g.ndim) * y, x_shape)
    if len(x_shape) == 1:
        g = xp.expand_dims(g, axis=g.ndim - 1)
    dx = _product(xp, g, transposed(xp, y))
    return xp.reshape(sum_to(xp, dx, (1, *x_shape)), x_shape) if len(x_shape) == 1 else sum_to(xp, dx, x_shape)


def _right(xp, g, x, y_shape):
    if len(y_shape) == 1:
        if x.ndim == 1:
            return g * x
        if x.ndim == 2:
            return xp.matmul(g, x)
        dy = xp.matmul(transposed(xp, x), xp.expand_dims(g, axis=g.ndim))
        return xp.reshape(sum_to(xp, dy, (*y_shape, 1)), y_shape)
    if x.ndim == 1 and g.ndim == 1:
        return xp.reshape(x, (-1, 1)) * g
    if x.ndim == 1:
        return sum_to(xp, xp.expand_dims(x, axis=1) * xp.expand_dims(g, axis=g.ndim - 1), y_shape)
    if len(y_shape) == 2:
        return xp.matmul(transposed(xp, rows(xp, x)), rows(xp, g))
    return sum_to(xp, xp.matmul(transposed(xp, x), g), y_shape)


matmul.vjp(x=_left, y=_right)


def _right_by_columns(xp, g, x):
    return transposed(xp, xp.matmul(transposed(xp, g), x))


matmul_by_columns = matmul.variant("MmBackward0")
"""`matmul` of matrices, the second in memory by columns, as a transposed weight is: then its cotangent is too."""
matmul_by_columns.rules = dict(matmul.rules)
matmul_by_columns.vjp(y=_right_by_columns)


@builtin(complex="holomorphic", node="AddmmBackward0", ufuncs=True, samples=[Sample(A(2), A(3, 4), A(2, 4)),
         Sample(A(4), A(2, 2, 3), A(4, 3)), Sample(A(3), A(2), A(3, 2))])  # fmt: skip
def linear(xp, bias, x, weight):
    """y = x weight^T + bias for bias of shape (out,), x (..., in), weight (out, in): in the order of addmm."""
    return _product(xp, x, xp.permute_dims(weight, (1, 0))) + bias


linear.jvp(
    x=lambda xp, t, weight: _product(xp, t, transposed(xp, weight)),
    weight=lambda xp, t, x: _product(xp, x, transposed(xp, t)),
    bias=lambda xp, t: t,
)
linear.vjp(
    x=lambda xp, g, weight: _product(xp, g, weight),
    weight=lambda xp, g, x: xp.matmul(xp.permute_dims(rows(xp, g), (1, 0)), rows(xp, x)),
    bias=lambda xp, g: xp.sum(rows(xp, g), axis=(0,)),
)


@builtin(multilinear=True, complex="holomorphic", node="EinsumBackward0",
         samples=[Sample(A(2, 3), A(3, 4), equation="ij,jk->ik"), Sample(A(2, 3), equation="ij->ji"),
         Sample(A(2, 3), equation="ij->i"), Sample(A(2), A(3), equation="i,j->ij"),
         Sample(A(2, 3), A(3), A(2), equation="ij,j,i->"),
         Sample(A(2, 3, 4), A(2, 4, 2), equation="bij,bjk->bik")])  # fmt: skip
def einsum(xp, *xs, equation):
    """Sum of products over the axes that ``equation`` names; no letter twice in one operand."""
    return xp.einsum(*xs, equation=equation)


def _einsum_slope(xp, g, xs, xs_shape, equation, i):
    """Swap the operand with the result; axes that only this operand has are stretched by ones."""
    operands, result = equation.split("->")
    terms = operands.split(",")
    others = [(t, x) for k, (t, x) in enumerate(zip(terms, xs, strict=True)) if k != i]
    seen = set(result).union(*(t for t, _ in others)) if others else set(result)
    for letter, n in zip(terms[i], xs_shape[i], strict=True):
        if letter not in seen:
            others.append((letter, xp.ones_like(g, shape=(n,))))
    swapped = ",".join([result, *(t for t, _ in others)]) + "->" + terms[i]
    return xp.einsum(g, *(x for _, x in others), equation=swapped)


einsum.vjp(xs=_einsum_slope)
