"""The slopes that operations have at kinks, poles, ties and NaN, as their docstrings say."""

import math
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.ops import arithmetic, elementary, order, piecewise, reduce, scan, special

INF, NAN = math.inf, math.nan
THREE = [1.0, 2.0, 3.0]

# Operation, inputs, static arguments, slopes by inputs.
KINKS: list[tuple[Any, list[Any], dict[str, Any], list[Any]]] = [
    (arithmetic.power, [[0.0, 1.0, -2.0]], {"exponent": 0}, [[0, 0, 0]]),
    (arithmetic.power, [[0.0]], {"exponent": 1}, [[1]]),
    (arithmetic.pow, [[0.0, 0.0, 0.0, 2.0], [2.0, 1.0, 0.0, 0.0]], {}, [[0, 1, 0, 0], [0, 0, 0, math.log(2)]]),
    (arithmetic.pow, [[-2.0], [3.0]], {}, [[12], [NAN]]),
    (arithmetic.exponential, [[2.0, 0.0, -1.0]], {"base": 0}, [[0, 0, -INF]]),
    (arithmetic.exponential, [[2.0]], {"base": -2.0}, [[NAN]]),
    (arithmetic.remainder, [[-5.0], [3.0]], {}, [[1], [2]]),
    (arithmetic.divide, [[1.0], [0.0]], {}, [[INF], [-INF]]),
    (arithmetic.sqrt, [[0.0, -1.0]], {}, [[INF, NAN]]),
    (arithmetic.rsqrt, [[0.0]], {}, [[-INF]]),
    (arithmetic.reciprocal, [[0.0]], {}, [[-INF]]),
    *((getattr(elementary, name), [[0.0]], {}, [[INF]]) for name in ("log", "log2", "log10")),
    *((getattr(elementary, name), [[1.0]], {}, [[INF]]) for name in ("asin", "acosh", "atanh")),
    (elementary.log1p, [[-1.0]], {}, [[INF]]),
    (elementary.acos, [[-1.0]], {}, [[-INF]]),
    (elementary.expm1, [[1e-18]], {}, [[1]]),
    (elementary.log1p, [[1e-18]], {}, [[1]]),
    (piecewise.abs, [[-1.0, 0.0, 1.0]], {}, [[-1, 0, 1]]),
    (piecewise.relu, [[-1.0, 0.0, 1.0]], {}, [[0, 0, 1]]),
    (piecewise.clip, [[-1.5, -1.0, 0.0, 1.0, 1.5]], {"min": -1.0, "max": 1.0}, [[0, 1, 1, 1, 0]]),
    (piecewise.maximum, [THREE, THREE[::-1]], {}, [[0, 0.5, 1], [1, 0.5, 0]]),
    (piecewise.minimum, [THREE, THREE[::-1]], {}, [[1, 0.5, 0], [0, 0.5, 1]]),
    (piecewise.maximum, [[1.0, NAN, 1.0, 2.0], [NAN, 1.0, 1.0, 1.0]], {}, [[1, 1, 0.5, 1], [1, 1, 0.5, 0]]),
    (piecewise.minimum, [[1.0, NAN, 1.0, 2.0], [NAN, 1.0, 1.0, 1.0]], {}, [[1, 1, 0.5, 0], [1, 1, 0.5, 1]]),
    (piecewise.clamp_min, [THREE, THREE[::-1]], {}, [[0, 1, 1], [1, 0, 0]]),
    (piecewise.clamp_max, [THREE, THREE[::-1]], {}, [[1, 1, 0], [0, 0, 1]]),
    *((getattr(piecewise, name), [[-1.7, 0.3, 2.0]], {}, [[0, 0, 0]])
      for name in ("sign", "floor", "ceil", "round", "trunc")),
    *((gradwright.div, [[1.0, 0.0, -1.0, INF], [0.0, 0.0, 0.0, 2.0]], {"rounding_mode": mode}, [[0] * 4] * 2)
      for mode in ("trunc", "floor")),
    (order.max, [[[1.0, 3.0, 3.0], [2.0, 2.0, 2.0]]], {"axis": (1,)}, [[[0, 0.5, 0.5], [1 / 3] * 3]]),
    (order.min, [[1.0, 1.0, 3.0]], {}, [[0.5, 0.5, 0]]),
    (order.smallest, [[1.0, 1.0, 3.0]], {}, [[0.5, 0.5, 0]]),
    (order.median, [[2.0, 1.0, 2.0, 5.0, 7.0]], {}, [[0.5, 0, 0.5, 0, 0]]),
    *((op, [[1.0, NAN, NAN]], {}, [[0, 0.5, 0.5]]) for op in (order.largest, order.smallest, order.median)),
    (order.nanmedian, [[3.0, NAN, 1.0]], {}, [[0, 0, 1]]),
    (reduce.prod, [[2.0, 3.0, 4.0]], {}, [[12, 8, 6]]),
    (reduce.prod, [[2.0, 0.0, 4.0]], {}, [[0, 8, 0]]),
    (reduce.prod, [[0.0, 0.0, 4.0]], {}, [[0, 0, 0]]),
    *((getattr(reduce, name), [np.zeros((0, 2))], {}, [np.zeros((0, 2))])
      for name in ("sum", "mean", "prod", "logsumexp")),
    (reduce.std, [[2.0, 2.0]], {"correction": 1}, [[0, 0]]),
    (reduce.logsumexp, [[-INF, 0.0]], {}, [[0, 1]]),
    *((reduce.vector_norm, [[0.0, 0.0]], {"ord": p}, [[0, 0]]) for p in (0, 1, 2, 3, INF)),
    *((reduce.vector_norm, [[0.0, 1.0, 2.0]], {"ord": p}, [[0, 0, 0]]) for p in (-0.5, -1, -2)),
    (scan.cumulative_prod, [[2.0, 0.0, 3.0, 0.0, 5.0]], {"axis": 0}, [[1, 8, 0, 0, 0]]),
    (special.log_ndtr, [[40.0]], {}, [[0]]),
    *((op, [[0.0], [at]], {}, [[0], [0]]) for op, at in ((special.xlogy, 0.0), (special.xlog1py, -1.0))),
    (special.xlogy, [[2.0], [0.0]], {}, [[-INF], [INF]]),
    (special.logit, [[-0.5]], {"eps": None}, [[NAN]]),
    (special.logit, [[0.1]], {"eps": 0.25}, [[0]]),
    (special.bessel_j, [[0.0]], {"order": 1}, [[0.5]]),
    (special.bessel_ie, [[0.0]], {"order": 1}, [[0.5]]),
    (special.sinc, [[0.0]], {}, [[0]]),
]  # fmt: skip


@pytest.mark.parametrize(("op", "inputs", "static", "slopes"), KINKS)
def test_slopes(op: Any, inputs: list[Any], static: dict[str, Any], slopes: list[Any]) -> None:
    xs = [gradwright.tensor(np.array(x, float), requires_grad=True) for x in inputs]
    op(*xs, **static).sum().backward()
    for x, slope in zip(xs, slopes, strict=True):
        np.testing.assert_array_equal(x.grad, slope, str(op))
