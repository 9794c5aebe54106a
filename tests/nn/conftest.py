"""Running a test on gradwright and on PyTorch: what it expects of the one is then known to hold for the other."""

from __future__ import annotations

from types import ModuleType

import pytest

import gradwright


@pytest.fixture(params=["gradwright", "torch"])
def lib(request: pytest.FixtureRequest) -> ModuleType:
    """gradwright, then PyTorch where it is installed."""
    return gradwright if request.param == "gradwright" else request.getfixturevalue("torch")
