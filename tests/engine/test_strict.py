"""`strict`: warnings about gradients are errors."""

import threading
import warnings

import pytest

import gradwright as gw
from gradwright.engine.strict import is_strict, strict, warn
from gradwright.errors import GradientWarning


def test_a_context_manager():
    with strict(True):
        assert is_strict()
        with strict(False):
            assert not is_strict()
        assert is_strict()
    assert not is_strict()


def test_entered_again():
    mode = strict(True)
    with mode:
        assert is_strict()
        with mode:
            assert is_strict()
        assert is_strict()
    assert not is_strict()


def test_a_decorator():
    @strict(True)
    def f():
        return is_strict()

    assert not is_strict()
    assert f()
    assert not is_strict()


def test_a_call():
    strict(True)
    try:
        assert is_strict()
        seen = []
        thread = threading.Thread(target=lambda: seen.append(is_strict()))
        thread.start()
        thread.join()
        assert seen == [False]
    finally:
        strict(False)
    assert not is_strict()


def test_what_is_warned_of_is_raised():
    x = gw.tensor(2.0, requires_grad=True)
    with pytest.warns(GradientWarning, match="Converting a tensor") as found:
        float(x)
    assert found[0].filename == __file__
    with strict(True), pytest.raises(RuntimeError, match="Converting a tensor"):
        float(x)


def test_once_for_each_line():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        for _ in range(3):
            warn("first")
        warn("first")
    assert len(found) == 2
