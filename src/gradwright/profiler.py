"""Profiles, under the name of PyTorch's module: see `gradwright.debug.profiler`."""

from gradwright.base.lazy import lazy
from gradwright.debug.profiler import (
    Event,
    ProfilerAction,
    ProfilerActivity,
    Row,
    Rows,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)

__all__ = ["Event", "ProfilerAction", "ProfilerActivity", "Row", "Rows", "profile", "record_function", "schedule",
           "tensorboard_trace_handler"]  # fmt: skip

lazy(__name__)
