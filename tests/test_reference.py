"""The docstrings of what there is at the top level: examples that run, signatures with types, facts that hold."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import pytest

import gradwright as gw
from gradwright._reference import PARTS, around, layers

TEXTS = [name for texts in (*PARTS, around.TEXTS, layers.TEXTS) for name in texts]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in gw.__all__:
        found = getattr(gw, name)
        if isinstance(found, FunctionType):
            yield name, found


NAMES = [name for name, _ in functions()]


def test_functions_have_examples() -> None:
    assert [name for name in NAMES if ">>> " not in getattr(gw, name).__doc__] == []


def test_a_text_is_joined_once() -> None:
    assert [name for name in NAMES if getattr(gw, name).__doc__.count(">>> import gradwright as gw") > 1] == []


@pytest.mark.parametrize("name", NAMES)
def test_its_example_runs(name: str) -> None:
    said: list[str] = []
    function = getattr(gw, name)
    if "Needs SciPy" in function.__doc__ or "Needs SciPy" in (getattr(gw, name.rstrip("_"), function).__doc__ or ""):
        pytest.importorskip("scipy")
    scope = dict(inspect.unwrap(function).__globals__)
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(function) or "", scope, name, None, 0)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(examples, out=said.append).failed == 0, "".join(said)


def test_texts_are_of_functions_that_there_are() -> None:
    assert len(TEXTS) == len({id(getattr(gw, name)) for name in TEXTS}), "one text for each function"


@pytest.mark.parametrize("name", TEXTS)
def test_other_names_of_a_function_are_told(name: str) -> None:
    function = getattr(gw, name)
    assert function.__name__ == name or function.__module__ == "gradwright.dtypes"
    others = {other for other, found in functions() if found is function} - {name}
    assert {other for other in others if f"`{other}`" not in function.__doc__} == set()


def test_signatures_have_types() -> None:
    bare = {
        name for name, function in functions()
        for p in inspect.signature(function).parameters.values()
        if p.annotation is p.empty and p.name != "self"
    }  # fmt: skip
    assert bare == set()
    assert str(inspect.signature(gw.exp)) == "(input: 'Tensor') -> 'Tensor'"
    assert str(inspect.signature(gw.Tensor.exp_)) == "(input: 'Tensor') -> 'Tensor'"
    assert str(inspect.signature(gw.fmod)) == "(input: 'Tensor', other: 'Tensor | Number') -> 'Tensor'"
