"""Cyclic schedules: errors, and a scale function that is an object; the cycles are in test_base."""

import pytest

import gradwright as gw
from gradwright.optim.lr_scheduler import CyclicLR, OneCycleLR


class Scale:
    height = 1.0

    def __call__(self, cycle):
        return self.height


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda o: CyclicLR(o, [0.1, 0.2], 1.0), "base_lr must have the same length as optimizer.param_groups."),
        (lambda o: CyclicLR(o, 0.1, 1.0, mode="square"), "mode is invalid and scale_fn is None"),
        (lambda o: OneCycleLR(o, 0.1), r"You must define either total_steps OR \(epochs AND steps_per_epoch\)"),
        (lambda o: OneCycleLR(o, 0.1, 0), "Expected positive integer total_steps, but got 0"),
        (lambda o: OneCycleLR(o, 0.1, epochs=-1, steps_per_epoch=2), "Expected positive integer epochs, but got -1"),
        (lambda o: OneCycleLR(o, 0.1, 9, pct_start=2.0), "Expected float between 0 and 1 pct_start, but got 2.0"),
        (lambda o: OneCycleLR(o, 0.1, 9, anneal_strategy="up"), "anneal_strategy must be one of 'cos' or 'linear'"),
    ],
)
def test_errors(make, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        make(gw.optim.SGD([gw.ones(1)]))


def test_momentum_must_be_there_to_be_cycled():
    with pytest.raises(ValueError, match=r"^optimizer must support momentum or beta1 with `cycle_momentum`"):
        CyclicLR(gw.optim.Adagrad([gw.ones(1)]), 0.1, 1.0)


def test_no_steps_after_the_last():
    optimizer = gw.optim.SGD([gw.ones(1)])
    schedule = OneCycleLR(optimizer, 0.1, 2)
    optimizer.step()
    schedule.step()
    schedule.step()
    with pytest.raises(ValueError, match=r"^Tried to step 3 times. The specified number of total steps is 2"):
        schedule.step()


def test_a_scale_function_that_is_an_object_is_saved():
    schedule = CyclicLR(gw.optim.SGD([gw.ones(1)]), 0.0, 1.0, 1, scale_fn=Scale(), cycle_momentum=False)
    state = schedule.state_dict()
    assert state["_scale_fn_custom"] == {}
    schedule.load_state_dict({**state, "_scale_fn_custom": {"height": 0.5}, "last_epoch": 0})
    schedule.optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [0.5]
