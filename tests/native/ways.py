"""Programs with the core and by Python alone: what each gives, raises and warns of."""

from __future__ import annotations

import warnings
from contextlib import contextmanager

import numpy as np
import pytest

import gradwright as gw
from gradwright.engine import backward as engine
from gradwright.engine.node import Node
from gradwright.function.ctx import BackwardNode
from gradwright.function.function import Function

ASKING = (BackwardNode.save_for_backward, BackwardNode.saved_tensors.fget, BackwardNode.needs_input_grad.fget,
          Function.apply.__func__)  # fmt: skip


@contextmanager
def alone():
    """Passes and Functions by Python alone."""
    with pytest.MonkeyPatch.context() as without:
        without.setattr(engine, "core", None)
        for function in ASKING:
            without.delitem(vars(function), "_core")
        yield


def seen(t):
    """What can be seen of a gradient."""
    if t is None:
        return None
    a = t.array
    lies = a.strides if isinstance(a, np.ndarray) else None
    return (type(t), type(a), a.dtype.str, a.shape, lies, a.tobytes(), t._version, getattr(a, "base", None) is None,
            t.requires_grad)  # fmt: skip


def told(value):
    """The same with what can be seen of tensors, arrays and nodes in their place."""
    if isinstance(value, gw.Tensor):
        return seen(value)
    if isinstance(value, np.ndarray | np.generic):
        return type(value), value.dtype.str, value.shape, value.tobytes()
    if isinstance(value, Node):
        return type(value).__name__
    if isinstance(value, tuple | list):
        return type(value).__name__, [told(v) for v in value]
    return {k: told(v) for k, v in value.items()} if isinstance(value, dict) else value


def outcome(program):
    """What a program gives, or raises, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = told(program())
        except (RuntimeError, TypeError, ValueError, ArithmeticError, LookupError, AttributeError) as e:
            found = type(e), str(e), getattr(e, "__notes__", None)
    return found, [(w.category, str(w.message), w.lineno) for w in caught]


def both(program):
    """The outcome of a program, which is the same both ways."""
    found = outcome(program)
    with alone():
        assert outcome(program) == found
    return found[0]
