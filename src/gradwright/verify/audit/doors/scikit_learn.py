"""scikit-learn: kernels of Gaussian processes, and their gradient by theta, the logarithms of their parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradwright.verify.audit.doors.door import Call, Door, Pairs, door
from gradwright.verify.audit.doors.heard import place
from gradwright.verify.pairs import Pair, Point
from gradwright.verify.pairs.pair import JACOBIAN

_ROWS = 8
_FITS = ("GaussianProcessRegressor.fit", "GaussianProcessClassifier.fit")


@door("sklearn.gaussian_process", *_FITS)
def fit(call: Call) -> Pairs | None:
    """A fit of a Gaussian process: its kernel, at the parameters before and after."""
    estimator = call.given["self"]
    if estimator.kernel is None or getattr(estimator, "optimizer", None) is None:
        return None
    first = estimator.kernel
    call.about = [type(k).__call__ for k in _leaves(first)]
    data = call.given["X"]

    def pairs() -> Iterator[Pair]:
        X = np.array(np.asarray(data)[:_ROWS]) if not isinstance(data, list) else data[:_ROWS]
        last = getattr(estimator, "kernel_", first)
        compound = hasattr(last, "kernels")
        for before, after in [(first, last)] if compound else zip(_leaves(first), _leaves(last), strict=True):
            if not after.n_dims:
                continue
            kind = type(after)
            points = tuple(Point(np.array(k.theta, float)) for k in (before, after))
            low, high = after.bounds.T
            yield Pair(JACOBIAN, lambda t, k=after: k.clone_with_theta(t)(X),
                       lambda t, k=after: k.clone_with_theta(t)(X, eval_gradient=True)[1], points,
                       (kind.__name__, f"{kind.__name__}(eval_gradient=True)"), place(kind.__call__), call.door.name,
                       bounds=(low, high), notes=("by theta, the logarithms of the parameters",))  # fmt: skip

    return pairs


def _leaves(kernel: Any) -> list[Any]:
    """The kernels that one is made of, that are made of no others."""
    parts = [getattr(kernel, k) for k in ("k1", "k2", "kernel") if hasattr(getattr(kernel, k, None), "theta")]
    return [leaf for part in parts for leaf in _leaves(part)] if parts else [kernel]


DOORS: list[Door] = [*fit]
