"""Traced runs: what they read becomes inputs, and nothing is changed by one that fails."""

import gc

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.trace.trace import Before, Trace
from gradwright.compilation.trace.traced import Traced, Untraceable


def traced(function, *tensors):
    trace = Trace(Before(), set())
    with trace:
        for t in tensors:
            trace.adopt(t)
        result = function(*tensors)
    return trace, result


def test_tensors_hold_their_own_arrays_again():
    x, w = gw.tensor([1.0, 2.0]), gw.tensor([3.0, 4.0])
    arrays = x.array, w.array
    trace, out = traced(lambda x: x * w, x)
    assert isinstance(x.array, Traced)
    assert isinstance(w.array, Traced)
    assert isinstance(out.array, Traced)
    trace.restore()
    assert x.array is arrays[0]
    assert w.array is arrays[1]


def test_tensors_that_cannot_be_found_are_a_reason():
    gc.freeze()
    try:
        with pytest.raises(Untraceable, match="hides which tensors"):
            Before()
    finally:
        gc.unfreeze()
    Before()


def test_a_run_that_fails_leaves_all_as_it_was():
    w = gw.tensor([1.0, 2.0], requires_grad=True)
    buffer = gw.zeros(2)
    state = gw.get_rng_state()

    def step(x):
        (w * x).sum().backward()
        buffer.add_(1)
        buffer.mul_(gw.rand(2))
        raise ValueError("in the middle")

    trace = Trace(Before(), set())
    with pytest.raises(ValueError, match="in the middle"), trace:
        step(gw.tensor([1.0, 1.0]))
    trace.restore()
    assert w.grad is None
    assert buffer.tolist() == [0.0, 0.0]
    assert buffer._version == 0
    assert (gw.get_rng_state() == state).all()


def test_memory_that_several_tensors_show_is_one_input():
    w = gw.tensor([1.0, 2.0])
    alias = w.detach()

    def step():
        w.add_(1)
        return alias * 1

    trace, out = traced(step)
    assert len([u for u in trace.units if u.tensor is not None]) == 1
    np.testing.assert_array_equal(out.array.node.value, [2.0, 3.0])
    trace.restore()


def test_a_pass_into_a_graph_from_outside_is_refused():
    w = gw.tensor([1.0], requires_grad=True)
    y = w * 2
    trace = Trace(Before(), set())
    with pytest.raises(Untraceable, match="made outside"), trace:
        (y * 3).sum().backward()
    trace.restore()


def test_another_array_library_is_refused():
    strict = pytest.importorskip("array_api_strict")
    x = gw.tensor([1.0]).to("array-api-strict")
    assert isinstance(x.array, type(strict.zeros(1)))
    trace = Trace(Before(), set())
    with pytest.raises(Untraceable, match="array-api-strict"), trace:
        x * 2
    trace.restore()


def test_parameters_that_wait_for_their_size_are_none_yet():
    lazy = gw.nn.LazyLinear(2)
    trace, out = traced(lambda x: x * 2, gw.ones(2))
    trace.restore()
    assert gw.nn.parameter.is_lazy(lazy.weight)
    assert out.array.node.value.tolist() == [2, 2]
