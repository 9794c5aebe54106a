"""PyTorch's table of its modules: each built in both libraries, given one state, called and differentiated."""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch

from oracle.check import Case, Options, compare_gradients, findings, quietly
from oracle.compare import dtype_difference, shape_difference, structure_difference, tensors_in, value_difference
from oracle.convert import Converter
from oracle.entries import seed
from oracle.records import Record
from oracle.refusals import check_refusal


def check_module(record: Record, info: Any, build: Callable[..., Any], options: Options) -> None:
    """Printing, state, outputs, gradients, second gradients, state afterwards; in training and in evaluation."""
    for dtype in (torch.float64, torch.float32) if options.dtypes else (torch.float64,):
        for training in (True, False):
            for case in _cases(info.module_inputs_func, info, dtype, training)[: options.samples]:
                where = f"{case.desc or 'case'}{'' if training else ', eval'}, {str(dtype)[6:]}"
                with findings(record, where):
                    _check_case(record, info, build, case, dtype, training, where)
    if options.errors and info.module_error_inputs_func is not None:
        _check_errors(record, info, build)


def _check_case(record: Record, info: Any, build: Any, case: Any, dtype: Any, training: bool, where: str) -> None:
    made, called = case.constructor_input, case.forward_input
    convert = Converter()
    theirs = quietly(lambda: info.module_cls(*made.args, **made.kwargs)).to(dtype).train(training)
    mine = build(*convert(made.args), **convert(made.kwargs)).to(convert(dtype)).train(training)
    args, kwargs = convert(called.args), convert(called.kwargs)
    if info.is_lazy:
        quietly(lambda: theirs(*called.args, **called.kwargs))
        mine(*args, **kwargs)
    record.note("state", _unlike(repr(theirs), repr(mine)), where)
    mine.load_state_dict(convert(dict(theirs.state_dict())))
    if not record.note("state", _state_difference(theirs.state_dict(), mine.state_dict()), where):
        return
    random = is_random(theirs, called)
    expected = quietly(lambda: theirs(*called.args, **called.kwargs))
    got = mine(*args, **kwargs)
    difference = structure_difference(expected, got) or shape_difference(expected, got)
    record.note("dtype", difference or dtype_difference(expected, got), where)
    if random or not record.note("value", difference or _numbers(expected, got), where):
        return
    record.note("state", _state_difference(theirs.state_dict(), mine.state_dict()), where)
    if dtype is torch.float64:
        parameters = zip(theirs.parameters(), mine.parameters(), strict=True)
        sample = SimpleNamespace(output_process_fn_grad=lambda value: value)
        pairs = [*convert.pairs, *((t, m) for t, m in parameters if t.requires_grad)]
        compare_gradients(record, Case(info, sample, where, None, args, kwargs, pairs), expected, got, "value")


def _cases(table: Callable[..., Any], info: Any, dtype: Any, training: bool) -> list[Any]:
    seed()
    return quietly(lambda: list(table(info, device="cpu", dtype=dtype, requires_grad=True, training=training)))


def is_random(module: Any, called: Any) -> bool:
    """Whether PyTorch's module gives something else when it is called again."""
    first, second = (
        quietly(lambda: tensors_in(copy.deepcopy(module)(*called.args, **called.kwargs))) for _ in range(2)
    )
    return not all(torch.equal(a, b) for a, b in zip(first, second, strict=True))


def _unlike(expected: str, got: str) -> str | None:
    return None if expected == got else f"printed as {got!r} instead of {expected!r}"


def _state_difference(expected: Any, got: Any) -> str | None:
    """The names of what is in a state, and its numbers."""
    if list(expected) != list(got):
        return f"the state has {list(got)} instead of {list(expected)}"
    pairs = [(n, expected[n], got[n]) for n in expected if isinstance(expected[n], torch.Tensor)]
    for name, e, g in pairs:
        if difference := dtype_difference(e, g) or _numbers(e, g):
            return f"state {name}: {difference}"
    return None


def _numbers(expected: Any, got: Any) -> str | None:
    return value_difference(tensors_in(expected), tensors_in(got))


def _check_errors(record: Record, info: Any, build: Callable[..., Any]) -> None:
    for case in _cases(info.module_error_inputs_func, info, torch.float64, True):
        made, called = case.module_error_input.constructor_input, case.module_error_input.forward_input

        def call(made: Any = made, called: Any = called) -> None:
            convert = Converter()
            module = build(*convert(made.args), **convert(made.kwargs))
            if called is not None:
                module(*convert(called.args), **convert(called.kwargs))

        check_refusal(record, call, case.error_type, case.error_regex)
