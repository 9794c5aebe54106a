"""Public names that are built from declarations, which --doctest-modules does not meet: their examples run here."""

import doctest
import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest

import gradwright as gw

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
FACES = ["fft", "linalg", "masked", "nn.functional", "special"]


def built(face: str) -> Iterator[tuple[str, Any]]:
    """The functions of a module that stand in no module under their own name."""
    module = import_module(f"gradwright.{face}")
    for name in module.__all__:
        value = getattr(module, name)
        if inspect.isfunction(value) and not any(v is value for v in value.__globals__.values()):
            yield name, value


SAID_ELSEWHERE = {"LinAlgError"}
"""Names of these faces that need no example of their own."""


@pytest.mark.parametrize("face", [
    "fft", "linalg", "masked", "nn.functional", "optim", "optim.lr_scheduler", "random", "signal.windows", "special",
])  # fmt: skip
def test_every_name_has_an_example(face: str) -> None:
    module = import_module(f"gradwright.{face}")
    names = [name for name in dir(module) if name in getattr(module, "__all__", dir(module)) and name[0] != "_"]
    public = {name: getattr(module, name) for name in names if callable(getattr(module, name))}
    without = {name for name, value in public.items() if ">>>" not in (inspect.getdoc(value) or "")}
    assert {name for name in without if not name.endswith(("_", "_with_indices"))} <= SAID_ELSEWHERE


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("face", FACES)
def test_examples_of_what_is_built_from_declarations(face: str) -> None:
    faults: list[str] = []
    for name, value in built(face):
        text = inspect.getdoc(value) or ""
        test = doctest.DocTestParser().get_doctest(text, {"gw": gw}, f"{face}.{name}", None, None)
        doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=faults.append)
    assert not faults, "".join(faults)
