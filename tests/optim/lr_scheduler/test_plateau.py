"""ReduceLROnPlateau, beside PyTorch's."""

import itertools

import numpy as np
import pytest

import gradwright as gw
from gradwright.optim.lr_scheduler import ReduceLROnPlateau

OPTIONS = [
    dict(zip(("mode", "threshold_mode", "cooldown", "min_lr"), values, strict=True))
    for values in itertools.product(["min", "max"], ["rel", "abs"], [0, 3], [0, [0.01, 0.2]])
]


@pytest.mark.parametrize("options", OPTIONS)
def test_fifty_figures(pair, options):
    figures = np.random.default_rng(0).uniform(-1, 1, 50)
    both = pair(lambda s, o: s.ReduceLROnPlateau(o, factor=0.6, patience=2, threshold=0.05, **options))
    both.run(50, lambda k: figures[k])
    mine, other = (schedule.state_dict() for schedule in both.schedules)
    assert mine == other


def test_a_tensor_and_the_state(pair):
    both = pair(lambda s, o: s.ReduceLROnPlateau(o, patience=1))
    both.run(3, lambda k: 1.0)
    state = both.schedules[1].state_dict()
    both.schedules[0].load_state_dict(state)
    both.run(5, lambda k: 1.0)
    both.schedules[0].step(gw.tensor(0.5))
    assert both.schedules[0].best == 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [({"factor": 1.0}, "Factor should be < 1.0."), ({"mode": "up"}, "mode up is unknown!"),
     ({"threshold_mode": "up"}, "threshold mode up is unknown!"), ({"min_lr": [1, 2]}, "expected 1 min_lrs, got 2")],
)  # fmt: skip
def test_errors(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        ReduceLROnPlateau(gw.optim.SGD([gw.ones(1)]), **options)


@pytest.mark.parametrize("least", [0.0, [0.0]])
def test_groups_may_be_added_unless_bounds_were_listed(least):
    optimizer = gw.optim.SGD([gw.ones(1)])
    schedule = ReduceLROnPlateau(optimizer, patience=0, min_lr=least)
    optimizer.add_param_group({"params": [gw.ones(2)]})
    schedule.step(1.0)
    if least:
        with pytest.raises(RuntimeError, match=r"^The number of param groups in the `optimizer`"):
            schedule.step(1.0)
    else:
        schedule.step(1.0)
        assert schedule.get_last_lr() == pytest.approx([1e-4, 1e-4])
