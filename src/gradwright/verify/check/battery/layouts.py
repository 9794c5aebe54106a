"""Checks with other strides: kernels that take memory to be contiguous go wrong here, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import gradwright
from gradwright.verify.check.attempt import Attempt
from gradwright.verify.check.battery.behaviour import written
from gradwright.verify.check.battery.findings import failed, passed, skipped
from gradwright.verify.check.records import Finding
from gradwright.verify.check.trial import Trial, close
from gradwright.verify.numeric.layouts import expanded, mirrored, strided, transposed

_ASSUMES = r"numpy|ravel|reshape|view|stride|data|array|flat|frombuffer|contiguous"


def layouts(array: Any, foreign: bool) -> Iterator[tuple[str, Any, Any]]:
    """An array in other layouts: what to call it, the array, and a plain copy with the same values.

    Without those that ``foreign`` libraries refuse.
    """
    if array.size < 2:
        return
    level = expanded(array)
    yield "stride-0", level, np.ascontiguousarray(level)
    if array.ndim > 1 and sorted(array.shape)[-2] > 1:
        yield "transposed", transposed(array), np.ascontiguousarray(array)
    if array.ndim and array.shape[-1] > 1:
        yield "strided", strided(array), np.ascontiguousarray(array)
    if not foreign:
        yield "negative-stride", mirrored(array), np.ascontiguousarray(array)
        still = np.array(array)
        still.flags.writeable = False
        yield "read-only", still, np.ascontiguousarray(array)


def strides(trial: Trial) -> Finding:
    """Cotangents and inputs with strides of 0, negative, transposed or read-only give what contiguous ones give."""
    run = trial.run()
    if not run.outputs:
        return skipped("no output requires grad")
    cotangents = trial.cotangents(run)
    foreign = trial.T is not gradwright
    for k, c in enumerate(cotangents):
        for name, odd, plain in layouts(c, foreign):
            found = _compared(trial, partial(_pulled, trial, cotangents, k), odd, plain, f"{name} cotangent",
                              "backward gives another gradient for a grad_output", "backward")
            if found is not None:
                return found
    for k, a in enumerate(trial.call.args):
        for name, odd, plain in layouts(a.array, foreign):
            found = _compared(trial, partial(_all, trial, k), odd, plain, f"{name} input",
                              f"results are others for `{trial.call.labels()[k]}`", "forward")
            if found is not None:
                return found
    return passed()


def _pulled(trial: Trial, cotangents: list[Any], k: int, v: Any) -> list[Any]:
    """The gradients with ``v`` for cotangent number k."""
    return trial.backward(trial.run(), [v if j == k else c for j, c in enumerate(cotangents)])


def _all(trial: Trial, k: int, v: Any) -> list[Any]:
    """The results and gradients with ``v`` for the tensor number k."""
    other = trial.other(trial.call.with_arrays(lambda j, a: v if j == k else a))
    run = other.run()
    return [*run.arrays, *other.backward(run)]


def _compared(trial: Trial, outcome: Callable[[Any], list[Any]], odd: Any, plain: Any, cause: str, what: str,
              part: str) -> Finding | None:
    """What is wrong if an array of other strides does not give what a plain one with its values does."""
    if part == "forward" and "stride-0" in cause and not _defined(outcome, plain):
        return None
    due = outcome(plain)
    attempt = Attempt()
    with attempt:
        said = outcome(odd)
    mend = "keep to the library's functions, or take a contiguous copy first: contiguous()"
    if cause.startswith("read-only"):
        mend = "do not write to it: work on a clone()"
    how = cause.rpartition(" ")[0]
    if attempt.error is not None:
        return failed(cause, f"fails for a {how} {cause.rpartition(' ')[2]}: {attempt.said()}", mend,
                      attempt.line(trial.subject.file))
    if not close(said, due):
        lines = trial.lines(part, _ASSUMES) or written(trial, part)
        return failed(cause, f"{what} that is {how} than for a contiguous one of the same values", mend, lines)
    return None


def _defined(outcome: Callable[[Any], list[Any]], plain: Any) -> bool:
    """Whether equal entries are fit to be put in."""
    attempt = Attempt()
    with attempt:
        found = outcome(plain)
    return attempt.error is None and all(g is None or np.isfinite(g).all() for g in found)
