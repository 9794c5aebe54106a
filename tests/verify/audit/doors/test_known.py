"""The doors that are known."""

import importlib
from importlib.util import find_spec

import pytest

from gradwright.verify.audit.doors.known import DOORS


@pytest.mark.parametrize("module", sorted({d.module for d in DOORS}))
def test_they_are_where_they_should_be(module):
    if find_spec(module.partition(".")[0]) is None:
        pytest.skip(f"{module.partition('.')[0]} is not installed")
    found = importlib.import_module(module)
    for d in DOORS:
        if d.module == module:
            owner = found
            for part in d.path.split("."):
                owner = getattr(owner, part)
            assert callable(owner)
