"""Profiles, under the name of PyTorch's module: see `gradwright.debug.profiler`."""

from typing import TYPE_CHECKING

from gradwright.base.lazy import lazy
from gradwright.debug.profiler import Event, ProfilerActivity, Row, Rows, profile, record_function

__all__ = ["Event", "ProfilerActivity", "Row", "Rows", "profile", "record_function"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = lazy(__name__)
