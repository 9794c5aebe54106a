"""The other forms of an operation: method, operator, in place."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import torch

import gradwright
from oracle.check import case_of, check_case, fault, quietly
from oracle.convert import UnconvertibleError
from oracle.entries import samples
from oracle.records import Record
from oracle.resolve import form

SAMPLES = 2


def check_forms(record: Record, entry: Any) -> None:
    """Each form that PyTorch has must be there, and give what PyTorch's gives."""
    forms = {"method": entry.method_variant, "operator": entry.operator_variant}
    for kind, variant in forms.items():
        if variant is not None and variant is not entry.op:
            _check(record, entry, kind, variant, lambda f: f)
    if entry.inplace_variant is not None:
        _check(record, entry, "in place", entry.inplace_variant, on_a_clone)


def _check(record: Record, entry: Any, kind: str, variant: Any, wrap: Callable[[Any], Any]) -> None:
    ours = form(variant)
    if ours is None:
        record.note("forms", f"{kind}: Tensor.{getattr(variant, '__name__', variant)} is missing")
        return
    found = quietly(lambda: samples(entry, torch.float64, None))
    usable = [s for s in found if isinstance(s.input, torch.Tensor) and not (kind == "in place" and s.broadcasts_input)]
    for sample in usable[:: max(1, len(usable) // SAMPLES)][:SAMPLES]:
        try:
            case = case_of(entry, copy.copy(sample), torch.float64)
        except UnconvertibleError:
            continue
        except Exception as e:  # a finding, as in check.py
            record.note("forms", fault(e), kind)
            continue
        case.where = f"{kind} {case.where}"
        grads = kind != "in place" or entry.supports_inplace_autograd
        check_case(record, case, wrap(ours), grads, "forms", wrap(variant))


def on_a_clone(function: Callable[..., Any]) -> Callable[..., Any]:
    """The in-place function on a copy of its first argument, which must come back as the result."""

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        target = x.clone()
        result = function(target, *args, **kwargs)
        if isinstance(target, gradwright.Tensor) and result is not target:
            raise AssertionError("an in-place form must return the tensor it wrote to")
        return result

    call.wrapped, call.rewrap = function, on_a_clone  # type: ignore[attr-defined]
    return call
