"""What the examples in docstrings take for granted."""

from __future__ import annotations

from typing import Any

import pytest

import gradwright


@pytest.fixture(autouse=True, scope="session")
def _gw(doctest_namespace: dict[str, Any]) -> None:
    """``import gradwright as gw``, as the package's docstring says."""
    doctest_namespace["gw"] = gradwright
