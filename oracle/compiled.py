"""Every entry compiled, against the same run eagerly: values, gradients and second gradients, state after three steps.

Each function is called four times, with other numbers in the third and fourth call: a program that had kept what it
should read would be found. A call of a compiled function that runs eagerly is right, but is told, with its reason.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import torch

import gradwright
from oracle import special_cases
from oracle.check import Case, Options, case_of, fault, quietly
from oracle.compare import tensors_in
from oracle.convert import Converter, numpy_of
from oracle.entries import describe, samples, seed
from oracle.known import COARSE, COMPILED
from oracle.libraries import Elsewhere, namespace
from oracle.optimizers import MATRICES, SHAPES, closure_of
from oracle.records import COMPILED as CHECKS
from oracle.records import Record

SCALES = (1.0, 1.0, 0.999, 1.002)
"""What the inputs of the four calls are multiplied by."""
STEPS = 6
"""Of a module or an optimiser: one eager, one traced, one compared, three compiled."""
BOUND, COARSE_BOUND = 1e-9, 1e-6
"""Relative, by which float64 numbers may differ that need not be the same to the bit; those of entries in `COARSE`."""


def check(record: Record, entry: Any, op: Callable[..., Any], options: Options) -> None:
    """All the checks of one entry."""
    if record.group == "optimizers":
        for case in quietly(lambda: entry.optim_inputs_func(device="cpu"))[: options.samples]:
            for dtype in (gradwright.float64, gradwright.float32):
                _guarded(record, "training", f"{case.desc}, {dtype}",
                         partial(_optimizer, record, entry, op, case.kwargs, dtype, options))  # fmt: skip
    elif record.group == "modules":
        _modules(record, entry, op, options)
    else:
        for dtype in (d for d in (torch.float64, torch.complex128) if d in entry.backward_dtypes):
            for sample in quietly(partial(list, samples(entry, dtype, options.samples, requires_grad=True))):
                quietly(partial(_operation, record, entry, sample, op, dtype, options))


def _converter(options: Options) -> Converter:
    return Elsewhere(namespace(options.library)) if options.library else Converter()


def _there(value: Any, options: Options) -> Any:
    """A tensor, or a module, on the device of the library that is asked for."""
    return value.to("jax" if options.library == "jax" else options.library) if options.library else value


def fails(record: Record) -> list[str]:
    """The checks that an entry fails and is not known to; "eager" if it runs eagerly and is not known to."""
    known = COMPILED.get(record.name, "")
    return [] if known else [name for name in CHECKS if record.checks[name].failed] + ["eager"] * bool(record.eager)


def cause(reason: str) -> str:
    """A reason without what differs from line to line."""
    reason = reason.partition(" | ")[0]
    reason = re.sub(r"(?:, )?at (?:\S+:\d+(?: \([^)]*\))?|an unknown line)|\(?\S+\.py:\d+\)?", "", reason)
    return re.sub(r"\[[\d, ]*\]|\b\d+\b", "_", reason)[:110]


def _guarded(record: Record, name: str, where: str, call: Callable[[], Any]) -> None:
    try:
        quietly(call)
    except Exception as e:  # whatever is raised is a finding
        record.note(name, fault(e), where)


def _compiled(record: Record, f: Callable[..., Any], options: Options) -> Any:
    return gradwright.compile(f, backend=options.backend, exact=options.exact)


def _told(record: Record, name: str, f: Any, where: str) -> None:
    """Note if a compiled function has not run as one program."""
    if f.programs.reason:
        record.eager.append(f"{name}: {f.programs.reason} | {where}")
        if "differs from the eager one" in f.programs.reason:
            record.note(name, f.programs.reason, where)
    elif len(f.programs.traced) != 1:  # none, if the first call has raised
        last = ": ".join(f.programs.traced[-1:])
        record.eager.append(f"{name}: traced {len(f.programs.traced)} times: {last} | {where}")
    else:
        record.compiled += 1


# -- operations --


def _operation(record: Record, entry: Any, sample: Any, op: Callable[..., Any], dtype: Any, options: Options) -> None:
    where = f"{'' if dtype is torch.float64 else 'complex '}{describe(sample)}"
    try:
        case = case_of(entry, sample, dtype, _converter(options))
        xs = [g.detach() for _, g in case.pairs]
        step = _step(case, op, xs, entry.supports_gradgrad)
    except Exception:  # what cannot be computed is the other checks' affair
        record.skipped += 1
        return
    if entry.name in special_cases.EMPTY:
        return

    def alone(*xs: Any) -> Any:
        return _computed(case, op, xs)

    for name, f, after in (("step", step, _nothing), ("history", alone, _passes)):
        compiled = _compiled(record, f, options)
        _guarded(record, name, where, partial(_calls, record, name, f, compiled, after, xs, options, where))
        _told(record, name, compiled, where)


def _calls(record: Record, name: str, f: Any, compiled: Any, after: Any, xs: Sequence[Any], options: Options,
           where: str) -> None:  # fmt: skip
    for k, scale in enumerate(SCALES):
        seen = []
        for one in (f, compiled):
            leaves = [(x.detach() * scale).requires_grad_() for x in xs]
            gradwright.manual_seed(k)
            out = one(*leaves)
            seen.append([*_flat(out), *after(_flat(out), leaves), gradwright.get_rng_state()])
        record.note(name, difference(*seen, _bound(record, options)), f"{where} call {k + 1}")


def _step(case: Case, op: Callable[..., Any], xs: Sequence[Any], twice: bool) -> Callable[..., Any]:
    """Value, gradient and second gradient of a case in one function."""
    draw = np.random.default_rng(0)
    gradwright.manual_seed(0)
    leaves = [(x.detach() * SCALES[0]).requires_grad_() for x in xs]  # in memory of their own, as for the calls
    ws = [_like(y, draw) for y in _computed(case, op, leaves) if y.requires_grad]
    us = [_like(x, draw) for x in xs]

    def step(*xs: Any) -> Any:
        outs = _computed(case, op, xs)
        ends = [y for y in outs if y.requires_grad]
        if not ends or not xs:
            return outs
        first = gradwright.autograd.grad(ends, xs, ws, create_graph=twice, allow_unused=True)
        again = [(g, u) for g, u in zip(first, us, strict=True) if g is not None and g.requires_grad]
        if not again:
            return outs, first
        second = gradwright.autograd.grad([g for g, _ in again], xs, [u for _, u in again], allow_unused=True)
        return outs, first, second

    step(*leaves)
    return step


def _nothing(outs: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
    return []


def _passes(outs: Sequence[Any], leaves: Sequence[Any]) -> list[Any]:
    """The gradients that a pass from outside takes through the history of results."""
    ends = [y for y in outs if y.requires_grad]
    if not ends or not leaves:
        return [y.requires_grad for y in outs]
    draw = np.random.default_rng(1)
    ws = [_like(y, draw) for y in ends]
    grads = gradwright.autograd.grad(ends, leaves, ws, materialize_grads=True)
    return [*(y.requires_grad for y in outs), *grads]


def _computed(case: Case, op: Callable[..., Any], xs: Sequence[Any]) -> list[Any]:
    """The tensors that a case gives for other inputs."""
    own = {id(t): x for (_, t), x in zip(case.pairs, xs, strict=True)}
    found: list[Any] = tensors_in(op(*_put(own, (case.input, *case.args)), **_put(own, case.kwargs)))
    return found


def _put(own: dict[int, Any], value: Any) -> Any:
    if isinstance(value, gradwright.Tensor):
        return own.get(id(value), value)
    if isinstance(value, dict):
        return {k: _put(own, v) for k, v in value.items()}
    if type(value) in (list, tuple):
        return type(value)([_put(own, v) for v in value])
    return value


def _like(x: Any, draw: Any) -> Any:
    array = draw.standard_normal(tuple(x.shape))
    if x.dtype.is_complex:
        array = array + 1j * draw.standard_normal(tuple(x.shape))
    return gradwright.from_numpy(np.asarray(array)).to(x.device, x.dtype)


# -- training --


def _modules(record: Record, info: Any, build: Any, options: Options) -> None:
    for training in (True, False):
        seed()
        cases = quietly(lambda t=training: list(info.module_inputs_func(info, device="cpu", dtype=torch.float64,
                                                                        requires_grad=True, training=t)))  # fmt: skip
        for case in cases[: options.samples]:
            where = f"{case.desc or 'case'}{'' if training else ', eval'}"
            _guarded(record, "training", where, partial(_module, record, build, case, training, options, where))


def _module(record: Record, build: Any, case: Any, training: bool, options: Options, where: str) -> None:
    made, convert = case.constructor_input, _converter(options)
    try:
        net = build(*convert(made.args), **convert(made.kwargs)).to(gradwright.float64).train(training)
        net = _there(net, options)
        args, kwargs = convert(case.forward_input.args), convert(case.forward_input.kwargs)
        net(*args, **kwargs)  # lazy ones take their shape
    except Exception:  # what cannot be computed is the other checks' affair
        record.skipped += 1
        return
    leaves = [t for _, t in convert.pairs]
    seen = []
    for compiles in (False, True):
        own = copy.deepcopy(net)

        def step(scale: Any, own: Any = own) -> Any:
            scaled = {id(x): x.detach() * scale for x in leaves}
            outs = tensors_in(own(*_put(scaled, args), **_put(scaled, kwargs)))
            ends = [y for y in outs if y.requires_grad]
            if ends:
                loss = gradwright.stack([(y * y).sum() for y in ends]).sum()
                loss.backward()
            with gradwright.no_grad():
                for p in own.parameters():
                    if p.grad is not None:
                        p.sub_(0.01 * p.grad)
                        p.grad = None
            return outs

        compiled = _compiled(record, step, options) if compiles else step
        found = []
        for k in range(STEPS):
            gradwright.manual_seed(k)
            outs = compiled(_there(gradwright.tensor(1 - 0.001 * k, dtype=gradwright.float64), options))
            found.append([*outs, *own.state_dict().values(), gradwright.get_rng_state()])
        seen.append(found)
    for k, (expected, got) in enumerate(zip(*seen, strict=True)):
        record.note("training", difference(expected, got, _bound(record, options)), f"{where} step {k + 1}")
    _told(record, "training", compiled, where)


def _optimizer(record: Record, info: Any, build: Any, given: dict[str, Any], dtype: Any, options: Options) -> None:
    seen: list[Any] = []
    shapes = MATRICES if info.name == "Muon" else SHAPES
    for compiles in (False, True):
        draw = np.random.default_rng(0)
        own = [_there(gradwright.tensor(draw.standard_normal(shape), dtype=dtype), options) for shape in shapes]
        for t in own:
            t.requires_grad_()
        optimizer = build(own, **_converter(options)(given))
        closure = closure_of(gradwright, optimizer, own)

        def step(optimizer: Any = optimizer, closure: Any = closure) -> Any:
            return optimizer.step(closure)

        compiled = _compiled(record, step, options) if compiles else step
        found = []
        for _ in range(STEPS):
            loss = compiled()
            found.append([loss, *[t.detach().clone() for t in own], *_flat(copy.deepcopy(optimizer.state_dict()))])
        seen.append(found)
    for k, (expected, got) in enumerate(zip(*seen, strict=True)):
        record.note("training", difference(expected, got, _bound(record, options)), f"step {k + 1}")
    _told(record, "training", compiled, str(given))


# -- comparison --


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [x for v in value.values() for x in _flat(v)]
    if isinstance(value, (tuple, list)):
        return [x for v in value for x in _flat(v)]
    return [value]


def _bound(record: Record, options: Options) -> float:
    return 0.0 if options.exact else COARSE_BOUND if record.name in COARSE else BOUND


def difference(expected: Sequence[Any], got: Sequence[Any], bound: float) -> str | None:
    """How two lists of tensors and other values differ by more than a relative bound, if they do."""
    if len(expected) != len(got):
        return f"{len(got)} results in place of {len(expected)}"
    for k, (e, g) in enumerate(zip(expected, got, strict=True)):
        if isinstance(e, gradwright.Tensor) and isinstance(g, gradwright.Tensor):
            if e.dtype != g.dtype or e.requires_grad != g.requires_grad or e.is_leaf != g.is_leaf:
                kinds = [(t.dtype, t.requires_grad, t.is_leaf) for t in (g, e)]
                return f"number {k}: {kinds[0]} in place of {kinds[1]} (dtype, requires_grad, is_leaf)"
            a, b = numpy_of(e), numpy_of(g)
            if not _same(a, b, bound):
                return f"number {k}: {_first(a, b)}"
        elif type(e) is not type(g) or e != g:
            return f"number {k}: {g!r} in place of {e!r}"
    return None


def _same(a: Any, b: Any, bound: float) -> bool:
    if a.shape != b.shape:
        return False
    if np.array_equal(a, b, equal_nan=a.dtype.kind in "fc"):
        return True
    if not bound or a.dtype.kind not in "fc":
        return False
    bound *= max(1.0, float(np.finfo(a.dtype).eps) / 1e-15)
    scale = max(1.0, float(np.abs(a[np.isfinite(a)]).max(initial=0)))
    return bool(np.allclose(a, b, rtol=bound, atol=bound * scale, equal_nan=True))


def _first(a: Any, b: Any) -> str:
    if a.shape != b.shape:
        return f"shape {list(b.shape)} in place of {list(a.shape)}"
    at = tuple(int(i) for i in np.argwhere(~((a == b) | ((a != a) & (b != b))))[0])
    return f"{b[at]!r} in place of {a[at]!r} at {list(at)}"
