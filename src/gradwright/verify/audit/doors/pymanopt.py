"""pymanopt: Euclidean gradients and Hessians in the ambient space, Riemannian gradients along tangent vectors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradwright.verify.audit.doors.door import Call, Door, Pairs, door
from gradwright.verify.audit.doors.heard import named, place
from gradwright.verify.pairs import Pair, Point
from gradwright.verify.pairs.pair import GRADIENT, HVP

_DIRECTIONS = 6


@door("pymanopt.optimizers", *(f"{name}.run" for name in ("SteepestDescent", "ConjugateGradient", "TrustRegions")))
def run(call: Call) -> Pairs | None:
    """An optimiser's run on a problem whose gradient is written by hand."""
    problem = call.given["problem"]
    euclidean, riemannian, hessian = (problem._euclidean_gradient, problem._riemannian_gradient,
                                      problem._euclidean_hessian)  # fmt: skip
    if euclidean is None and riemannian is None and hessian is None:
        return None
    cost, manifold = problem._cost, problem.manifold
    call.about = [_written(f) for f in (cost, euclidean, riemannian, hessian) if f is not None]
    start = call.given.get("initial_point")

    def pairs() -> Iterator[Pair]:
        ends = [p for p in (start, getattr(call.result, "point", None)) if isinstance(p, np.ndarray)]
        rng_points = [manifold.random_point()] if ends else []
        points = tuple(Point(np.array(p)) for p in (*ends, *rng_points) if isinstance(p, np.ndarray))
        if not points:
            return
        name = named(_written(cost))
        if euclidean is not None:
            written = _written(euclidean)
            yield Pair(GRADIENT, cost, euclidean, points, (name, named(written)), place(written),
                       f"{call.door.name}(euclidean_gradient=)")  # fmt: skip
        if hessian is not None:
            flat = problem._euclidean_hessian
            drawn = tuple(Point(p.x, v=manifold.random_tangent_vector(p.x)) for p in points)
            yield Pair(HVP, cost, flat, drawn, (name, named(_written(hessian))), place(_written(hessian)),
                       f"{call.door.name}(euclidean_hessian=)", gradient=euclidean)  # fmt: skip
        if riemannian is not None:
            for p in points:
                basis = [manifold.random_tangent_vector(p.x) for _ in range(min(_DIRECTIONS, manifold.dim))]
                along = lambda t, x=p.x, basis=basis: cost(
                    manifold.retraction(x, sum(s * e for s, e in zip(t, basis, strict=True))))  # fmt: skip
                slopes = lambda t, x=p.x, basis=basis: np.array(
                    [manifold.inner_product(x, riemannian(x), e) for e in basis])  # fmt: skip
                yield Pair(GRADIENT, along, slopes, (Point(np.zeros(len(basis))),),
                           (name, named(_written(riemannian))), place(_written(riemannian)),
                           f"{call.door.name}(riemannian_gradient=)",
                           notes=("along tangent vectors",))  # fmt: skip

    return pairs


def _written(function: Any) -> Any:
    """What its author wrote, under what pymanopt puts around it."""
    while True:
        inner = getattr(function, "__wrapped__", None) or getattr(function, "_function", None)
        if inner is None:
            return function
        function = inner


DOORS: list[Door] = [*run]
