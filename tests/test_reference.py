"""The docstrings of what there is at the top level: examples that run, signatures with types, facts that hold."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import pytest

import gradwright as gw
from gradwright._reference import PARTS

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
WITHOUT_EXAMPLE = 104
"""How many functions at the top level have no example yet. It must not grow."""


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    for name in gw.__all__:
        found = getattr(gw, name)
        if isinstance(found, FunctionType):
            yield name, found


WITH_EXAMPLE = [name for name, function in functions() if ">>> " in (function.__doc__ or "")]


def test_every_function_says_what_it_is() -> None:
    assert [name for name, function in functions() if not (function.__doc__ or "").strip()] == []


def test_functions_have_examples() -> None:
    without = [name for name, function in functions() if name not in WITH_EXAMPLE]
    assert len(without) <= WITHOUT_EXAMPLE, without


@pytest.mark.parametrize("name", WITH_EXAMPLE)
def test_its_example_runs(name: str) -> None:
    said: list[str] = []
    function = getattr(gw, name)
    if "Needs SciPy" in function.__doc__ or "Needs SciPy" in (getattr(gw, name.rstrip("_"), function).__doc__ or ""):
        pytest.importorskip("scipy")
    scope = dict(inspect.unwrap(function).__globals__)
    examples = doctest.DocTestParser().get_doctest(inspect.getdoc(function) or "", scope, name, None, 0)
    assert doctest.DocTestRunner(optionflags=FLAGS).run(examples, out=said.append).failed == 0, "".join(said)


def test_texts_are_of_functions_that_there_are() -> None:
    names = [name for texts in PARTS for name in texts]
    assert len(names) == len({id(getattr(gw, name)) for name in names}), "one text for each function"


@pytest.mark.parametrize("name", [name for texts in PARTS for name in texts])
def test_other_names_of_a_function_are_told(name: str) -> None:
    function = getattr(gw, name)
    assert function.__name__ == name
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
