"""What a step changes, and what it returns."""

from __future__ import annotations

import dataclasses
import weakref
from typing import Any

import pytest

import gradwright as gw
from tests.compilation.watch.seen import refusals

w = gw.ones(3, requires_grad=True)


@pytest.mark.parametrize("backend", ["plan", "c"])
def test_each_of_several_first_calls_may_prepare_something_else(backend, compiler):
    """As of two optimisers, each of which makes its state when it is first called."""

    def run(backend):
        gw.manual_seed(0)
        nets = [gw.nn.Linear(2, 2, dtype=gw.float64) for _ in range(3)]
        optims = [gw.optim.Adam(net.parameters()) for net in nets]

        def step(x, which):
            loss = nets[which](x).square().mean()
            loss.backward()
            if which == 0:
                optims[0].step()
            elif which == 1:
                optims[1].step()
            else:
                optims[2].step()
            for optim in optims:
                optim.zero_grad()
            return loss

        step = gw.compile(step, backend=backend) if backend else step
        losses = [step(gw.ones(4, 2, dtype=gw.float64), k % 3).item() for k in range(18)]
        return losses, step

    losses, step = run(backend)
    assert losses == pytest.approx(run(None)[0], rel=1e-12)
    assert not step.programs.reason


def test_a_dataclass_that_is_returned_may_have_a_field_that_is_not_set() -> None:
    @dataclasses.dataclass
    class Pair:
        a: Any
        b: Any = dataclasses.field(init=False)

    step = gw.compile(lambda x: Pair(x * 2))
    for _ in range(3):
        made = step(w)
        assert made.a.tolist() == [2.0, 2.0, 2.0]
        assert not hasattr(made, "b")


def test_containers_that_are_made_in_the_step_may_be_returned():
    def step(x):
        made = {"a": [x * 2], "b": ([x], {"n": 1})}
        return made, (made["a"][0],)

    assert not refusals((step, (w,)))
