"""Graphs are run node by node."""

import pytest

import gradwright as gw
from gradwright.pytorch import fx as ours


def test_an_interpreter_may_do_something_else():
    class Louder(ours.Interpreter):
        def call_function(self, target, args, kwargs):
            return super().call_function(target, args, kwargs) * 10

    traced = ours.symbolic_trace(lambda x: gw.sin(x))
    assert Louder(traced).run(gw.tensor(1.0)).item() == pytest.approx(8.41471, rel=1e-5)


def test_values_that_are_there_are_not_computed():
    traced = ours.symbolic_trace(lambda x, y: x + y)
    x, y, *_ = traced.graph.nodes
    run = ours.Interpreter(traced, garbage_collect_values=False)
    assert run.run(2, initial_env={x: 40}) == 42
    assert run.env[y] == 2
    with pytest.raises(RuntimeError, match="referenced nonexistent value"):
        run.map_nodes_to_values((ours.Graph().placeholder("z"),), y)


def test_what_is_left_is_given_to_a_star():
    def f(x, *xs, **k):
        return x - xs[0] + k.get("a", xs[1])

    assert ours.Interpreter(ours.symbolic_trace(f)).run(5, 2, 40) == 43
