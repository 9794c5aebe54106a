"""Adagrad and its like: errors, and Adagrad's state; the steps themselves are in test_fused."""

import pytest

import gradwright as gw


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("Adagrad", {"lr": -1}, "Invalid learning rate: -1"),
        ("Adagrad", {"lr_decay": -0.5}, "Invalid lr_decay value: -0.5"),
        ("Adagrad", {"initial_accumulator_value": -1}, "Invalid initial_accumulator_value value: -1"),
        ("Adadelta", {"rho": 1.1}, "Invalid rho value: 1.1"),
        ("Adadelta", {"lr": -1, "rho": 1.1}, "Invalid learning rate: -1"),
        ("Adadelta", {"eps": -1}, "Invalid epsilon value: -1"),
        ("RMSprop", {"alpha": -1}, "Invalid alpha value: -1"),
        ("RMSprop", {"momentum": -1.0}, "Invalid momentum value: -1.0"),
        ("Rprop", {"etas": (1.0, 0.5)}, "Invalid eta values: 1.0, 0.5"),
        ("Rprop", {"lr": -1}, "Invalid learning rate: -1"),
    ],
)
def test_errors(torch, name, options, message):
    for lib in gw, torch:
        with pytest.raises(ValueError, match=f"^{message}$"):
            getattr(lib.optim, name)([lib.ones(1)], **options)


def test_adagrad_has_its_state_from_the_start(torch):
    for lib in gw, torch:
        p = lib.ones(2, dtype=lib.complex64, requires_grad=True)
        state = lib.optim.Adagrad([p], initial_accumulator_value=0.5).state_dict()["state"]
        assert list(state[0]) == ["step", "sum"]
        assert state[0]["sum"].tolist() == [0.5 + 0.5j] * 2
