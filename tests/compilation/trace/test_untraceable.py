"""What cannot be traced runs eagerly, and says why."""

import pytest

import gradwright as gw
from gradwright.compilation.compiled import CompileWarning


def test_the_reason_is_told_once_with_the_function() -> None:
    @gw.compile
    def f(x: gw.Tensor) -> object:
        return object() if x is not None else x

    with pytest.warns(CompileWarning, match="an object of object") as told:
        _ = [f(gw.ones(2)) for _ in range(4)]
    assert len(told) == 1
