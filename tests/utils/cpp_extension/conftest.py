"""The compiled extension that tests share, and what is skipped where nothing can be compiled."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from gradwright.utils.cpp_extension import check_compiler, load


@pytest.fixture(scope="session")
def compiler() -> None:
    """Skips the test where there is no compiler, or no nanobind."""
    if importlib.util.find_spec("nanobind") is None:
        pytest.skip("nanobind is not installed: no extension built")
    try:
        check_compiler()
    except RuntimeError as e:
        pytest.skip(str(e).partition("\n")[0])


@pytest.fixture(scope="session")
def ext(compiler: None) -> ModuleType:
    """What shared.cpp registers; kept in the usual place, so that the next run of the tests finds it."""
    module: ModuleType = load("shared_by_tests", Path(__file__).with_name("shared.cpp"), ["-Wall", "-Wextra"])
    return module
