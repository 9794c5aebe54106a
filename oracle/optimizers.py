"""PyTorch's table of its optimisers: ten steps in both libraries, from one state and with the same gradients."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

import gradwright
from oracle.check import Options, findings, quietly
from oracle.compare import tensors_in, value_difference
from oracle.convert import Converter
from oracle.records import Record
from oracle.refusals import check_refusal

STEPS = 10
SHAPES = ((4, 3), (3,), (), (2, 3, 2))
MATRICES = ((4, 3), (2, 5))
"""What Muon optimises; the others take any shape."""
MUON = 1e5
"""Times the usual tolerance: it computes in bfloat16, whatever its parameters are."""


def check_optimizer(record: Record, info: Any, build: Callable[..., Any], options: Options) -> None:
    """Parameters after each of ten steps, and the `state_dict` after the last; then the inputs that must be refused."""
    for dtype in (torch.float64, torch.float32) if options.dtypes else (torch.float64,):
        for case in quietly(lambda: info.optim_inputs_func(device="cpu"))[: options.samples]:
            where = f"{case.desc}, {str(dtype)[6:]}"
            with findings(record, where):
                _check_case(record, info, build, case.kwargs, dtype, where)
    if options.errors and info.optim_error_inputs_func is not None:
        _check_errors(record, info, build)


def _check_case(record: Record, info: Any, build: Any, kwargs: dict[str, Any], dtype: Any, where: str) -> None:
    shapes, slack = (MATRICES, MUON) if info.name == "Muon" else (SHAPES, 1.0)
    draw = np.random.default_rng(0)
    start = [draw.standard_normal(shape) for shape in shapes]
    theirs = [torch.tensor(a, dtype=dtype, requires_grad=True) for a in start]
    mine = [gradwright.tensor(t.detach().numpy().copy(), requires_grad=True) for t in theirs]
    optimizers = info.optim_cls(theirs, **kwargs), build(mine, **Converter()(kwargs))
    for step in range(STEPS):
        for parameters, optimizer, library in zip((theirs, mine), optimizers, (torch, gradwright), strict=True):
            quietly(lambda o=optimizer, p=parameters, t=library: o.step(closure_of(t, o, p)))
        difference = value_difference([t.detach() for t in theirs], [m.detach() for m in mine], slack)
        if not record.note("value", difference and f"step {step + 1}: {difference}", where):
            return
    record.note("state", _state_difference(*(o.state_dict() for o in optimizers), slack), where)


def closure_of(library: Any, optimizer: Any, parameters: list[Any]) -> Callable[[], Any]:
    """The loss of `step`: smooth, convex, coupled and not quadratic."""

    def closure() -> Any:
        optimizer.zero_grad()
        parts = [((p - 0.5) ** 2 * (k + 1) + (p * 0.5).sin()).sum() for k, p in enumerate(parameters)]
        loss = sum(parts) + (parameters[0].sum() - parameters[-1].sum()) ** 2 / 20
        loss.backward()
        return loss

    return closure


def _state_difference(expected: Any, got: Any, slack: float, path: str = "state_dict()") -> str | None:
    """Dictionaries with the same keys in the same order, and the same numbers in them."""
    if isinstance(expected, torch.Tensor) or isinstance(got, gradwright.Tensor):
        if not (isinstance(expected, torch.Tensor) and isinstance(got, gradwright.Tensor)):
            return f"{path} is {type(got).__name__} instead of {type(expected).__name__}"
        difference = value_difference([expected], [got], slack)
        return difference and f"{path}: {difference}"
    if isinstance(expected, (dict, list, tuple)):
        if type(got) is not type(expected) or len(got) != len(expected):
            return f"{path} is {got!r} instead of {expected!r}"[:160]
        keyed = isinstance(expected, dict)
        if keyed and list(got) != list(expected):
            return f"{path} has {list(got)} instead of {list(expected)}"
        keys = list(expected) if keyed else range(len(expected))
        return next((d for k in keys if (d := _state_difference(expected[k], got[k], slack, f"{path}[{k!r}]"))), None)
    same = got == expected or (isinstance(expected, float) and math.isclose(got, expected, rel_tol=1e-9))
    return None if same else f"{path} is {got!r} instead of {expected!r}"


def _check_errors(record: Record, info: Any, build: Callable[..., Any]) -> None:
    for case in quietly(lambda: info.optim_error_inputs_func(device="cpu", dtype=torch.float64)):

        def call(bad: Any = case.optimizer_error_input) -> None:
            convert = Converter()
            given, kwargs = convert([bad.params, bad.kwargs])
            for theirs, mine in zip(tensors_in(bad.params), tensors_in(given), strict=True):
                mine.grad = convert(theirs.grad)
            build(given, **kwargs).step()

        check_refusal(record, call, case.error_type, case.error_regex)
