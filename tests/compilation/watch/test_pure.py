import builtins
import math
import operator
import random
import time

import pytest

from gradwright.compilation.watch import pure


def test_functions_that_only_compute_are_known():
    assert {len, sum, math.sqrt, operator.add} <= pure.FUNCTIONS
    assert {operator.setitem, operator.iadd} <= pure.CHANGES_FIRST


@pytest.mark.parametrize("function", [print, open, input, exec, eval, __import__, time.time, random.random, vars, dir])
def test_functions_that_do_more_are_not(function):
    assert function not in pure.FUNCTIONS


def test_every_builtin_function_is_one_or_the_other():
    others = {"__build_class__", "__import__", "breakpoint", "compile", "delattr", "dir", "eval", "exec", "globals", "input",
              "locals", "open", "print", "setattr", "vars", "aiter", "anext"}  # fmt: skip
    named = {f.__name__ for f in vars(builtins).values() if type(f) is type(len)}
    assert named - {f.__name__ for f in pure.FUNCTIONS} <= others


@pytest.mark.parametrize("kind", [list, dict, set])
def test_methods_that_only_read_change_nothing(kind):
    arguments = {"index": [1], "count": [1], "get": [1], "fromkeys": [[1]]}
    for name in pure.READERS[kind]:
        value = kind([1, 2]) if kind is not dict else {1: 2}
        before = value.copy()
        if hasattr(value, name):
            getattr(value, name)(*arguments.get(name, [] if name in ("copy", "keys", "values", "items") else [{1}]))
        assert value == before
