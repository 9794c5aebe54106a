import contextlib
import copy

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.watch.files import NUMPY, OBSERVED, OWN, STANDARD, is_library, is_ours, root, whose
from gradwright.nn.functional import relu
from gradwright.nn.registry import Registry


@pytest.mark.parametrize(("function", "expected"), [
    (test := lambda: None, OBSERVED),
    (gw.nn.Linear.forward, OBSERVED),
    (gw.nn.Module.__call__, OBSERVED),
    (relu, OWN),
    (Registry.__setattr__, OWN),
    (gw.optim.Optimizer.zero_grad, OWN),
    (gw.Tensor.backward, OWN),
    (np.broadcast_shapes, NUMPY),
    (contextlib.nullcontext.__enter__, STANDARD),
    (copy.copy, STANDARD),
])  # fmt: skip
def test_whose_code_it_is(function, expected):
    assert whose(function.__code__) == expected
    assert is_ours(function.__code__) == (function is not test and function.__module__.startswith("gradwright"))


def test_what_nobody_changes_is_a_librarys():
    class Users(gw.nn.Module):
        pass

    assert is_library(gw.nn.Linear)
    assert is_library(dict)
    assert not is_library(Users)
    assert root(np.ndarray) == "numpy"
    assert root(3) == ""


def test_a_class_made_without_a_module_is_the_users():
    made = {"gw": gw}
    exec("class Config:\n    scale = 2.0\n\ndef scaled(x):\n    return x * Config.scale", made)  # noqa: S102 - as a runner does
    assert made["Config"].__module__ == "builtins"
    assert not is_library(made["Config"])
    assert is_library(dict)
    assert is_library(ExceptionGroup)
    step = gw.compile(made["scaled"], backend="plan")
    for _ in range(4):
        assert step(gw.ones(2)).tolist() == [2, 2]
    made["Config"].scale = 5.0
    assert step(gw.ones(2)).tolist() == [5, 5]
