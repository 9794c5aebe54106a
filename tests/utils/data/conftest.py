"""The same programs on gradwright and on PyTorch."""

import importlib
from types import ModuleType

import pytest


@pytest.fixture
def data(T: ModuleType) -> ModuleType:
    """The module utils.data of the library under test."""
    return importlib.import_module(f"{T.__name__}.utils.data")
