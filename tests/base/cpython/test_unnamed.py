"""Whether this interpreter drops the warnings of functions without a module's name, and what is done where not."""

import warnings

import numpy as np
import pytest

from gradwright.backends import quiet
from gradwright.base.cpython import unnamed


def divide(a, b, *, times=1):
    return a / b * times


def test_the_interpreter_drops_them():
    assert unnamed.drops_warnings()


def test_by_itself_it_would_warn():
    with np.errstate(all="warn"), pytest.warns(RuntimeWarning, match="divide by zero"):
        divide(np.ones(1), np.zeros(1))


@pytest.mark.parametrize("drops", [True, False])
def test_no_warning_either_way(monkeypatch, drops):
    monkeypatch.setattr(quiet, "_DROPS", drops)
    silent = quiet.muted(divide)
    assert (silent.__name__, silent.__module__, silent.__doc__) == ("divide", __name__, divide.__doc__)
    with np.errstate(all="warn"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert silent(np.ones(1), np.zeros(1), times=-1)[0] == -np.inf
