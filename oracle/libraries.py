"""gradwright against itself: every entry over the arrays of another library, beside the run over NumPy's.

Compared are values, dtypes, gradients and whether each result lives in the library of its inputs.
"""

from __future__ import annotations

import copy
import importlib
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

import gradwright
from gradwright import backends
from oracle import special_cases
from oracle.check import quietly
from oracle.compare import dtype_difference, shape_difference, structure_difference, tensors_in, value_difference
from oracle.convert import Converter, UnconvertibleError
from oracle.entries import describe, samples, seed
from oracle.forms import on_a_clone
from oracle.optimizers import MATRICES, SHAPES, closure_of
from oracle.records import Record
from oracle.resolve import form, rewritten

LIBRARIES = {"array-api-strict": "gradwright.backends.strict", "jax": "gradwright.backends.jax"}
"""Name -> the module that makes its arrays known."""
STEPS = 3


def namespace(library: str) -> Any:
    """The `xp` of a library."""
    return importlib.import_module(LIBRARIES[library]).namespace


def moved(t: Any, xp: Any) -> Any:
    """A tensor's values over an array of the library ``xp``, without history. Raises `UnconvertibleError`."""
    name = t.dtype.name
    if not hasattr(xp, "bool" if name == "bool" else name):
        raise UnconvertibleError(f"{xp} has no {name}")
    return gradwright.xp.asarray(xp.asarray(t.detach().array.copy()))


class Elsewhere(Converter):
    """Converts PyTorch's tensors to tensors over another library's arrays."""

    def __init__(self, xp: Any) -> None:
        super().__init__()
        self._xp = xp

    def __call__(self, value: Any) -> Any:
        if isinstance(value, (str, torch.device)) and str(value) == "cpu":
            raise UnconvertibleError("asks for NumPy's arrays")
        return super().__call__(value)

    def _tensor(self, value: torch.Tensor) -> Any:
        t = moved(Converter()._tensor(value), self._xp)
        if value.requires_grad:
            t.requires_grad_()
            self.pairs.append((value, t))
        return t


@contextmanager
def faults(record: Record, check: str, where: str) -> Iterator[None]:
    """Notes whatever is raised inside, with the last line of gradwright that it went through."""
    try:
        yield
    except Exception as e:
        frames = [f for f in traceback.extract_tb(e.__traceback__) if "gradwright/" in f.filename]
        at = f" ({frames[-1].filename.rpartition('gradwright/')[2]}, {frames[-1].name})" if frames else ""
        record.note(check, f"{type(e).__name__}: {' '.join(str(e).split())[:150]}{at}", where)


def difference(expected: Any, got: Any, xp: Any, shapes_only: bool = False) -> str | None:
    """What differs between results over NumPy and over ``xp``."""
    found = structure_difference(expected, got) or shape_difference(expected, got) or dtype_difference(expected, got)
    found = found or next(filter(None, (_elsewhere(t, xp) for t in tensors_in(got))), None)
    return found or (None if shapes_only else value_difference(tensors_in(expected), tensors_in(got)))


def _elsewhere(t: Any, xp: Any) -> str | None:
    kind = type(t.array)
    if getattr(t.array, "weak_type", False):
        return f"the result is of a weak {t.dtype}"
    there = backends.namespace(t.array) is xp
    return None if there else f"the result is a {kind.__module__}.{kind.__name__}, not of {xp.__name__}"


def check(record: Record, entry: Any, op: Callable[..., Any], library: str, count: int | None,
          dtypes: bool = False) -> None:  # fmt: skip
    """All the checks of one entry, on up to ``count`` samples; operations in other ``dtypes`` than float64, too."""
    check_group = {"modules": _check_module, "optimizers": _check_optimizer}.get(record.group, _check_operation)
    quietly(lambda: check_group(record, entry, op, namespace(library), count))
    if dtypes and check_group is _check_operation:
        for dtype in OTHERS:
            if entry.supports_dtype(dtype, "cpu"):
                quietly(lambda dtype=dtype: _check_operation(record, entry, op, namespace(library), count, dtype))


OTHERS = (torch.float32, torch.complex128, torch.int64, torch.int32, torch.uint8, torch.bool)


def _check_operation(record: Record, entry: Any, op: Callable[..., Any], xp: Any, count: int | None,
                     dtype: Any = torch.float64) -> None:  # fmt: skip
    """As a function and in place."""
    for sample in samples(entry, dtype, count, dtype.is_floating_point or dtype.is_complex):
        _check(record, sample, entry, op, xp, "value")
        inplace = entry.inplace_variant and form(entry.inplace_variant)
        if inplace and isinstance(sample.input, torch.Tensor) and not sample.broadcasts_input:
            _check(record, sample, entry, on_a_clone(inplace), xp, "forms")


def _check(record: Record, sample: Any, entry: Any, op: Callable[..., Any], xp: Any, check: str) -> None:
    where = describe(sample)
    home, away = Converter(), Elsewhere(xp)
    try:
        here, there = ([convert(copy.copy(v)) for v in (sample.input, sample.args, sample.kwargs)]
                       for convert in (home, away))  # fmt: skip
        gradwright.manual_seed(0)
        expected = op(here[0], *here[1], **here[2])
    except UnconvertibleError:
        record.skipped += 1
        return
    except Exception:  # refused over NumPy already
        return
    process = rewritten(sample.output_process_fn_grad)
    gradwright.manual_seed(0)
    with faults(record, check, where):
        got = op(there[0], *there[1], **there[2])
        shapes_only = entry.name in special_cases.EMPTY
        found = difference(expected, got, xp, True)
        expected, got = process(expected), process(got)
        found = found or difference(expected, got, xp, shapes_only)
        if record.note(check, found, where) and not shapes_only:
            leaves = [[t for _, t in convert.pairs] for convert in (home, away)]
            _gradients(record, expected, got, leaves, xp, "gradient" if check == "value" else check, where)


def _gradients(record: Record, expected: Any, got: Any, leaves: Any, xp: Any, check: str, where: str) -> None:
    """The gradients of two results by two lists of leaves, for the same random cotangents; and the library of each."""
    pairs = [(e, g) for e, g in zip(tensors_in(expected), tensors_in(got), strict=True) if e.requires_grad]
    if not pairs or not leaves[0]:
        return
    gradwright.manual_seed(1)
    seeds = [gradwright.randn(e.shape, dtype=e.dtype) for e, _ in pairs]
    try:
        first = gradwright.autograd.grad([e for e, _ in pairs], leaves[0], seeds, allow_unused=True)
    except Exception:  # not differentiable over NumPy either
        return
    with faults(record, check, where):
        seeds = [moved(s, xp) for s in seeds]
        ours = gradwright.autograd.grad([g for _, g in pairs], leaves[1], seeds, allow_unused=True)
        absent = [[g is None for g in grads] for grads in (first, ours)]
        found = (
            "other inputs have a gradient than over NumPy"
            if absent[0] != absent[1]
            else difference([g for g in first if g is not None], [g for g in ours if g is not None], xp)
        )
        record.note(check, found, where)


def _check_module(record: Record, info: Any, build: Callable[..., Any], xp: Any, count: int | None) -> None:
    """With the same parameters in both libraries: outputs, gradients, state afterwards."""
    seed()
    found = info.module_inputs_func(info, device="cpu", dtype=torch.float64, requires_grad=True, training=True)
    for case in list(found)[:count]:
        made, called = case.constructor_input, case.forward_input
        home, away = Converter(), Elsewhere(xp)
        modules = []
        for _ in range(2):
            gradwright.manual_seed(0)
            modules.append(build(*home(made.args), **home(made.kwargs)).to(gradwright.float64))
        where = case.desc or _call(called)
        try:
            here, there = ((convert(called.args), convert(called.kwargs)) for convert in (home, away))
        except UnconvertibleError:
            record.skipped += 1
            continue
        if info.is_lazy:
            for module in modules:
                gradwright.manual_seed(0)
                module(*here[0], **here[1])
        _move(modules[1], xp)
        gradwright.manual_seed(0)
        expected = modules[0](*here[0], **here[1])
        gradwright.manual_seed(0)
        with faults(record, "value", where):
            got = modules[1](*there[0], **there[1])
            if record.note("value", difference(expected, got, xp), where):
                leaves = [[*(t for _, t in convert.pairs), *(p for p in module.parameters() if p.requires_grad)]
                          for convert, module in zip((home, away), modules, strict=True)]  # fmt: skip
                _gradients(record, expected, got, leaves, xp, "gradient", where)
                states = [[*module.state_dict().values()] for module in modules]
                record.note("state", difference(*states, xp), where)


def _call(called: Any) -> str:
    """The arguments of a call, in a line."""
    return f"{[tuple(a.shape) if isinstance(a, torch.Tensor) else a for a in called.args]}"


def _move(module: Any, xp: Any) -> None:
    """Put the parameters and buffers of a module over arrays of ``xp``; one that occurs twice stays one."""
    done: dict[int, Any] = {}
    for inner in module.modules():
        for held in (inner._parameters, inner._buffers):
            for name, t in held.items():
                if t is not None and id(t) not in done:
                    done[id(t)] = moved(t, xp)
                    if held is inner._parameters:
                        done[id(t)] = gradwright.nn.Parameter(done[id(t)], t.requires_grad)
                if t is not None:
                    held[name] = done[id(t)]


def _check_optimizer(record: Record, info: Any, build: Callable[..., Any], xp: Any, count: int | None) -> None:
    """A few steps: parameters and state."""
    for case in list(info.optim_inputs_func(device="cpu"))[:count]:
        gradwright.manual_seed(0)
        shapes = MATRICES if info.name == "Muon" else SHAPES
        here = [gradwright.randn(shape, dtype=gradwright.float64) for shape in shapes]
        there = [moved(p, xp) for p in here]
        kwargs = Converter()(case.kwargs)
        with faults(record, "value", case.desc):
            optimizers = [build([p.requires_grad_() for p in ps], **kwargs) for ps in (here, there)]
            for _ in range(STEPS):
                for optimizer, parameters in zip(optimizers, (here, there), strict=True):
                    optimizer.step(closure_of(gradwright, optimizer, parameters))
            record.note("value", difference(here, there, xp), case.desc)
            states = [[*_tensors(o.state_dict()["state"])] for o in optimizers]
            record.note("state", difference(*states, xp), case.desc)


def _tensors(state: Any) -> Iterator[Any]:
    if isinstance(state, gradwright.Tensor):
        yield state
    for part in state.values() if isinstance(state, dict) else state if isinstance(state, (list, tuple)) else ():
        yield from _tensors(part)
