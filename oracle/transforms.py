"""The transforms of every entry: tangents and batches, against gradients, PyTorch's jvp and the loop."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch
from torch.autograd import forward_ad

import gradwright
from gradwright.transform.batch import Batches
from gradwright.transform.tangent import Tangents
from gradwright.transform.transpose import zeros
from oracle import special_cases
from oracle.check import Case, case_of, quietly
from oracle.compare import tensors_in, value_difference
from oracle.entries import describe, samples
from oracle.known import TRANSFORMED
from oracle.libraries import faults
from oracle.records import TRANSFORMS, Record

SIZE = 2
"""How many examples a batch has."""

Tensors = Sequence[Any]
Function = Callable[[Tensors], list[Any]]
"""What a case computes of the inputs that require grad: its differentiable outputs."""


def check(record: Record, entry: Any, op: Callable[..., Any], count: int | None) -> None:
    """All the checks of one entry, on up to ``count`` samples of float64 and complex128."""
    dtypes = [d for d in (torch.float64, torch.complex128) if d in entry.backward_dtypes]
    for dtype in dtypes:
        for sample in quietly(partial(list, samples(entry, dtype, count, requires_grad=True))):
            quietly(partial(_check, record, entry, sample, op, dtype))


def fails(record: Record) -> list[str]:
    """The checks that an entry fails and is not known to."""
    return [name for name in TRANSFORMS if record.checks[name].failed and record.name not in TRANSFORMED.get(name, {})]


def _check(record: Record, entry: Any, sample: Any, op: Callable[..., Any], dtype: Any) -> None:
    try:
        case = case_of(entry, sample, dtype)
        xs = [g.detach() for _, g in case.pairs]
        gradwright.manual_seed(0)
        outs = tensors_in(case.gradwright(op))
    except Exception:  # what cannot be computed is the other checks' affair
        record.skipped += 1
        return
    flows = [k for k, o in enumerate(outs) if o.requires_grad]
    if not xs or not flows or entry.name in special_cases.EMPTY:
        return
    where = f"{'' if dtype is torch.float64 else 'complex '}{describe(sample)}"
    f = partial(_computed, case, op, flows)
    draw = np.random.default_rng(0)
    vs = [_like(x, draw) for x in xs]
    with faults(record, "jvp", where):
        ys, ts = jvp(f, xs, vs)
        ws = [_like(y, draw) for y in ys]
        pulled = vjp(f, xs, ws)
        sides = _inner(ts, ws), _inner(vs, pulled)
        record.note("jvp", _apart(*sides, 1e-10), where)
        if entry.supports_forward_ad:
            _against_torch(record, entry, case, xs, vs, ts, flows, where)
    if entry.supports_gradgrad:
        with faults(record, "jvp of vjp", where):
            _second(record, f, xs, vs, draw, where)
    batches = [gradwright.stack([x, x * 1 if k % 2 else x + 0]) for k, x in enumerate(xs)]
    tangents = [gradwright.stack([v, -2 * v]) for v in vs]
    for name, mapped in (
        ("vmap", lambda xs, vs: vmap(f, xs)),
        ("vmap of jvp", lambda xs, vs: vmap(lambda both: _halves(f, both), [*xs, *vs])),
        ("jvp of vmap", lambda xs, vs: _flat(jvp(lambda xs: vmap(f, xs), xs, vs))),
    ):
        with faults(record, name, where):
            expected = [f(row) if name == "vmap" else _halves(f, row)
                        for row in _rows(batches if name == "vmap" else [*batches, *tangents])]  # fmt: skip
            stacked = [gradwright.stack(list(column)) for column in zip(*expected, strict=True)]
            record.note(name, value_difference(stacked, mapped(batches, tangents)), where)


def _computed(case: Case, op: Callable[..., Any], flows: Sequence[int], xs: Tensors) -> list[Any]:
    """The outputs that have gradients, of other inputs."""
    own = {id(t): x for (_, t), x in zip(case.pairs, xs, strict=True)}
    gradwright.manual_seed(0)
    outs = tensors_in(op(*_put(own, (case.input, *case.args)), **_put(own, case.kwargs)))
    return [outs[k] for k in flows]


def _put(own: dict[int, Any], value: Any) -> Any:
    if isinstance(value, gradwright.Tensor):
        return own.get(id(value), value)
    if isinstance(value, dict):
        return {k: _put(own, v) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)([_put(own, v) for v in value])
    return value


def jvp(f: Function, xs: Tensors, vs: Tensors) -> tuple[list[Any], list[Any]]:
    """The outputs of ``f`` and their tangents."""
    level = Tangents()
    with level.running(records=True):
        pairs = [level.unpack(y) for y in f([level.dual(x, v) for x, v in zip(xs, vs, strict=True)])]
    return [y for y, _ in pairs], [zeros(y) if t is None else t for y, t in pairs]


def vjp(f: Function, xs: Tensors, ws: Tensors) -> list[Any]:
    """The cotangents of the inputs; recorded."""
    leaves = [x.detach().requires_grad_() if x.is_leaf else x for x in xs]
    return list(gradwright.autograd.grad(f(leaves), leaves, ws, create_graph=True, materialize_grads=True))


def vmap(f: Function, xs: Tensors) -> list[Any]:
    """The outputs of ``f`` for each example."""
    level = Batches(SIZE, "same")  # the loop draws from one seed again and again
    with level.running():
        pairs = [level.unpack(y) for y in f([level.batch(x) for x in xs])]
    return [y if batched else y.expand(SIZE, *y.shape) for y, batched in pairs]


def _halves(f: Function, both: Tensors) -> list[Any]:
    n = len(both) // 2
    return _flat(jvp(f, both[:n], both[n:]))


def _flat(pair: tuple[list[Any], list[Any]]) -> list[Any]:
    return [*pair[0], *pair[1]]


def _rows(batches: Tensors) -> list[list[Any]]:
    return [[b[k].clone() for b in batches] for k in range(SIZE)]


def _second(record: Record, f: Function, xs: Tensors, vs: Tensors, draw: Any, where: str) -> None:
    """Forward over reverse against reverse over reverse: <D(J'w) v, u> both ways."""
    ws = [_like(y, draw) for y in f(xs)]
    us = [_like(x, draw) for x in xs]

    def slopes(xs: Tensors) -> list[Any]:
        leaves = [_own_leaf(x) for x in xs]
        return list(gradwright.autograd.grad(f(leaves), leaves, ws, materialize_grads=True))

    _, forward = jvp(slopes, xs, vs)
    leaves = [x.detach().requires_grad_() for x in xs]
    first = gradwright.autograd.grad(f(leaves), leaves, ws, create_graph=True, materialize_grads=True)
    flowing = [(g, u) for g, u in zip(first, us, strict=True) if g.requires_grad]
    second = [zeros(x) for x in xs]
    if flowing:
        second = list(gradwright.autograd.grad([g for g, _ in flowing], leaves, [u for _, u in flowing],
                                               materialize_grads=True))  # fmt: skip
    record.note("jvp of vjp", _apart(_inner(us, forward), _inner(second, vs), 1e-9), where)


def _own_leaf(x: Any) -> Any:
    """A leaf over what ``x`` holds, its tangent included."""
    return gradwright.engine.base.wrap(x.array, None, x._counter).requires_grad_()


def _against_torch(record: Record, entry: Any, case: Case, xs: Tensors, vs: Tensors, ts: Tensors,
                   flows: Sequence[int], where: str) -> None:  # fmt: skip
    """The tangents beside PyTorch's, where it has them."""
    own: dict[int, Any] = {}

    def put(value: Any) -> Any:
        if isinstance(value, torch.Tensor):
            return own.get(id(value), value)
        if isinstance(value, dict):
            return {k: put(v) for k, v in value.items()}
        return type(value)([put(v) for v in value]) if type(value) in (list, tuple) else value

    try:
        with forward_ad.dual_level():
            for (theirs, _), v in zip(case.pairs, vs, strict=True):
                own[id(theirs)] = forward_ad.make_dual(theirs.detach(), torch.from_numpy(v.numpy().copy()))
            torch.manual_seed(0)
            sample = case.sample
            outs = tensors_in(entry.op(*put((sample.input, *sample.args)), **put(sample.kwargs)))
            expected = [forward_ad.unpack_dual(outs[k]).tangent for k in flows]
    except Exception:  # PyTorch has none for this sample
        return
    record.note("torch jvp", value_difference(expected, list(ts)), where)


def _like(x: Any, draw: Any) -> Any:
    array = draw.standard_normal(tuple(x.shape))
    if x.dtype.is_complex:
        array = array + 1j * draw.standard_normal(tuple(x.shape))
    return gradwright.from_numpy(np.asarray(array)).to(x.dtype)


def _inner(a: Tensors, b: Tensors) -> tuple[float, float]:
    """The real inner product, and what its rounding errors are measured by."""
    parts = [(np.conj(x.detach().numpy()) * y.detach().numpy()).real for x, y in zip(a, b, strict=True)]
    return float(sum(p.sum() for p in parts)), float(sum(np.abs(p).sum() for p in parts))


def _apart(one: tuple[float, float], other: tuple[float, float], tolerance: float) -> str | None:
    scale = max(1.0, one[1], other[1])
    both_nan = one[0] != one[0] and other[0] != other[0]
    if both_nan or abs(one[0] - other[0]) <= tolerance * scale or (one[0] == other[0]):
        return None
    return f"{one[0]:.12g} beside {other[0]:.12g}"
