"""Whose code it is, and what of the libraries does nothing beside its result."""

from __future__ import annotations

import builtins
import contextlib
import copy
import math
import operator
import random
import time

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.watch import libraries
from gradwright.compilation.watch.libraries import NUMPY, OBSERVED, OWN, STANDARD, is_library, is_ours, root, whose
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


def test_functions_that_only_compute_are_known():
    assert {len, sum, math.sqrt, operator.add} <= libraries.FUNCTIONS
    assert {operator.setitem, operator.iadd} <= libraries.CHANGES_FIRST


@pytest.mark.parametrize("function", [print, open, input, exec, eval, __import__, time.time, random.random, vars, dir])
def test_functions_that_do_more_are_not(function):
    assert function not in libraries.FUNCTIONS


def test_every_builtin_function_is_one_or_the_other():
    others = {"__build_class__", "__import__", "breakpoint", "compile", "delattr", "dir", "eval", "exec", "globals", "input",
              "locals", "open", "print", "setattr", "vars", "aiter", "anext"}  # fmt: skip
    named = {f.__name__ for f in vars(builtins).values() if type(f) is type(len)}
    assert named - {f.__name__ for f in libraries.FUNCTIONS} <= others


@pytest.mark.parametrize("kind", [list, dict, set])
def test_methods_that_only_read_change_nothing(kind):
    arguments = {"index": [1], "count": [1], "get": [1], "fromkeys": [[1]]}
    for name in libraries.READERS[kind]:
        value = kind([1, 2]) if kind is not dict else {1: 2}
        before = value.copy()
        if hasattr(value, name):
            getattr(value, name)(*arguments.get(name, [] if name in ("copy", "keys", "values", "items") else [{1}]))
        assert value == before
