"""Schedules of schedules: errors, and saving; what they do is in test_base."""

import pytest

import gradwright as gw
from gradwright.optim.lr_scheduler import ChainedScheduler, ExponentialLR, ReduceLROnPlateau, SequentialLR


@pytest.fixture
def optimizer():
    return gw.optim.SGD([gw.ones(1)], lr=1.0)


@pytest.mark.parametrize("compose", [lambda parts, o: ChainedScheduler(parts, o),
                                     lambda parts, o: SequentialLR(o, parts, [2])])  # fmt: skip
def test_errors_of_both(optimizer, compose):
    stranger = ExponentialLR(gw.optim.SGD([gw.ones(1)]), 0.9)
    mine = ExponentialLR(optimizer, 0.9)
    with pytest.raises(ValueError, match="expects at least one scheduler"):
        compose([], optimizer)
    with pytest.raises(TypeError, match="at index 1 should have `optimizer` as its attribute"):
        compose([mine, 3], optimizer)
    with pytest.raises(ValueError, match="does not support `ReduceLROnPlateau` scheduler as it requires additional"):
        compose([mine, ReduceLROnPlateau(optimizer)], optimizer)
    with pytest.raises(ValueError, match="expects all schedulers to belong to the same optimizer"):
        compose([mine, stranger], optimizer)


def test_one_milestone_less_than_schedules(optimizer):
    with pytest.raises(ValueError, match=r"^Sequential Schedulers expects number of schedulers provided to be one"):
        SequentialLR(optimizer, [ExponentialLR(optimizer, 0.9)], [1])


def test_state_goes_to_the_parts(optimizer):
    schedule = SequentialLR(optimizer, [ExponentialLR(optimizer, 0.5), ExponentialLR(optimizer, 0.25)], [2])
    for _ in range(3):
        optimizer.step()
        schedule.step()
    state = schedule.state_dict()
    assert [part["last_epoch"] for part in state["_schedulers"]] == [1, 1]
    assert schedule.get_last_lr() == [0.25]
    schedule.step()
    schedule.load_state_dict(state)
    assert schedule.last_epoch == 3
    assert schedule._schedulers[1].last_epoch == 1
