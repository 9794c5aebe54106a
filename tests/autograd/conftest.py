"""The tests of the engine say what must be; those that ask for `T` run on gradwright and, where installed, on PyTorch.

So what a test states is checked against PyTorch each time it is checked on gradwright.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest


@pytest.fixture
def leaf(T: ModuleType) -> Callable[..., Any]:
    """``leaf(data)``: a float64 tensor that requires grad."""
    return lambda data: T.tensor(data, dtype=T.float64, requires_grad=True)
