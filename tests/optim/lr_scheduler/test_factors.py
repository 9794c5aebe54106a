"""Schedules by formulas."""

import math

import pytest

import gradwright as gw


class Halving:
    def __init__(self):
        self.base = 0.5

    def __call__(self, epoch):
        return self.base**epoch


@pytest.fixture
def optimizer(lib):
    return lib.optim.SGD([lib.ones(1)], lr=1.0)


@pytest.fixture(params=["gradwright", "torch"])
def lib(request):
    return gw if request.param == "gradwright" else request.getfixturevalue("torch")


@pytest.mark.parametrize(
    ("name", "arguments", "error", "message"),
    [
        ("ConstantLR", (1.5,), ValueError, "Constant multiplicative factor expected to be between 0 and 1."),
        ("LinearLR", (0.0,), ValueError, "Starting multiplicative factor expected to be greater than 0 and less"),
        ("LinearLR", (0.5, 1.5), ValueError, "Ending multiplicative factor expected to be between 0 and 1."),
        ("LambdaLR", ([abs, abs],), ValueError, "Expected 1 lr_lambdas, but got 2"),
        ("MultiplicativeLR", (3,), TypeError, "lr_lambda should be a function, but got int"),
    ],
)
def test_errors_of_factors(lib, optimizer, name, arguments, error, message):
    with pytest.raises(error, match=f"^{message}"):
        getattr(lib.optim.lr_scheduler, name)(optimizer, *arguments)


def test_callable_objects_are_saved_by_their_attributes(lib, optimizer):
    schedule = lib.optim.lr_scheduler.LambdaLR(optimizer, Halving())
    state = schedule.state_dict()
    assert state["lr_lambdas"] == [{"base": 0.5}]
    state["lr_lambdas"][0]["base"] = 0.25
    schedule.load_state_dict(state)
    optimizer.step()
    schedule.step()
    assert schedule.get_last_lr() == [0.25]
    assert lib.optim.lr_scheduler.LambdaLR(optimizer, lambda k: 1.0).state_dict()["lr_lambdas"] == [None]


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
def test_errors_of_cosines(arguments, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        gw.optim.lr_scheduler.CosineAnnealingWarmRestarts(gw.optim.SGD([gw.ones(1)]), *arguments)


def test_no_negative_epochs():
    schedule = gw.optim.lr_scheduler.CosineAnnealingWarmRestarts(gw.optim.SGD([gw.ones(1)]), 3)
    with pytest.raises(ValueError, match=r"^Expected non-negative epoch, but got -1"):
        schedule.step(-1)
