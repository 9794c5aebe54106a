"""Scripts are the Python that they are."""
# ruff: noqa: UP006, UP007, UP035, UP045 - types as old programs say them

import sys
import typing
import unittest.mock
from typing import Dict, List, Optional, Tuple, Union

import pytest

import gradwright as gw
from gradwright.pytorch import jit


def f(x):
    return x + 1


def test_decorators_give_back_what_they_decorate():
    for decorator in (jit.script, jit.ignore, jit.unused, jit.export, jit.script_method, jit.interface):
        assert decorator(f) is f
    assert jit.ignore(drop=True)(f) is f
    net = gw.nn.Linear(1, 1)
    assert jit.script(net) is jit.trace(net, gw.ones(1)) is jit.freeze(net) is jit.optimize_for_inference(net) is net
    assert jit.annotate(typing.List[int], [1]) == [1]
    assert jit.Attribute(1, int) == 1
    with jit.strict_fusion(), jit.optimized_execution(True):
        pass
    assert issubclass(jit.ScriptModule, gw.nn.Module)
    assert isinstance(net, jit.ScriptModule)
    assert not isinstance(gw.nn.Linear(1, 1), jit.ScriptModule)
    assert not isinstance(unittest.mock.Mock(), jit.ScriptModule)
    assert not isinstance(unittest.mock.Mock(gw.nn.Linear(1, 1)), jit.ScriptModule)


def test_questions():
    assert not jit.is_scripting()
    assert not jit.is_tracing()
    assert jit.isinstance([1], typing.List[int])
    assert not jit.isinstance((1,), typing.List[int])
    assert jit.isinstance(1, (str, int))


class OddError(Exception):
    """A class of errors that nobody has heard of."""


TYPES = [
    (["a"], List[int]), ([1], List[int]), ([1], list[int]), (["a"], list[int]), (1, List[int]),
    (1, Optional[int]), (None, Optional[int]), ("a", Optional[int]), (1, Union[int, str]), (1.0, Union[int, str]),
    (1, int | None), ("a", int | None), ({"a": 1}, Dict[str, int]), ({"a": "b"}, Dict[str, int]),
    ({1: 1}, Dict[str, int]), ((1, "a"), Tuple[int, str]), ((1,), Tuple[int, str]), (("a", 1), Tuple[int, str]),
    ([1, None], List[Optional[int]]), ([1, "a"], List[Optional[int]]), ([[1], ["a"]], List[List[int]]),
    ([1], (List[int], str)), (1.0, float), (1.0, int),
]  # fmt: skip


@pytest.mark.parametrize(("value", "kind"), TYPES, ids=str)
def test_what_containers_and_unions_hold_is_asked_as_pytorch_does(torch, value, kind):
    assert jit.isinstance(value, kind) is torch.jit.isinstance(value, kind)


@pytest.mark.parametrize("bare", [list, dict, tuple, List, Dict, Tuple])
def test_of_a_container_it_is_said_what_it_holds(torch, bare):
    for module in (jit, torch.jit):
        with pytest.raises(RuntimeError, match=r"^Attempted to use .* without (a )?contained type"):
            module.isinstance([1], bare)


def test_a_future_keeps_what_its_function_raises():
    def fail(*_):
        raise OddError("so")

    for future in (jit.fork(fail), jit.fork(f, 1).then(fail), jit.fork(fail).then(lambda done: done.value())):
        with pytest.raises(OddError, match="so"):
            future.wait()
    waiting = jit.Future()
    then = waiting.then(lambda _: sys.exit(3))
    with pytest.raises(SystemExit):
        waiting.set_result(1)
    with pytest.raises(SystemExit):
        then.wait()


def test_scripts_of_pytorch_are_not_loaded():
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.jit\.load yet: a scripted module is"):
        jit.load("module.pt")
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.jit\.save yet: save the module's"):
        jit.save(gw.nn.Linear(1, 1), "module.pt")


def test_fork_runs_at_once_and_wait_raises_what_was_raised():
    assert jit.wait(jit.fork(f, 1)) == 2
    assert jit.fork(f, 1).then(lambda done: done.value() * 10).wait() == 20
    with pytest.raises(ZeroDivisionError):
        jit.wait(jit.fork(lambda: 1 / 0))


def test_the_names_are_pytorchs(torch):
    assert [name for name in jit.__all__ if not hasattr(torch.jit, name)] == []
