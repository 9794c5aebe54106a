"""Cosine schedules: fractions of epochs, and errors; whole epochs are in test_base."""

import math

import pytest

import gradwright as gw


@pytest.mark.parametrize("factor", [1, 2])
def test_restarts_at_fractions_of_epochs(pair, factor):
    both = pair(lambda s, o: s.CosineAnnealingWarmRestarts(o, 4, factor))
    both.run(60, lambda k: k / 4)
    both.run(5)


def test_half_a_wave():
    optimizer = gw.optim.SGD([gw.ones(1)], lr=1.0)
    schedule = gw.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    for k in range(1, 31):
        optimizer.step()
        schedule.step()
        assert schedule.get_last_lr()[0] == pytest.approx((1 + math.cos(math.pi * k / 10)) / 2, abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((0,), "Expected positive integer T_0, but got 0"), ((3, 0), "Expected integer T_mult >= 1, but got 0"),
     ((3, 1, "a"), "Expected float or int eta_min, but got a of type <class 'str'>")],
)  # fmt: skip
def test_errors(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        gw.optim.lr_scheduler.CosineAnnealingWarmRestarts(gw.optim.SGD([gw.ones(1)]), *arguments)


def test_no_negative_epochs():
    schedule = gw.optim.lr_scheduler.CosineAnnealingWarmRestarts(gw.optim.SGD([gw.ones(1)]), 3)
    with pytest.raises(ValueError, match=r"^Expected non-negative epoch, but got -1"):
        schedule.step(-1)
