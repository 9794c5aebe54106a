"""Views and rearranged tensors that a compiled function returns lie as they do eagerly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import gradwright as gw
from gradwright.compilation.compiled import CompileWarning


def resized(x: Any) -> Any:
    y = (x * 1.0).as_strided((3, 2), (1, 0))
    alias = y.detach()
    first = alias[0]
    alias.resize_((2, 3))
    return y, alias, first


def grown(x: Any) -> Any:
    y = (x * 1.0).detach()
    first = y[0]
    y.resize_((4, 3))
    y.add_(1.0)
    return y, first


def moved(x: Any) -> Any:
    y = (x * 2.0).detach()
    first = y[0]
    y.as_strided_((1, 3), (3, 1), 3)
    return y, first


def spread(x: Any) -> Any:
    y = gw.zeros(2, 3)
    y.set_(x.sum().detach().expand(2, 3))
    return y


def transposed(x: Any) -> Any:
    y = x * 2.0
    return y, y.t()[1:], y.detach()[:, ::2]


def told(f: Callable[..., Any]) -> list[Any]:
    found = []
    for k in range(4):
        got = f(gw.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0 + k]]))
        tensors = got if isinstance(got, tuple) else (got,)
        found.append([(t.tolist(), t.stride(), t.storage_offset()) for t in tensors])
    return found


@pytest.mark.parametrize("f", [resized, grown, moved, spread])
def test_what_a_call_cannot_make_so_stays_eager(f: Callable[..., Any]) -> None:
    compiled = gw.compile(f, backend="plan")
    with pytest.warns(CompileWarning, match="return a clone"):
        found = told(compiled)
    assert found == told(f)


def test_views_are_made_of_what_is_returned() -> None:
    compiled = gw.compile(transposed, backend="plan")
    assert told(compiled) == told(transposed)
    assert not compiled.programs.reason
