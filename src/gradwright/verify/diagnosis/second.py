"""Hypotheses about second derivatives: what backward takes for a constant, though it depends on the inputs."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from gradwright.backends.devices import CPU, device_of
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.grad_mode import no_grad
from gradwright.verify.diagnosis.case import Case
from gradwright.verify.diagnosis.context import Context, on_ctx
from gradwright.verify.diagnosis.records import Hypothesis
from gradwright.verify.diagnosis.residual import Residual
from gradwright.verify.numeric.differences import differences, here, step

STEP = 1e-5


def frozen(r: Residual, c: Context) -> Hypothesis | None:
    """A value that forward kept on ctx is a constant to the second derivative."""
    first = c.first
    if c.order != 2 or first is None or not r.wrong.any():
        return None
    if r.name in first.names and first.function is not None and not r.input.is_complex:
        j, cotangents = first.names.index(r.name), c.case.inputs[len(first.inputs) :]
        parts = {name: _through(first, name, j, cotangents, r) for name in _intermediates(first)}
        through = {n: p for n, p in parts.items() if p is not None and p.shape == r.numeric.shape and p.any()}
        evidence = r.explained(r.numeric - sum(through.values())) if through else 0.0
        if evidence >= 0.9:
            names = " and ".join(f"`{n}`" for n in through)
            constant = "is a constant" if len(through) == 1 else "are constants"
            return Hypothesis("second derivative", f"{names}, which forward computed from `{r.name}`, {constant} to "
                              "the second derivative", evidence, "save only inputs and outputs with "
                              "save_for_backward, and compute the rest again in backward", r.name)
    if r.analytic[r.wrong].any():
        return None
    return Hypothesis("second derivative", f"backward does not depend on `{r.name}` as far as gradwright knows, but "
                      "its values do", 1.0, "compute backward from saved inputs and outputs with gradwright's "
                      "functions: an intermediate of forward kept on ctx, .detach(), .data and .numpy() cut the "
                      "history", r.name)


def _intermediates(first: Case) -> list[str]:
    """What is on ctx, of NumPy, and is neither an input nor an output as backward gets it."""
    inputs = {id(x.array) for x in first.inputs if isinstance(x, TensorBase)}
    kept = on_ctx(first.node)
    return [
        n
        for n, v in kept.items()
        if isinstance(v, np.ndarray)
        or (isinstance(v, TensorBase) and v._node is None and id(v.array) not in inputs and device_of(v.array) == CPU)
    ]


def _through(first: Case, name: str, j: int, cotangents: Any, r: Residual) -> Any:
    """The part of the second derivative by input ``j``, as ``r`` has it, that goes through what has this name."""
    x = first.varied[j]
    if first.node._function is not first.function:
        return None
    known = True

    def sampler(distances: Any) -> tuple[Any, list[Any]]:
        nonlocal known
        rows = []
        for k, distance in zip(r.input.coordinates, distances, strict=True):
            values = np.array(x.array)
            values.flat[k] += distance
            points = [values if i == j else v.array for i, v in enumerate(first.varied)]
            kept = on_ctx(Case(first.func, first.elsewhere(points).inputs, first.arguments).node)
            found = _backward(first, name, kept[name], cotangents, r) if name in kept else None
            known = known and found is not None
            rows.append(np.zeros(r.numeric.shape[1]) if found is None else found)
        return distances, [np.array(rows)]

    slopes = differences(sampler, step(x, STEP, r.input.coordinates)).slopes[0]
    return slopes if known else None


def _backward(first: Case, name: str, value: Any, cotangents: Any, r: Residual) -> Any:
    """The result of backward with another value saved under this name, and everything else unchanged."""
    kept = on_ctx(first.node) | {name: value}
    ctx = SimpleNamespace(needs_input_grad=first.node.needs_input_grad)
    ctx.saved_tensors = tuple(v for n, v in kept.items() if n.startswith("ctx.saved_tensors["))
    for n, v in kept.items():
        if not n.startswith("ctx.saved_tensors["):
            setattr(ctx, n.removeprefix("ctx."), v)
    given = [wrap(np.zeros_like(t.array)) for t in first.returned]
    for k, cotangent in zip(first.which, cotangents, strict=True):
        given[k] = cotangent
    with no_grad():
        found = first.function._derivative()(ctx, *given)  # type: ignore[union-attr]
    found = found if isinstance(found, tuple) else (found,)
    wanted = [g for g, x in zip(found, first.inputs, strict=False) if any(x is v for v in first.varied)]
    if len(wanted) != len(r.outputs) or any(o.is_complex for o in r.outputs):
        return None
    if any(not isinstance(g, TensorBase) for g in wanted):
        return None
    return np.concatenate([here(g.array.reshape(-1)[o.coordinates]) for g, o in zip(wanted, r.outputs, strict=True)])
