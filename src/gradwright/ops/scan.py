"""Running results along one axis: sums, products, linear recurrences, logarithms of sums of exponentials."""

from __future__ import annotations

import math
from math import prod

from gradwright.ops.complex import is_complex, real_part
from gradwright.ops.declare import A, Sample, builtin
from gradwright.ops.elementary import logaddexp

_LINES = [Sample(A(3, 4), axis=0), Sample(A(3, 5), axis=1), Sample(A(1), axis=0)]


def _part(axis, start=None, stop=None, step=None):
    """The index that takes a slice along ``axis``."""
    return (slice(None),) * axis + (slice(start, stop, step), ...)


def _reversed(x, axis):
    return x[_part(axis, None, None, -1)]


def shifted(xp, first, x, axis):
    """``x`` moved on by one along ``axis``, its last entry pushed out and the first slice of ``first`` put in front."""
    return xp.concat([first[_part(axis, 0, 1)], x[_part(axis, 0, -1)]], axis=axis)


_SMALL, _LARGE = 1 << 12, 1 << 15


def scan(xp, combine, parts, axis):
    """Running combinations along ``axis`` by an associative ``combine`` of two tuples of arrays.

    Neighbours are combined in pairs, their results scanned, and the entries between filled in: log2 n steps on whole
    arrays, and 2 n combinations in all.
    """
    n = parts[0].shape[axis]
    if n < 2:
        return [xp.asarray(p, copy=True) for p in parts]
    if prod(parts[0].shape) < _SMALL and not is_complex(xp, parts[0]):  # the order decides the branch of a logarithm
        return _doubled(xp, combine, parts, axis)
    even = [p[_part(axis, 0, None, 2)] for p in parts]
    odd = [p[_part(axis, 1, None, 2)] for p in parts]
    odd = scan(xp, combine, combine([e[_part(axis, 0, n // 2)] for e in even], odd), axis)
    filled = combine([o[_part(axis, 0, (n - 1) // 2)] for o in odd], [e[_part(axis, 1)] for e in even])
    even = [xp.concat([e[_part(axis, 0, 1)], f], axis=axis) for e, f in zip(even, filled, strict=True)]
    return [_interleaved(xp, e, o, axis) for e, o in zip(even, odd, strict=True)]


def _doubled(xp, combine, parts, axis):
    """`scan` by combining entries 1, 2, 4, ... apart: more combinations in fewer calls, which suits small arrays."""
    step = 1
    while step < parts[0].shape[axis]:
        later = combine([p[_part(axis, 0, -step)] for p in parts], [p[_part(axis, step)] for p in parts])
        parts = [xp.concat([p[_part(axis, 0, step)], q], axis=axis) for p, q in zip(parts, later, strict=True)]
        step = 2 * step
    return parts


def _interleaved(xp, even, odd, axis):
    n, m = even.shape[axis], odd.shape[axis]
    pairs = xp.stack([even[_part(axis, 0, m)], odd], axis=axis + 1)
    flat = xp.reshape(pairs, (*odd.shape[:axis], 2 * m, *odd.shape[axis + 1 :]))
    return flat if n == m else xp.concat([flat, even[_part(axis, m)]], axis=axis)


@builtin(kind="linear", rows=True, node="CumsumBackward0", samples=_LINES)
def cumulative_sum(xp, x, *, axis):
    """Running sum along ``axis``; of large arrays pairwise, which is quicker and rounds less."""
    if prod(x.shape) < _LARGE:
        return xp.cumulative_sum(x, axis=axis)
    return scan(xp, lambda p, q: [p[0] + q[0]], [x], axis)[0]


cumulative_sum.vjp(x=lambda xp, g, axis: _reversed(cumulative_sum(_reversed(g, axis), axis=axis), axis))


@builtin(complex="holomorphic", node="LinearRecurrenceBackward0", samples=[Sample(A(3, 4), A(3, 4), axis=1),
         Sample(A(5, 2), A(5, 2), axis=0), Sample(A(1), A(1), axis=0)])  # fmt: skip
def linear_recurrence(xp, a, x, *, axis):
    """y_k = a_k y_(k-1) + x_k along ``axis``, from y_(-1) = 0."""
    n = x.shape[axis]
    if n < 2 or prod(x.shape) < _SMALL:
        return scan(xp, lambda p, q: [q[0] * p[0], q[0] * p[1] + q[1]], [a, x], axis)[1]
    odds, before = _part(axis, 1, None, 2), _part(axis, 0, n - 1, 2)
    odd = linear_recurrence.forward(xp, a[odds] * a[before], a[odds] * x[before] + x[odds], axis=axis)
    later = a[_part(axis, 2, None, 2)] * odd[_part(axis, 0, (n - 1) // 2)] + x[_part(axis, 2, None, 2)]
    return _interleaved(xp, xp.concat([x[_part(axis, 0, 1)], later], axis=axis), odd, axis)


def _recurrence_back(xp, g, a, axis):
    """What the recurrence does to a cotangent, h_k = g_k + a_(k+1) h_(k+1): the same from the other end."""
    a = _reversed(a, axis)
    return _reversed(linear_recurrence(shifted(xp, a, a, axis), _reversed(g, axis), axis=axis), axis)


linear_recurrence.vjp(
    a=lambda xp, g, a, out, axis: _recurrence_back(xp, g, a, axis) * shifted(xp, xp.zeros_like(out), out, axis),
    x=lambda xp, g, a, axis: _recurrence_back(xp, g, a, axis),
)


@builtin(complex="holomorphic", node="CumprodBackward0",
         samples=[*_LINES, Sample(A(values=[[0.0, 2.0, 3.0], [1.0, 0.0, 0.0]]), axis=1)])  # fmt: skip
def cumulative_prod(xp, x, *, axis):
    """Running product along ``axis``. The derivative divides by nothing, so it is right at zeros too."""
    if prod(x.shape) < _LARGE:
        return xp.cumulative_prod(x, axis=axis)
    return scan(xp, lambda p, q: [p[0] * q[0]], [x], axis)[0]


def _cumulative_prod_slope(xp, g, x, out, axis):
    """dx_k = (product of those before k) * sum over i >= k of g_i (product of those after k, up to i)."""
    return shifted(xp, xp.ones_like(out[_part(axis, 0, 1)]), out, axis) * _recurrence_back(xp, g, x, axis)


cumulative_prod.vjp(x=_cumulative_prod_slope)


@builtin(complex="holomorphic", node="LogcumsumexpBackward0", samples=_LINES)
def logcumsumexp(xp, x, *, axis):
    """Running log sum e**x along ``axis``, without overflow; slope 0 while all entries are -inf."""
    return scan(xp, lambda p, q: [logaddexp.forward(xp, p[0], q[0])], [x], axis)[0]


def _logcumsumexp_slope(xp, g, x, out, axis):
    """dx_k = sum over i >= k of g_i e**(x_k - y_i), as a recurrence in which no exponent is positive."""
    gap = shifted(xp, out, out, axis) - out
    gap = xp.where(xp.isnan(gap) & ~xp.isnan(out), xp.zeros_like(gap) - math.inf, gap)  # -inf - -inf
    below = xp.where(real_part(xp, out) == -math.inf, xp.zero(out), out)
    return xp.exp(x - below) * _recurrence_back(xp, g, xp.exp(gap), axis)


logcumsumexp.vjp(x=_logcumsumexp_slope)
