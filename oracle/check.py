"""One entry, from its samples to its record: value, dtype, structure, gradient, second gradient."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import gradwright
from oracle import chance, special_cases
from oracle.compare import dtype_difference, shape_difference, structure_difference, tensors_in, value_difference
from oracle.convert import Converter, UnconvertibleError
from oracle.entries import describe, group_of, name_of, samples
from oracle.records import Record
from oracle.resolve import MissingError, callable_for, rewritten


@dataclass
class Options:
    """What to check. ``samples`` None means all."""

    samples: int | None = 8
    dtypes: bool = False
    forms: bool = False
    errors: bool = False
    library: str = ""
    """Compare with the run over this library's arrays instead of with PyTorch, or what is compiled over them."""
    transforms: bool = False
    """Check tangents and batches instead."""
    backend: str = ""
    """Check what is compiled with this backend instead."""
    exact: bool = False
    """It must give eager's numbers to the bit."""


@dataclass
class Case:
    """One sample for both libraries. ``pairs``: the tensors that require grad, PyTorch's and gradwright's."""

    entry: Any
    sample: Any
    where: str
    input: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    pairs: list[tuple[Any, Any]]

    def torch(self, op: Callable[..., Any]) -> Any:
        """PyTorch's result."""
        return op(self.sample.input, *self.sample.args, **self.sample.kwargs)

    def gradwright(self, op: Callable[..., Any]) -> Any:
        """gradwright's result."""
        return op(self.input, *self.args, **self.kwargs)


def case_of(entry: Any, sample: Any, dtype: Any, convert: Converter | None = None) -> Case:
    """Both libraries' forms of a sample. Raises `UnconvertibleError`."""
    convert = convert or Converter()
    values = [convert(v) for v in (sample.input, sample.args, sample.kwargs)]
    prefix = "" if dtype in (None, torch.float64) else f"{str(dtype)[6:]} "
    return Case(entry, sample, prefix + describe(sample), *values, convert.pairs)


@contextmanager
def listening(record: Record, where: str) -> Iterator[None]:
    """Turns NumPy's RuntimeWarnings that reach the caller into a fault of the record, and hides all others."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        yield
    leaks = [w for w in heard if issubclass(w.category, RuntimeWarning)]
    record.note("warnings", f"leaks a warning: {leaks[0].message}" if leaks else None, where)


@contextmanager
def findings(record: Record, where: str) -> Iterator[None]:
    """`listening`; and whatever a call under test raises is a finding."""
    try:
        with listening(record, where):
            yield
    except UnconvertibleError:
        record.skipped += 1
    except Exception as e:
        record.note("value", fault(e), where)


def check_samples(record: Record, entry: Any, op: Callable[..., Any], dtype: Any, count: int | None) -> None:
    """All checks of one dtype; gradients for the dtypes that PyTorch differentiates in double precision."""
    grads = dtype in (torch.float64, torch.complex128)
    for sample in quietly(lambda: samples(entry, dtype, count, requires_grad=grads)):
        try:
            case = case_of(entry, sample, dtype)
        except UnconvertibleError:
            record.skipped += 1
            continue
        except Exception as e:  # whatever a call under test raises is a finding, here and below
            record.note("value", fault(e), f"{str(dtype)[6:]} {describe(sample)}")
            continue
        check_case(record, case, op, grads)


def check_case(record: Record, case: Case, op: Callable[..., Any], grads: bool, check: str = "value",
               reference: Callable[..., Any] | None = None) -> None:  # fmt: skip
    """Compare one sample's results. ``check`` and ``reference`` are for the forms of an operation."""
    reference = reference or case.entry.op
    try:
        expected = quietly(lambda: case.torch(reference))
    except Exception:
        record.skipped += 1  # PyTorch itself refuses it (a dtype in a variant): nothing to compare with
        return
    random = quietly(lambda: chance.is_random(case, reference, expected))
    try:
        with listening(record, case.where):
            got = case.gradwright(op)
            uninitialised = case.entry.name in special_cases.EMPTY
            shapes_only = random or uninitialised
            same = compare_values(record, case, expected, got, check, shapes_only)
            if random and same:
                record.note(check, chance.difference(case, op, expected), case.where)
            if grads and same and not shapes_only:
                compare_gradients(record, case, expected, got, check)
    except Exception as e:
        record.note(check, fault(e), case.where)


def compare_values(record: Record, case: Case, expected: Any, got: Any, check: str, shapes_only: bool) -> bool:
    """Structure, shape, dtype and, unless told otherwise, numbers."""
    difference = structure_difference(expected, got) or shape_difference(expected, got)
    if difference:
        return record.note(check, difference, case.where)
    record.note("dtype" if check == "value" else check, dtype_difference(expected, got), case.where)
    if shapes_only:
        return record.note(check, None)
    expected, got = processed(case, expected, got)
    return record.note(check, value_difference(tensors_in(expected), tensors_in(got)), case.where)


def processed(case: Case, expected: Any, got: Any) -> tuple[Any, Any]:
    """Both results after the database's own function for what is not unique (signs of singular vectors, ...)."""
    ties = case.entry.name in special_cases.TIES and isinstance(expected, tuple)
    if ties and expected[0].dtype not in (torch.float64, torch.float32):
        return expected[0], got[0]
    process = case.sample.output_process_fn_grad
    return process(expected), rewritten(process)(got)


def compare_gradients(record: Record, case: Case, expected: Any, got: Any, check: str) -> None:
    """Gradients by every input that requires grad, for random cotangents, and second gradients by both."""
    first, second = ("gradient", "second") if check == "value" else (check, check)
    both = zip(*map(tensors_in, processed(case, expected, got)), strict=True)
    outputs = [(e, g) for e, g in both if e.requires_grad]
    inputs = [*case.pairs]
    if not outputs or not inputs:
        return
    try:
        cotangents = [_random(e, place) for place, (e, _) in enumerate(outputs)]
        grads = quietly(lambda: _torch_grad(outputs, inputs, cotangents))
    except Exception:
        return  # PyTorch cannot differentiate this sample
    try:
        ours = gradwright.autograd.grad(
            [g for _, g in outputs], [g for _, g in inputs], [g for _, g in cotangents],
            create_graph=True, allow_unused=True,
        )  # fmt: skip
        difference = value_difference(grads, ours)
    except Exception as e:
        difference = fault(e)
    if not record.note(first, difference, case.where) or not case.entry.supports_gradgrad:
        return
    twice = [(e, g) for e, g in zip(grads, ours, strict=True) if e is not None and e.requires_grad]
    if not twice or check != "value":
        return
    try:
        weights = [_random(e, 100 + place) for place, (e, _) in enumerate(twice)]
        seconds = quietly(lambda: _torch_grad(twice, inputs + cotangents, weights))
    except Exception:
        return  # nor twice
    try:
        record.note(second, value_difference(seconds, _second(twice, inputs + cotangents, weights), 10), case.where)
    except Exception as e:
        record.note(second, fault(e), case.where)


def _torch_grad(outputs: Any, inputs: Any, cotangents: Any) -> Any:
    columns = [[t for t, _ in pairs] for pairs in (outputs, inputs, cotangents)]
    return torch.autograd.grad(*columns, create_graph=True, allow_unused=True)


def _second(grads: Any, inputs: Any, weights: Any) -> Any:
    """Second gradients in gradwright; None for each if no first gradient depends on anything."""
    kept = [(g, w) for (_, g), (_, w) in zip(grads, weights, strict=True) if g is not None and g.requires_grad]
    if not kept:
        return [None] * len(inputs)
    gs, ws = zip(*kept, strict=True)
    return gradwright.autograd.grad(gs, [g for _, g in inputs], ws, allow_unused=True)


def _random(like: torch.Tensor, seed: int) -> tuple[Any, Any]:
    """A random tensor of this shape and dtype in both libraries, that requires grad."""
    draw = np.random.default_rng(seed)
    array = draw.standard_normal(tuple(like.shape))
    if like.dtype.is_complex:
        array = array + 1j * draw.standard_normal(tuple(like.shape))
    theirs = torch.from_numpy(np.asarray(array)).to(like.dtype)
    ours = gradwright.from_numpy(theirs.numpy().copy()).requires_grad_()
    return theirs.requires_grad_(), ours


def quietly(call: Callable[[], Any]) -> Any:
    """PyTorch's answer without its warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def fault(e: Exception) -> str:
    """An exception in a line, with the place that raised it."""
    if isinstance(e, MissingError):
        return f"needs gradwright.{e}, which is missing"
    frames = traceback.extract_tb(e.__traceback__)
    where = f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
    return f"{type(e).__name__}: {' '.join(str(e).split())[:150]}{where}"


def new_record(entry: Any) -> tuple[Record, Callable[..., Any] | None]:
    """An empty record of an entry, and the callable to check."""
    op = callable_for(entry)
    return Record(name_of(entry), group_of(entry), missing=op is None), op
