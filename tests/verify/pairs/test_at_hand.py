"""The numbers and functions that a function holds."""

import functools
import inspect
from typing import Any

import numpy as np

from gradwright.verify.pairs.at_hand import numbers, written

DATA = np.zeros(37)
SIGMA = 2.5


def by_globals(x: Any) -> Any:
    return np.sum(DATA - x) / SIGMA


class Model:
    def __init__(self) -> None:
        self.y = np.zeros((5, 7))

    def grad(self, x: Any) -> Any:
        return x


def found(*functions: Any) -> dict[str, float]:
    return {n.name: n.value for n in numbers(*functions)}


def test_numbers_are_found_where_functions_keep_them() -> None:
    weights = [1.0, 2.0, 3.0]
    assert found(by_globals) == {"len(DATA)": 37, "SIGMA": 2.5}
    assert found(lambda x: by_globals(x))["len(DATA)"] == 37
    assert found(lambda x: x * weights) == {"len(weights)": 3}
    assert found(Model().grad) == {"len(self.y)": 5, "self.y.size": 35}
    assert found(functools.partial(by_globals, scale=4.0))["scale"] == 4


def test_a_function_is_found_behind_what_calls_it() -> None:
    line = inspect.getsourcelines(by_globals)[1]
    assert written((lambda x: by_globals(x),), __file__, line) is by_globals
    assert written((by_globals,), __file__, line + 1) is None
