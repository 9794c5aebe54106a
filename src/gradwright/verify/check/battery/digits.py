"""Digits that a right function loses in float32 and float64, over the range of its samples."""

from __future__ import annotations

import importlib.util
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

import gradwright
from gradwright.function.contract.surrogate import reason_of
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.trial import Trial


def digits(trial: Trial) -> dict[str, Any] | None:
    """What `gradwright.verify.stability` finds, as plain data, with its ``sample``.

    None without python-flint, for a function of several tensors or of one number, and where balls cannot run it.
    """
    tensors = [a for a in trial.call.args if a.grad]
    if trial.subject.kind == "torch" or len(trial.call.args) != 1 or len(tensors) != 1 or trial.call.is_complex:
        return None
    if importlib.util.find_spec("flint") is None or reason_of(trial.subject.function) is not None:
        return None
    low, high = (float(f(tensors[0].array)) for f in (np.min, np.max)) if tensors[0].array.size else (0.0, 0.0)
    if not low < high:
        return None
    arguments, _ = trial.call.tensors(gradwright)
    inputs = [(low, high) if isinstance(a, gradwright.Tensor) else a for a in arguments]
    if sum(isinstance(a, gradwright.Tensor) for a in arguments) != 1:
        return None
    bound = partial(trial.subject.target, **trial.call.static)
    with Attempt():
        found = import_module("gradwright.verify").stability(bound, *inputs, name=trial.subject.name)
        return {**found.as_dict(), "sample": str(trial.call)}
    return None
