"""Checks with other strides: kernels that take memory to be contiguous go wrong here, and nowhere else."""

from __future__ import annotations

from gradwright.verify.check.battery.behaviour import written
from gradwright.verify.check.battery.findings import skipped, tried
from gradwright.verify.check.records import Finding
from gradwright.verify.check.trial import Trial

_ASSUMES = r"numpy|ravel|reshape|view|stride|data|array|flat|frombuffer|contiguous"


def strides(trial: Trial) -> Finding:
    """Cotangents and inputs with strides of 0, negative, transposed or read-only give what contiguous ones give."""
    if not trial.run().outputs:
        return skipped("no output requires grad")
    part = lambda fault: "forward" if fault.cause.endswith("input") else "backward"
    return tried(trial, ["strides"], lambda fault: trial.lines(part(fault), _ASSUMES) or written(trial, part(fault)))
