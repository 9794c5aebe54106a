"""SGD and ASGD: errors and effects of their own; the steps themselves are in test_fused."""

import pytest

import gradwright as gw


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lr": -1}, "Invalid learning rate: -1"),
        ({"momentum": -0.5}, "Invalid momentum value: -0.5"),
        ({"weight_decay": -0.5}, "Invalid weight_decay value: -0.5"),
        ({"nesterov": True}, "Nesterov momentum requires a momentum and zero dampening"),
        ({"lr": gw.ones(2)}, "Tensor lr must be 1-element"),
    ],
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        gw.optim.SGD([gw.ones(1)], **options)


@pytest.mark.parametrize("name", ["SGD", "Adam", "Adagrad"])
def test_ways_to_run_that_exclude_each_other(torch, name):
    for lib in gw, torch:
        make = getattr(lib.optim, name)
        with pytest.raises(RuntimeError, match=r"^`fused` does not support `differentiable`"):
            make([lib.ones(1)], fused=True, differentiable=True)
        with pytest.raises(RuntimeError, match=r"^`fused` and `foreach` cannot be `True` together"):
            make([lib.ones(1)], fused=True, foreach=True)


def test_no_momentum_no_state(torch):
    for lib in gw, torch:
        p = lib.ones(1, requires_grad=True)
        optimizer = lib.optim.SGD([p])
        p.grad = lib.ones(1)
        optimizer.step()
        assert optimizer.state_dict()["state"] == {}


def test_momentum_may_be_switched_on_later(torch):
    found = []
    for lib in gw, torch:
        p = lib.ones(2, requires_grad=True)
        optimizer = lib.optim.SGD([p], lr=0.1)
        for k in range(4):
            optimizer.param_groups[0]["momentum"] = 0.9 * (k > 0)
            p.grad = lib.full((2,), k + 1.0)
            optimizer.step()
        found.append(p.tolist())
    assert found[0] == pytest.approx(found[1])


def test_averages():
    """ASGD one step after t0 and later: ax is the mean of where p has been."""
    p = gw.zeros(1, requires_grad=True)
    optimizer = gw.optim.ASGD([p], lr=0.1, lambd=0.0, t0=1)
    seen = []
    for k in range(6):
        p.grad = gw.full((1,), float(k))
        optimizer.step()
        seen.append(p.item())
    assert optimizer.state[p]["ax"].item() == pytest.approx(sum(seen[2:]) / 4)
