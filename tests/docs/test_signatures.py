"""Signatures as the reference shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import gradwright as gw
from docs.generator.signatures import signatures


def plain(x: gw.Tensor, dims: Sequence[int] | None = None, *, name: str = "a") -> gw.Tensor:
    """One signature."""
    return x


@overload
def several(x: int) -> int: ...
@overload
def several(x: str, *more: Any) -> str: ...
def several(x: Any, *more: Any) -> Any:
    """Two signatures."""
    return x


class Thing:
    """A thing."""

    def __init__(self, size: int, kind: type = int, of: Any = several) -> None: ...

    def method(self, x: gw.Tensor) -> None: ...


def test_annotations_stand_as_they_are_written() -> None:
    assert signatures(plain) == ["(x: gw.Tensor, dims: Sequence[int] | None = None, *, name: str = 'a') -> gw.Tensor"]


def test_a_type_variable_is_shown_without_its_variance() -> None:
    assert signatures(gw.nn.ModuleDict.items, bound=True) == ["() -> ItemsView[str, Item]"]


def test_each_overload_has_a_signature() -> None:
    assert signatures(several) == ["(x: int) -> int", "(x: str, *more: Any) -> str"]


def test_a_class_has_that_of_its_arguments() -> None:
    assert signatures(Thing) == ["(size: int, kind: type = int, of: Any = several)"]


def test_a_method_is_shown_without_what_stands_before_the_dot() -> None:
    assert signatures(Thing.method, bound=True) == ["(x: gw.Tensor) -> None"]


def test_what_python_knows_no_signature_of_has_none() -> None:
    assert signatures(max) == []
