"""Profiles, under the name of PyTorch's module: see `gradwright.watchers.profiler`."""

from typing import TYPE_CHECKING

from gradwright.later import later
from gradwright.watchers.profiler import Event, ProfilerActivity, Row, Rows, profile, record_function

__all__ = ["Event", "ProfilerActivity", "Row", "Rows", "profile", "record_function"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__)
