"""Compiled functions of tensors on a device of JAX: what they do, against the same functions run eagerly, and NumPy."""

import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.compiled import CompileWarning
from tests.engine.random_programs import compiled as random_programs
from tests.engine.test_random_programs_at_once import drawn

pytest.importorskip("jax", reason="programs over JAX's arrays need it: pip install jax")
import jax

F = gw.nn.functional
D = "jax:0"


def ones(*size, **options):
    return gw.ones(*size, device=D, dtype=gw.float64, **options)


def compiled(f=None, **options):
    """A function that must run as one program."""
    return gw.compile(f, fullgraph=True, **options)


# -- steps, against NumPy --


def network():  # no bias before the norm: its gradient is rounding alone, of which Adagrad makes whole steps
    first = gw.nn.Linear(6, 8, bias=False)
    layers = first, gw.nn.BatchNorm1d(8), gw.nn.Tanh(), gw.nn.Dropout(0.3), gw.nn.Linear(8, 3)
    return gw.nn.Sequential(*layers).double()


def convnet():
    first = gw.nn.Unflatten(1, (1, 2, 3)), gw.nn.Conv2d(1, 3, 2, bias=False), gw.nn.BatchNorm2d(3), gw.nn.ReLU()
    return gw.nn.Sequential(*first, gw.nn.MaxPool2d(1), gw.nn.Flatten(), gw.nn.Linear(6, 3)).double()


def trained(make, optimizer, device, wrap):
    gw.manual_seed(0)
    net = make().to(device)
    chosen = optimizer(net.parameters())

    def step(x, y):
        chosen.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        gw.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        chosen.step()
        return loss

    step, losses = wrap(step), []
    for k in range(7):
        draw = np.random.default_rng(k)
        x, y = gw.tensor(draw.standard_normal((5, 6))), gw.tensor(draw.integers(0, 3, 5))
        losses.append(step(x.to(device), y.to(device)).item())
    return step, losses, [t.cpu().numpy() for t in net.state_dict().values()]


OPTIMIZERS = {
    "SGD": lambda p: gw.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.01),
    "Adam": lambda p: gw.optim.Adam(p, lr=0.01, amsgrad=True),
    "AdamW": lambda p: gw.optim.AdamW(p, lr=0.01),
    "RMSprop": lambda p: gw.optim.RMSprop(p, lr=0.01, centered=True),
    "Adagrad": lambda p: gw.optim.Adagrad(p, lr=0.1),
}


@pytest.mark.parametrize(("name", "make"), [*((name, network) for name in OPTIMIZERS), ("SGD", convnet)])
def test_training_gives_the_numbers_of_numpy(name, make):
    _, losses, state = trained(make, OPTIMIZERS[name], "cpu", lambda step: step)
    step, found, held = trained(make, OPTIMIZERS[name], D, compiled)
    assert step.programs.traced == [""]
    np.testing.assert_allclose(found, losses, rtol=1e-9)
    for a, b in zip(held, state, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-10)


def test_a_learning_rate_is_read_anew():
    w = ones(2, requires_grad=True)
    optimizer = gw.optim.SGD([w], lr=0.5)

    @compiled
    def step():
        optimizer.zero_grad()
        w.sum().backward()
        optimizer.step()

    for _ in range(5):
        step()
    optimizer.param_groups[0]["lr"] = 0.25
    step()
    assert w.tolist() == [1 - 5 * 0.5 - 0.25] * 2
    assert step.programs.traced == [""]


def test_a_batch_from_the_cpu_and_a_loss_that_goes_back():
    w = ones(3, requires_grad=True)

    @compiled
    def step(x):
        loss = (w * x.to(D)).sum()
        loss.backward()
        with gw.no_grad():
            w.sub_(0.1 * w.grad)
        w.grad = None
        return loss.cpu()

    found = [step(gw.ones(3, dtype=gw.float64)) for _ in range(6)]
    assert {str(x.device) for x in found} == {"cpu"}
    np.testing.assert_allclose([x.item() for x in found], [3 - 0.3 * k for k in range(6)])


def test_a_batch_on_the_cpu_may_be_written_afterwards():
    @compiled
    def f(x):
        return x.to(D) * 2

    x = gw.ones(1 << 20, dtype=gw.float64)
    for _ in range(4):
        y = f(x)
    x.fill_(7)
    assert y.eq(2).all()


def test_labels_that_are_out_of_range_are_an_error():
    f = compiled(lambda x, y: F.cross_entropy(x, y))
    x = ones(2, 3)
    for _ in range(4):
        f(x, gw.tensor([0, 2], device=D))
    with pytest.raises(IndexError, match="out of bounds"):
        f(x, gw.tensor([0, 3], device=D))


def test_a_branch_on_a_value():
    w = ones(())

    @gw.compile
    def step(x):
        w.add_(x.sum() if x.sum() > 0 else 10.0)
        return w.clone()

    found = [step(x * ones(2)).item() for x in (1, 1, 1, 1, -1, 1, -1, 1, -1)]
    assert found == [3, 5, 7, 9, 19, 21, 31, 33, 43]


def test_a_state_dict_that_is_held_and_rows_of_one_tensor_make_one_program():
    results = []
    for wrap in (lambda f: f, compiled):
        gw.manual_seed(0)
        net = gw.nn.Sequential(gw.nn.Linear(3, 4), gw.nn.BatchNorm1d(4)).double().to(D)
        data, held = gw.randn(14, 3, dtype=gw.float64).to(D), None

        def step(x, net=net):
            loss = net(x).square().mean() + net[0].bias.sum()
            loss.backward()
            with gw.no_grad():
                for p in net.parameters():
                    p -= 0.1 * p.grad
                    p.grad = None
            return loss

        step, losses = wrap(step), []
        for k in range(0, 14, 2):
            losses.append(step(data[k : k + 2]).item())  # each batch a view of other memory
            held = net.state_dict()  # of which each tensor is an alias
        results.append([losses, *(t.tolist() for t in held.values())])
    assert len(step.programs.traced) == 1
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12)


# -- passes --


def test_a_history_of_every_order():
    f = compiled(lambda x: (x**3).sum())
    for _ in range(4):
        x = gw.tensor([1.0, 2.0], device=D, requires_grad=True)
        (first,) = gw.autograd.grad(f(x), x, create_graph=True)
        (second,) = gw.autograd.grad(first.sum(), x)
    assert (first.tolist(), second.tolist()) == ([3.0, 12.0], [6.0, 12.0])


def test_second_derivatives_batches_and_tangents_inside():
    def second(x):
        (g,) = gw.autograd.grad((x**3).sum(), x, create_graph=True)
        return gw.autograd.grad(g.sum(), x)[0]

    def tangent(x):
        return gw.func.jvp(gw.sin, (x,), (gw.ones_like(x),))[1]

    for f in (second, gw.vmap(lambda row: (row * row).sum()), tangent):
        made = compiled(lambda x, f=f: f(x))
        for _ in range(4):
            x = gw.tensor([[1.0, 2.0]], device=D, requires_grad=True)
            np.testing.assert_allclose(made(x).tolist(), f(gw.tensor([[1.0, 2.0]], requires_grad=True)).tolist())


def test_gradients_add_up_and_hooks_run():
    w = ones(2, requires_grad=True)
    w.register_hook(lambda g: 2 * g)

    @compiled
    def step(x):
        (w * x).sum().backward()

    for k in range(6):
        step(ones(2))
        assert (w.grad.tolist(), w.grad._version) == ([2.0 * (k + 1)] * 2, k)


class Cube(gw.autograd.Function):
    """By NumPy."""

    calls = 0

    @staticmethod
    def forward(ctx, x):
        Cube.calls += 1
        ctx.save_for_backward(x)
        return gw.from_numpy(x.detach().cpu().numpy() ** 3).to(x.device)

    @staticmethod
    def backward(ctx, g):
        return 3 * g * ctx.saved_tensors[0] ** 2


def test_a_function_in_numpy_runs_once_a_call():
    w, expected = ones(3, requires_grad=True), 1.0
    before = Cube.calls

    @compiled
    def step(x):
        loss = (Cube.apply(w * x) * 2).sum()
        loss.backward()
        with gw.no_grad():
            w.sub_(0.01 * w.grad)
        w.grad = None
        return loss

    for k in range(6):
        assert step(ones(3)).item() == pytest.approx(6 * expected**3)
        expected -= 0.06 * expected**2
        assert Cube.calls - before == k + 1


# -- how it runs --


@pytest.mark.parametrize("draw", [
    lambda x: gw.normal(x, x), gw.poisson, gw.bernoulli, lambda x: gw.distributions.Normal(x, x).log_prob(x + 1),
], ids=["normal", "poisson", "bernoulli", "a distribution"])  # fmt: skip
def test_draws_whose_parameters_are_looked_at(draw):
    f, found = compiled(lambda x: draw(x) * 2), []
    for where in (D, "cpu"):
        x = gw.full((4,), 0.5, device=where)
        for k in range(4):
            gw.manual_seed(k)
            found.append((f(x) if where == D else draw(x) * 2).cpu().numpy())
    np.testing.assert_allclose(found[:4], found[4:], rtol=1e-6)
    assert f.programs.traced == [""]
    with pytest.raises((RuntimeError, ValueError), match=r"std >= 0|invalid Poisson rate|p_in >= 0|invalid values"):
        f(gw.full((4,), -0.5, device=D))


def test_options():
    x = gw.randn(100).to(D)

    def f(x):
        return (x * 2 + 1).sin().sum()

    exact, always = compiled(f, exact=True), compiled(f, check="always")
    for _ in range(5):
        assert exact(x).item() == f(x).item()
        assert always(x).item() == pytest.approx(f(x).item())


@pytest.mark.parametrize("backend", ["c", "plan"])
def test_ways_of_numpys_arrays_say_that_xla_runs(backend):
    f = gw.compile(lambda x: x * 2, backend=backend)
    f(ones(2))
    with pytest.warns(CompileWarning, match="run by XLA"):
        f(ones(2))
    for _ in range(3):
        y = f(ones(2))
    assert (y.tolist(), f.programs.reason) == ([2.0, 2.0], "")


def test_one_program_for_all_sizes():
    f = compiled(lambda x: (x * 2 + gw.arange(x.shape[0], device=x.device)).sum(), dynamic=True)
    sizes = 3, 4, 5, 6, 7, 6, 9
    assert [f(ones(n)).item() for n in sizes] == [2 * n + n * (n - 1) / 2 for n in sizes]
    assert len(f.programs.traced) == 3


def test_its_text():
    f = compiled(lambda x, y: x @ y)
    for _ in range(3):
        f(ones(3, 3), ones(3, 3))
    assert "stablehlo.dot_general" in f.source()
    assert "HloModule" in f.source(compiled=True)
    assert "matmul" in str(f.explain())
    assert "float64 [3, 3]" in f.guards()[0]


def test_two_devices_are_an_error_with_a_line():
    f = gw.compile(lambda x, y: x + y)
    for _ in range(3):
        with pytest.raises(RuntimeError, match="expected all tensors to be of one array library"):
            f(ones(2), gw.ones(2))


def test_several_devices_run_eagerly():
    if len(jax.devices()) < 2:
        pytest.skip("JAX shows one device here")
    f = gw.compile(lambda x: (x * 2).to("jax:1") + 1)
    with pytest.warns(UserWarning, match="several devices"):
        found = [f(ones(2)).tolist() for _ in range(4)]
    assert found == [[3.0, 3.0]] * 4


def test_32_bits_are_an_error_as_in_eager_runs():
    f = compiled(lambda x: x * 2)
    for _ in range(4):
        f(ones(2))
    with jax.enable_x64(False), pytest.raises(RuntimeError, match="switched to 32 bits"):
        f(ones(2))
    assert f(ones(2)).tolist() == [2.0, 2.0]


def test_random_programs_do_compiled_what_they_do_eagerly():
    programs, reasons = drawn(8), {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k, program in enumerate(programs):
            with gw.device(D):
                found = random_programs.difference(program, reasons)
            assert found is None, f"program {k}: {found}"
    assert reasons[""] > 1, reasons
