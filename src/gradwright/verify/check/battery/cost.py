"""The cost of backward, compared with finite differences."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from gradwright.verify.check.battery.findings import advised, passed, skipped
from gradwright.verify.check.records import Finding
from gradwright.verify.check.trial import Trial

LEAST = 1e-3
"""Seconds under which a backward is not worth talking about."""


def cost(trial: Trial) -> Finding:
    """Backward takes less time than finite differences, which call forward twice for every entry."""
    run = trial.run()
    if not run.outputs:
        return skipped("no output requires grad")
    cotangents = trial.cotangents(run)
    forward = _least(lambda: trial.run([False] * len(trial.call.args)))
    backward = _least(lambda: trial.backward(run, cotangents))
    entries = sum(a.array.size for a in trial.call.args if a.grad)
    numeric = 2 * entries * forward
    said = f"backward takes {_time(backward)}, forward {_time(forward)}, finite differences {_time(numeric)}"
    if backward > max(numeric, LEAST):
        return advised("cost", said, "look for loops over entries in backward, and for what forward could keep")
    return passed(said)


def _least(call: Callable[[], Any]) -> float:
    found = []
    for _ in range(3):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found)


def _time(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} µs" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"
