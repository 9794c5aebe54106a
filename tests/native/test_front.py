"""Functions that C is asked before are functions all the same."""

from __future__ import annotations

import copy
import functools
import inspect
import pickle  # noqa: TID251
import subprocess
import sys
import types
import weakref

import pytest

import gradwright as gw
from gradwright import native

pytestmark = pytest.mark.skipif(native.core is None, reason=f"core: {native.state()}")


def test_they_are_functions():
    f = gw.exp
    assert isinstance(f, types.FunctionType)
    assert inspect.isfunction(f)
    assert type(f).__name__ == "function"
    assert str(inspect.signature(f)) == "(input: 'Tensor') -> 'Tensor'"
    assert f.__name__ == "exp"
    assert f.__doc__.startswith("Exponential")
    assert pickle.loads(pickle.dumps(gw.t)) is gw.t  # noqa: S301 - made a moment ago
    assert copy.deepcopy(f) is copy.copy(f) is f
    assert weakref.ref(f)() is f
    assert repr(f).startswith("<function exp at 0x")
    assert inspect.getsource(f).startswith("    def call(input: Tensor) -> Tensor:")
    assert functools.wraps(f)(lambda x: x).__wrapped__ is f
    assert types.MethodType(f, gw.zeros(1))().tolist() == [1]
    assert gw.zeros(1).exp.__func__ is f


@pytest.mark.parametrize("given", [((), {}), ((1, 2), {}), ((), {"inputs": 1})])
def test_arguments_that_do_not_fit_are_its_own_to_refuse(given):
    args, named = given
    plain = types.FunctionType(gw.exp.__code__, gw.exp.__globals__, "exp", None, gw.exp.__closure__)
    messages = []
    for f in (gw.exp, plain):
        with pytest.raises(TypeError) as error:
            f(*args, **named)
        messages.append(str(error.value).partition("()")[2])
    assert messages[0] == messages[1]


def test_a_function_that_is_named_otherwise_or_has_other_code_is_run():
    def f(x):
        return x

    early = vars(gw.exp)["_core"]
    with pytest.raises(TypeError):
        native.core.front(f, "no form")
    before = early.taken
    assert native.core.front(len, early) is len
    gw.exp(input=gw.zeros(1))
    assert early.taken == before


def test_modes_and_classes_are_asked():
    """Functions get other code then; those of known classes are still taken."""
    program = """
import gradwright as gw
from gradwright.pytorch.overrides import TorchFunctionMode
class Told(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func.__name__
x = gw.ones(2)
early = vars(gw.exp)["_core"]
with Told():
    print(gw.exp(x), x * 2.0)
before = early.taken
print((gw.exp(x) * 0).tolist(), early.taken - before)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "exp mul\n[0.0, 0.0] 1\n", done.stderr
