"""Public names that are built from declarations, which --doctest-modules does not meet: their examples run here."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FACES = ["fft", "linalg", "masked", "nn.functional", "special"]


def built(face: str) -> Iterator[tuple[str, Any]]:
    """The functions of a module that stand in no module under their own name."""
    module = import_module(f"gradwright.{face}")
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isfunction(value) and not any(v is value for v in value.__globals__.values()):
            yield name, value


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("face", FACES)
def test_examples_of_what_is_built_from_declarations(face: str) -> None:
    faults: list[str] = []
    for name, value in built(face):
        test = doctest.DocTestParser().get_doctest(inspect.getdoc(value) or "", {}, f"{face}.{name}", None, None)
        doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=faults.append)
    assert not faults, "".join(faults)
