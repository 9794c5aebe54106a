"""Learning rates of their own."""

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
def test_errors_of_pytorchs_message(torch, name, options, message):
    for lib in gw, torch:
        with pytest.raises(ValueError, match=f"^{message}$"):
            getattr(lib.optim, name)([lib.ones(1)], **options)


def test_adagrad_has_its_state_from_the_start(torch):
    for lib in gw, torch:
        p = lib.ones(2, dtype=lib.complex64, requires_grad=True)
        state = lib.optim.Adagrad([p], initial_accumulator_value=0.5).state_dict()["state"]
        assert list(state[0]) == ["step", "sum"]
        assert state[0]["sum"].tolist() == [0.5 + 0.5j] * 2


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_ten_steps(torch, twins, dtype):
    from torch.testing._internal.common_optimizers import optim_inputs_func_adafactor

    shapes = [(3, 4), (), (5,), (2, 3, 2), (9, 11), (7,)]
    for case in optim_inputs_func_adafactor("cpu"):
        both = twins("Adafactor", case.kwargs, dtype, shapes)
        for k in range(10):
            both.step(skipped=(k % 3,) if k % 2 else ())
        both.check(rtol=1e-4 if dtype == "float32" else 1e-6)


def test_nothing_in_it():
    p = gw.zeros(0, requires_grad=True)
    optimizer = gw.optim.Adafactor([p])
    p.grad = gw.zeros(0)
    optimizer.step()
    assert optimizer.state[p]["step"].item() == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [({"lr": -1}, "Learning rate should be >= 0 but is: -1"), ({"beta2_decay": 0.8}, "beta2_decay should be <= 0"),
     ({"eps": (-1, 1)}, "epsilon1 should be >= 0 but is: -1"), ({"d": 0.5}, "Clipping threshold d should be >= 1"),
     ({"eps": (None, -1)}, "epsilon2 should be >= 0"), ({"weight_decay": -1}, "weight_decay should be >= 0"),
     ({"lr": gw.ones(2)}, "Tensor lr must be 1-element")],
)  # fmt: skip
def test_errors_of_adafactor(options, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        gw.optim.Adafactor([gw.ones(1)], **options)


def test_complex_parameters_are_refused():
    p = gw.ones(1, dtype=gw.complex64, requires_grad=True)
    p.grad = gw.ones(1, dtype=gw.complex64)
    with pytest.raises(RuntimeError, match=r"^Adafactor does not support complex parameters"):
        gw.optim.Adafactor([p]).step()


def test_a_gradient_that_is_not_finite_spoils_its_own_entry_alone(T):
    p = T.nn.Parameter(T.tensor([0.1257, -0.1321, 0.6404]))
    p.grad = T.tensor([float("inf"), 0.0, float("nan")])
    T.optim.Adafactor([p]).step()
    assert p.detach()[1].item() == pytest.approx(-0.1321, abs=1e-4)
