"""Schedules that multiply: their errors, and the state of functions; the schedules themselves are in test_base."""

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
def test_errors(lib, optimizer, name, arguments, error, message):
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
