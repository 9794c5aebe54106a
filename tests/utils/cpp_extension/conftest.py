"""The compiled extension that tests share."""

from pathlib import Path
from types import ModuleType

import pytest

from gradwright.utils.cpp_extension import load


@pytest.fixture(scope="session")
def ext(compiler: None) -> ModuleType:
    """What shared.cpp registers; kept in the usual place, so that the next run of the tests finds it."""
    module: ModuleType = load("shared_by_tests", Path(__file__).with_name("shared.cpp"), ["-Wall", "-Wextra"])
    return module
