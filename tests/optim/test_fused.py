"""Every optimiser that works element by element, against PyTorch: ten steps, over the options of its own tests."""

import copy

import numpy as np
import pytest

import gradwright as gw

FUSED = ["SGD", "ASGD", "Adam", "AdamW", "NAdam", "RAdam", "Adamax", "Adagrad", "Adadelta", "RMSprop", "Rprop"]


def options_of(torch, name):
    """The options that PyTorch's own database tries; none beyond the CPU's."""
    from torch.testing._internal.common_optimizers import optim_db

    (info,) = [info for info in optim_db if info.optim_cls.__name__ == name]
    return [case.kwargs for case in info.optim_inputs_func("cpu")]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FUSED)
def test_ten_steps(torch, twins, name, dtype):
    for options in options_of(torch, name):
        both = twins(name, options, dtype)
        for k in range(10):
            both.step(skipped=((), (1, 3), (5,), (), (0, 1, 2, 3, 4, 5, 6))[k % 5] if k else (3,))
        both.check()


@pytest.mark.parametrize("name", FUSED)
def test_complex(twins, name):
    both = twins(name, {} if name == "Rprop" else {"weight_decay": 0.1}, "complex64")
    for _ in range(5):
        both.step()
    both.check()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", FUSED)
def test_sixteen_bits(torch, name, dtype):
    start, slope = np.random.default_rng(0).standard_normal((2, 50))
    options = {} if name in ("SGD", "ASGD", "Rprop") else {"eps": 0.1}
    found = []
    for lib in gw, torch:
        p = lib.tensor(start, dtype=getattr(lib, dtype), requires_grad=True)
        optimizer = getattr(lib.optim, name)([p], **options)
        for k in range(5):
            p.grad = lib.tensor(slope * (k + 1), dtype=p.dtype)
            optimizer.step()
        assert all(v.dtype in (p.dtype, lib.float32) for v in optimizer.state[p].values())
        found.append(p.detach().to(lib.float32).numpy())
    np.testing.assert_allclose(*found, rtol=0.02, atol=0.02)


@pytest.mark.parametrize("name", FUSED)
def test_state_travels_to_pytorch_and_back(twins, name):
    """Saved in the middle by one library, loaded by the other."""
    options = {"SGD": {"momentum": 0.9, "dampening": 0.5}, "Adam": {"amsgrad": True},
               "RMSprop": {"momentum": 0.5, "centered": True}}.get(name, {})  # fmt: skip
    both = twins(name, options)
    for _ in range(3):
        both.step()
    mine, other = both.mine.state_dict(), both.other.state_dict()
    both.make(name, {"lr": 99.0})
    both.mine.load_state_dict(other)
    both.other.load_state_dict(
        {**mine, "state": {i: {k: both.torch.tensor(v.numpy()) for k, v in held.items()}
                           for i, held in mine["state"].items()}}
    )  # fmt: skip
    for _ in range(3):
        both.step()
    both.check()


@pytest.mark.parametrize("name", FUSED)
def test_a_copy_goes_on_alike(name):
    p, q = (gw.tensor([1.0, -2.0], requires_grad=True) for _ in range(2))
    optimizer = getattr(gw.optim, name)([p, q])

    def go(optimizer):
        for r in optimizer.param_groups[0]["params"]:
            r.grad = 2 * r.detach()
        optimizer.step()

    go(optimizer)
    twin = copy.deepcopy(optimizer)
    go(optimizer)
    again, _ = twin.param_groups[0]["params"]
    assert again is not p
    assert not gw.equal(again, p)
    go(twin)
    assert gw.equal(again, p)
    assert twin.state_dict()["state"].keys() == optimizer.state_dict()["state"].keys()


def recorded(lib, name, start, slope, steps):
    """The parameter after some recorded steps from ``start``, with gradients that are multiples of ``slope``."""
    p = start.clone()
    optimizer = getattr(lib.optim, name)([p], differentiable=True)
    for k in range(steps):
        p.grad = slope * (k + 1)
        optimizer.step()
    return p


@pytest.mark.parametrize("name", FUSED)
def test_a_recorded_step_is_the_same_and_has_gradients(torch, name):
    found = []
    for lib in gw, torch:
        start = lib.tensor([1.0, -2.0, 3.0], dtype=lib.float64, requires_grad=True)
        slope = lib.tensor([0.5, 0.25, -1.0], dtype=lib.float64, requires_grad=True)
        p = recorded(lib, name, start, slope, 1)
        found.append([p.detach().numpy(), *(g.numpy() for g in lib.autograd.grad(p.sum(), (start, slope)))])
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("name", FUSED)
def test_gradients_flow_through_several_recorded_steps(name):
    start, slope = (gw.tensor(v, dtype=gw.float64, requires_grad=True) for v in ([1.0, -2.0, 3.0], [0.5, 0.25, -1.0]))
    assert gw.autograd.gradcheck(lambda *inputs: recorded(gw, name, *inputs, 3), (start, slope))


@pytest.mark.parametrize("name", FUSED)
def test_recorded_and_ordinary_steps_agree(name):
    found = []
    for differentiable in False, True:
        p = gw.tensor([1.0 + 1j, -2.0], requires_grad=True).clone().detach().requires_grad_(not differentiable)
        optimizer = getattr(gw.optim, name)([p], differentiable=differentiable, maximize=True)
        for k in range(3):
            p.grad = gw.tensor([0.5, 0.25j]) * (k + 1)
            optimizer.step()
        found.append([p.detach(), *optimizer.state[p].values()])
    for plain, taped in zip(*found, strict=True):
        np.testing.assert_allclose(plain.numpy(), taped.numpy(), rtol=1e-6, atol=1e-7)


def test_the_learning_rate_has_a_gradient_in_a_recorded_step():
    lr = gw.tensor(0.5, requires_grad=True)
    p = gw.tensor([1.0, 2.0], requires_grad=True).clone()
    optimizer = gw.optim.SGD([p], lr=lr, differentiable=True)
    p.grad = gw.tensor([3.0, 4.0])
    optimizer.step()
    p.sum().backward()
    assert lr.grad.item() == -7


def test_a_tensor_of_one_element_serves_as_learning_rate(torch, twins):
    both = twins("Adam", {"lr": torch.tensor(0.01), "betas": (torch.tensor(0.8), torch.tensor(0.9))})
    both.step()
    both.mine.param_groups[0]["lr"].fill_(0.5)
    both.other.param_groups[0]["lr"].fill_(0.5)
    both.step()
    both.check()


def test_versions_and_aliases():
    p = gw.tensor([1.0, 2.0], requires_grad=True)
    q = gw.ones(100_000, requires_grad=True)
    view, version = p.detach().numpy(), p._version
    y = (p * p).sum()
    optimizer = gw.optim.SGD([p, q], lr=1.0)
    p.grad, q.grad = gw.ones(2), gw.ones(100_000)
    optimizer.step()
    assert (p._version, q._version) == (version + 1, 1)
    assert view.tolist() == [0.0, 1.0]
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation(.|\n)*optimizer\.step\(\)"):
        y.backward()


def test_nothing_is_recorded():
    p = gw.tensor([1.0], requires_grad=True)
    optimizer = gw.optim.Adam([p])
    p.grad = gw.ones(1, requires_grad=True) * 2
    optimizer.step()
    assert p.is_leaf
    assert p.requires_grad
    assert not optimizer.state[p]["exp_avg"].requires_grad


@pytest.mark.parametrize("name", FUSED)
def test_state_that_is_dropped_begins_with_the_options_of_today(torch, name):
    """Rprop's step sizes and ASGD's eta begin at lr, which has changed since the optimiser was made."""
    found = []
    for lib in gw, torch:
        params = [lib.tensor([1.0, -2.0], dtype=lib.float64, requires_grad=True) for _ in range(2)]
        optimizer = getattr(lib.optim, name)(params, lr=0.1)
        for k in range(6):
            if k == 3:
                optimizer.param_groups[0]["lr"] = 0.02
                optimizer.state.pop(params[0], None)
            for p in params:
                p.grad = lib.tensor([0.5, (-1.0) ** k], dtype=lib.float64)
            optimizer.step()
        found.append([p.detach().numpy() for p in params])
    np.testing.assert_allclose(*found, rtol=1e-7)  # PyTorch keeps some numbers in float32
