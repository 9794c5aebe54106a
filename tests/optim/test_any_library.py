"""Every optimiser of PyTorch's database over array-api-strict parameters: what it does over NumPy's, and there."""

import io

import array_api_strict
import numpy as np
import pytest

import gradwright as gw
from gradwright import xp
from gradwright.backends import strict
from gradwright.engine.base import wrap

NAMES = [
    "ASGD", "Adadelta", "Adafactor", "Adagrad", "Adam", "AdamW", "Adamax", "LBFGS", "Muon", "NAdam", "RAdam", "RMSprop",
    "Rprop", "SGD",
]  # fmt: skip
SHAPES = {"Muon": [(4, 3), (2, 5)]}
ARRAY = type(array_api_strict.empty(0))


def options_of(torch, name):
    """The options that PyTorch's own tests try; their tensors as ours."""
    from torch.testing._internal.common_optimizers import optim_db

    def brought(value):
        if isinstance(value, tuple):
            return tuple(map(brought, value))
        return gw.tensor(value.item()) if isinstance(value, torch.Tensor) else value

    (info,) = [info for info in optim_db if info.optim_cls.__name__ == name]
    return [{k: brought(v) for k, v in case.kwargs.items()} for case in info.optim_inputs_func("cpu")]


def over(space, values):
    return [wrap(space.asarray(value, copy=True)).requires_grad_() for value in values]


def go(name, space, options, dtype, steps=2):
    """Parameters and optimiser after some steps with gradients that depend on the parameters."""
    draw = np.random.default_rng(0).standard_normal
    params = over(space, [draw(s).astype(dtype) for s in SHAPES.get(name, [(4, 3), (3,), (), (2, 3, 2)])])
    optimizer = getattr(gw.optim, name)(params, **options)

    def closure():
        loss = sum(float(k + 1) * xp.sum(p * p - p) for k, p in enumerate(params))
        for p, g in zip(params, gw.autograd.grad(loss, params, xp.ones_like(loss)), strict=True):
            p.grad = g
        return loss

    for _ in range(1 if name == "LBFGS" else steps):
        optimizer.step(closure)
    return params, optimizer


def tensors(state):
    if isinstance(state, gw.Tensor):
        yield state
    elif isinstance(state, (dict, list, tuple)):
        for part in state.values() if isinstance(state, dict) else state:
            yield from tensors(part)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_the_same_as_over_numpy(torch, name, dtype):
    for options in options_of(torch, name):
        (here, mine), (there, other) = (go(name, space, options, dtype) for space in (np, array_api_strict))
        found = [*there, *tensors(other.state_dict()["state"])]
        expected = [*here, *tensors(mine.state_dict()["state"])]
        assert len(found) == len(expected)
        for a, b in zip(expected, found, strict=True):
            assert isinstance(b.array, ARRAY)
            assert str(b.dtype) == str(a.dtype)
            tolerance = 1e-5 if dtype == "float32" else 1e-6  # numbers are kept in float32
            np.testing.assert_allclose(np.asarray(b.array), a.array, rtol=tolerance, atol=tolerance)


def test_complex_parameters():
    values = [np.asarray([1 + 2j, -0.5j], "complex64"), np.asarray(2 - 1j, "complex64")]
    found = []
    for space in np, array_api_strict:
        params = over(space, values)
        optimizer = gw.optim.Adamax(params, weight_decay=0.1, maximize=True)
        for _ in range(3):
            for p, value in zip(params, values, strict=True):
                p.grad = wrap(space.asarray(value * value))
            optimizer.step()
        found.append([np.asarray(t.array) for t in (*params, *tensors(optimizer.state_dict()["state"]))])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_parameters_of_two_libraries_in_one_optimiser():
    """Each stays where it is; a saved state goes to the library of its parameter."""
    params = [*over(np, [np.ones(2)]), *over(array_api_strict, [np.ones(2)])]
    optimizer = gw.optim.Adam(params, lr=0.5)
    for round_trip in False, True:
        for p, space in zip(params, (np, array_api_strict), strict=True):
            p.grad = wrap(space.asarray(np.asarray([3.0, -2.0])))
        optimizer.step()
        a, b = (np.asarray(p.array) for p in params)
        np.testing.assert_allclose(a, b)
        assert isinstance(params[1].array, ARRAY)
        if not round_trip:
            saved = optimizer.state_dict()
            saved["state"][0], saved["state"][1] = saved["state"][1], saved["state"][0]
            optimizer.load_state_dict(saved)
    assert isinstance(optimizer.state[params[1]]["exp_avg"].array, ARRAY)


def test_a_parameter_that_moves_to_another_library():
    p = gw.ones(2, requires_grad=True)
    optimizer = gw.optim.SGD([p], lr=0.5, momentum=0.5)
    p.grad = gw.ones(2)
    optimizer.step()
    p.array = array_api_strict.asarray(p.array)
    p.grad = wrap(array_api_strict.asarray(p._grad.array))
    optimizer.step()
    assert isinstance(p.array, ARRAY)
    assert np.asarray(p.array).tolist() == [-0.25, -0.25]


def test_a_recorded_step():
    start = wrap(array_api_strict.asarray(np.asarray([1.0, 2.0]))).requires_grad_()
    lr = wrap(array_api_strict.asarray(0.5)).requires_grad_()
    p = xp.multiply(start, start)
    optimizer = gw.optim.Adam([p], lr=lr, differentiable=True, eps=1.0)
    p.grad = xp.multiply(start, 3.0)
    optimizer.step()
    for g in gw.autograd.grad(p, (start, lr), xp.ones_like(p)):
        assert isinstance(g.array, ARRAY)


def test_schedules():
    p = over(array_api_strict, [np.zeros(1)])[0]
    optimizer = gw.optim.SGD([p], lr=1.0)
    schedule = gw.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)
    for _ in range(3):
        p.grad = wrap(strict.namespace.asarray([1.0]))
        optimizer.step()
        schedule.step()
    assert np.asarray(p.array).tolist() == [-1.75]


MAKERS = {
    "SGD": lambda ps: gw.optim.SGD(ps, lr=0.1, momentum=0.9),
    "Adam": lambda ps: gw.optim.Adam(ps, lr=0.01, amsgrad=True),
}


def model():
    gw.manual_seed(0)
    return gw.nn.Sequential(gw.nn.Linear(3, 4), gw.nn.BatchNorm1d(4), gw.nn.Tanh(), gw.nn.Linear(4, 1)).double()


def trained(net, optimizer, x):
    optimizer.zero_grad()
    loss = net(x).square().sum()
    loss.backward()
    optimizer.step()
    return loss.item()


def places(net, optimizer):
    states = [t for state in optimizer.state.values() for t in state.values() if isinstance(t, gw.Tensor)]
    return {str(t.device) for t in [*net.state_dict().values(), *states]}


@pytest.mark.parametrize("name", MAKERS)
def test_a_model_and_its_optimiser_move_between_devices_of_jax(name):
    jax = pytest.importorskip("jax", reason="jax is not installed: nothing is moved to its devices")
    first, last = "jax:0", f"jax:{len(jax.local_devices()) - 1}"
    gw.manual_seed(5)
    x = gw.randn(6, 3, dtype=gw.float64)
    net = model()
    optimizer = MAKERS[name](net.parameters())
    want = [trained(net, optimizer, x) for _ in range(6)]
    net = model()
    optimizer = MAKERS[name](net.parameters())
    got = [trained(net.to(at), optimizer, x.to(at)) for at in ("cpu", first, last, "cpu", first)]
    assert places(net, optimizer) == {first}
    file = io.BytesIO()
    gw.save({"net": net.state_dict(), "optimizer": optimizer.state_dict()}, file)
    for saved_on, made_on in (("cpu", last), (last, "cpu")):  # loaded where they were not
        again = model().to(made_on)
        resumed = MAKERS[name](again.parameters())
        file.seek(0)
        saved = gw.load(file, map_location=saved_on)
        assert {str(t.device) for t in saved["net"].values()} == {saved_on}
        again.load_state_dict(saved["net"])
        resumed.load_state_dict(saved["optimizer"])
        assert places(again, resumed) == {made_on}
        np.testing.assert_allclose([*got, trained(again, resumed, x.to(made_on))], want, rtol=1e-13)
