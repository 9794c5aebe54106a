"""Scripts are the Python that they are."""

import typing

import pytest

import gradwright as gw
from gradwright.around import jit


def f(x):
    return x + 1


def test_decorators_give_back_what_they_decorate():
    for decorator in (jit.script, jit.ignore, jit.unused, jit.export, jit.script_method, jit.interface):
        assert decorator(f) is f
    assert jit.ignore(drop=True)(f) is f
    net = gw.nn.Linear(1, 1)
    assert jit.script(net) is jit.trace(net, gw.ones(1)) is jit.freeze(net) is jit.optimize_for_inference(net) is net
    assert jit.annotate(typing.List[int], [1]) == [1]  # noqa: UP006 - as old programs say
    assert jit.Attribute(1, int) == 1
    with jit.strict_fusion(), jit.optimized_execution(True):
        pass
    assert jit.ScriptModule is gw.nn.Module


def test_questions():
    assert not jit.is_scripting()
    assert not jit.is_tracing()
    assert jit.isinstance([1], typing.List[int])  # noqa: UP006
    assert not jit.isinstance((1,), typing.List[int])  # noqa: UP006
    assert jit.isinstance(1, (str, int))


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
