from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gradwright

CALLS = [
    lambda t, x: t.sum(x, axis=0, keepdims=True),
    lambda t, x: x.amax(axis=(0, 1)),
    lambda t, x: t.cumsum(a=x, axis=0),
    lambda t, x: t.max(x, x2=x),
    lambda t, x: t.topk(x, 1, axis=0),
    lambda t, x: t.softmax(x1=x, axis=-1),
    lambda t, x: t.median(x, axis=1, keepdims=True),
    lambda t, x: t.sum(x, dim=0, axis=0),
    lambda t, x: t.norm(x, axis=0),
    lambda t, x: t.sum(x, axes=0),
]


@pytest.mark.parametrize("call", CALLS)
def test_numpys_names(same: Any, call: Any) -> None:
    same(call, np.arange(6.0).reshape(2, 3), names=False)


def test_it_says_which_two() -> None:
    with pytest.raises(TypeError, match=r"sum\(\): 'axis' is another name of 'dim'"):
        gradwright.sum(gradwright.zeros(2), dim=0, axis=0)
