"""Profiles, under the name of PyTorch's module: see `gradwright.debug.profiler`."""

from gradwright.base.lazy import lazy
from gradwright.debug.profiler import Event, ProfilerActivity, Row, Rows, profile, record_function

__all__ = ["Event", "ProfilerActivity", "Row", "Rows", "profile", "record_function"]

lazy(__name__)
