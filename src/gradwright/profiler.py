"""Profiles, under the name of PyTorch's module: see `gradwright.watchers.profiler`."""

from gradwright.watchers.profiler import Event, ProfilerActivity, Row, Rows, profile, record_function

__all__ = ["Event", "ProfilerActivity", "Row", "Rows", "profile", "record_function"]
