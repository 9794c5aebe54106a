"""Exchanging the code of functions: what they do for known classes, and what is asked of others."""

import inspect
import subprocess
import sys
from types import FunctionType
from typing import Any

import pytest

import gradwright as gw
from gradwright.autograd import why_none
from gradwright.compilation.watch.libraries import OWN, whose
from gradwright.engine.apply import binary, unary
from gradwright.face.methods import exchange as exchanging
from gradwright.face.methods.subclasses import TorchFunctionMode
from gradwright.ops import arithmetic, elementary


class Odd:
    """A class that is asked about."""


def closed(k: Any) -> Any:
    def function(x: Any, y: Any = 1, *rest: Any, _args: Any = 0, **named: Any) -> Any:
        return x, y, k, rest, _args, named

    return function


def asked(public: Any, function: Any, args: Any, kwargs: Any) -> Any:
    return public, args, kwargs, function


@pytest.fixture
def exchange(monkeypatch):
    monkeypatch.setattr(exchanging, "KNOWN", {int, gw.Tensor})
    return lambda function: exchanging.exchange(function, "known", asked) or function


def test_known_classes_get_what_the_function_gives(exchange):
    f = exchange(closed(5))
    assert f(1) == (1, 1, 5, (), 0, {})
    assert f(1, 2, 3) == (1, 2, 5, (3,), 0, {})


def test_other_classes_and_named_arguments_are_asked_as_they_were_given(exchange):
    f, odd = exchange(closed(5)), Odd()
    public, args, kwargs, before = f(odd, 2)
    assert (public, args, kwargs) == ("known", (odd, 2), {})
    assert before(odd, 2) == (odd, 2, 5, (), 0, {})
    assert f(1, y=odd, _args=3)[1:3] == ((1,), {"y": odd, "_args": 3})


def test_the_function_stays_itself_and_its_signature_too(exchange):
    f = closed(1)
    name, signature = f.__name__, inspect.signature(f)
    assert exchange(f) is f
    assert (f.__name__, inspect.signature(f)) == (name, signature)
    assert isinstance(f, FunctionType)


@pytest.mark.parametrize("make", [
    lambda: unary(elementary.exp), lambda: binary(arithmetic.multiply, lambda x, y: NotImplemented),
    lambda: binary(arithmetic.multiply, lambda x, y: NotImplemented, reflected=True),
])  # fmt: skip
def test_quick_callables_stay_quick(exchange, make):
    f = make()
    arguments = [gw.tensor([1.0, 2.0], requires_grad=True), 3][: f.__code__.co_argcount]
    before = f(*arguments)
    exchange(f)
    assert f.__code__.co_flags & inspect.CO_VARARGS == 0  # no other call in between
    after = f(*arguments)
    assert (after == before).all()
    assert after.grad_fn.name() == before.grad_fn.name()
    odd = Odd()
    assert f(odd, *arguments[1:])[1] == (odd, *arguments[1:])


def test_the_source_need_not_be_in_linecache():
    program = """if True:
        import linecache
        import gradwright as gw
        linecache.clearcache()
        class Plain(gw.Tensor):
            pass
        print(gw.exp.__code__.co_filename, type(gw.exp(Plain([1.0]))).__name__, gw.exp(gw.zeros(1)).item())
        """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("<gradwright quick path of 1")
    assert done.stdout.endswith("Plain 1.0\n")


def test_what_asks_already_is_left_as_it_is(exchange):
    f = exchange(closed(5))
    code = f.__code__
    assert exchange(f).__code__ is code


def test_a_function_of_any_number_of_arguments_asks_without_any_too(exchange):
    assert exchange(lambda *size: size)()[:3] == ("known", (), {})
    assert exchange(lambda size=1: size)() == 1
    assert exchange(lambda: 2)() == 2


def test_a_mode_is_asked_of_what_is_made_without_a_size():
    seen = []

    class Mode(TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            seen.append((func, args))
            return func(*args)

    with Mode():
        assert gw.zeros() == 0
    assert (seen[0][0].__name__, seen[0][1]) == ("zeros", ())  # programs may have it as torch.zeros


def test_who_was_called_is_known_after_functions_ask():
    type("Asked", (gw.Tensor,), {})
    x, w = gw.tensor([2.0], requires_grad=True), gw.tensor([3.0], requires_grad=True)
    found = why_none(x, lambda: (gw.tensor((x * 3).numpy(force=True)) * w).sum())
    assert found.reason == "numpy()"
    with pytest.raises(TypeError, match=r"pad\(\): argument 'pad'"):
        gw.nn.functional.pad(gw.ones(3), pad=(gw.tensor(1.5), 0))
    assert whose(gw.nn.functional.relu.__code__) == OWN
    step = gw.compile(lambda x: gw.nn.functional.relu(x).sum(), backend="plan", fullgraph=True)
    assert [step(gw.tensor([-1.0, 2.0])).item() for _ in range(3)] == [2, 2, 2]


def test_errors_name_a_function_as_before() -> None:
    program = (
        "import gradwright as gw\n"
        "from gradwright.face.methods.subclasses import ask_from_now_on\n"
        "ask_from_now_on()\n"
        "try: gw.nn.functional.conv2d(gw.ones(1), gw.ones(1), strides=2)\n"
        "except TypeError as e: print(e)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "conv2d() got an unexpected keyword argument 'strides'\n"
