"""One program for all sizes of a first dimension."""

import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.compiled import CompileWarning


def trained(wrap, sizes):
    gw.manual_seed(0)
    layers = gw.nn.Linear(4, 8), gw.nn.BatchNorm1d(8), gw.nn.Tanh(), gw.nn.Dropout(0.2), gw.nn.Linear(8, 3)
    net = gw.nn.Sequential(*layers).double()
    optimizer = gw.optim.Adam(net.parameters(), lr=0.01)

    def step(x, y):
        optimizer.zero_grad()
        loss = gw.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    step = wrap(step)
    losses = [step(gw.randn(n, 4, dtype=gw.float64), gw.arange(n) % 3).item() for n in sizes]
    return step, losses


@pytest.mark.parametrize("dynamic", [None, True])
def test_a_training_step_with_many_sizes(dynamic):
    sizes = [5, 6, 7, 8, 9, 10, 11, 12, 13, 20, 21, 22, 20, 21, 22, 20, 64]
    _, expected = trained(lambda step: step, sizes)
    step, found = trained(lambda step: gw.compile(step, dynamic=dynamic, backend="plan"), sizes)
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    programs = step.programs
    assert not programs.reason
    assert not programs.full
    assert len(programs.traced) == (8 if dynamic is None else 3)
    assert {size for _, size in programs.sized} >= {21, 22, 64}


def test_results_with_a_history():
    w = gw.tensor([1.0, 2.0], dtype=gw.float64, requires_grad=True)
    f = gw.compile(lambda x: (x * w).mean(0).sum(), dynamic=True, backend="plan")
    for n in range(1, 12):
        w.grad = None
        x = gw.arange(2 * n, dtype=gw.float64).reshape(n, 2)
        y = f(x)
        y.backward()
        np.testing.assert_allclose(w.grad.numpy(), x.numpy().mean(0))
        np.testing.assert_allclose(y.item(), (x.numpy() * [1, 2]).mean(0).sum())


def test_second_derivatives_at_sizes_that_were_not_traced():
    w = gw.tensor([1.0, 2.0], dtype=gw.float64, requires_grad=True)
    f = gw.compile(lambda x: (x * w**3).sum(), dynamic=True, backend="plan")
    for n in [1, 2, 3, 4, 5, 4, 5]:
        x = gw.arange(2 * n, dtype=gw.float64).reshape(n, 2)
        (g,) = gw.autograd.grad(f(x), w, create_graph=True)
        (second,) = gw.autograd.grad(g.sum(), w)
        np.testing.assert_allclose(second.numpy(), 6 * w.detach().numpy() * x.numpy().sum(0))
    assert f.programs.sized


def test_what_does_not_follow_from_the_size_is_told():
    weights = {n: gw.randn(n) for n in range(1, 20)}
    f = gw.compile(lambda x: x * weights[len(x)], backend="plan")
    with pytest.warns(UserWarning, match="no one program for all sizes"):
        assert all((f(gw.ones(n)) == weights[n]).all() for n in range(1, 12))
    assert (f(gw.ones(12)) == weights[12]).all()


def test_no_sizes_in_common():
    f = gw.compile(lambda x: x * 2, dynamic=False, backend="plan")
    with pytest.warns(UserWarning, match="runs eagerly where none"):
        assert all(f(gw.ones(n)).tolist() == [2.0] * n for n in range(1, 12))
    assert not f.programs.sized


def test_tensors_of_no_dimension_among_the_sizes():
    f = gw.compile(lambda x: x + 1, backend="plan")
    shapes = [(2,), (2,), (3,), (4,), (5,), (6,), (7,), (), (8,), (9,), (), (10,)]
    with pytest.warns(UserWarning, match="has no dimension in one of them"):
        assert all(gw.equal(f(gw.ones(shape)), gw.full(shape, 2.0)) for shape in shapes)


class Rates:
    small = large = 0.5


@pytest.mark.parametrize("dynamic", [None, True])
@pytest.mark.parametrize("f", [
    lambda x: x * Rates.small if len(x) < 3 else x * Rates.large,
    lambda x: x * 1.0 + (Rates.small if len(x) % 2 else Rates.large),
    lambda x: x * Rates.large * (1.0 if len(x) < 24 else Rates.small + 0.5),
])  # fmt: skip
def test_each_size_is_guarded_by_what_is_read_at_that_size(monkeypatch, f, dynamic):
    """Of one program for all sizes, too: where this one branches on the size, others have not read the same."""
    step = gw.compile(f, backend="plan", dynamic=dynamic)
    sizes = [3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CompileWarning)
        for n in sizes:
            assert [step(gw.ones(n)).tolist() for _ in range(2)] == [f(gw.ones(n)).tolist()] * 2
        for n in [1, 2, 4, 6, 25, 26, *sizes]:
            for small, large in [(0.5, 0.5), (1.5, 0.5), (0.25, 0.5), (0.5, 0.75), (0.5, 0.5)]:
                monkeypatch.setattr(Rates, "small", small)
                monkeypatch.setattr(Rates, "large", large)
                assert [step(gw.ones(n)).tolist() for _ in range(2)] == [f(gw.ones(n)).tolist()] * 2
    assert not step.programs.reason


@pytest.mark.parametrize("check", ["first", "never"])
def test_a_number_among_the_arguments_is_not_taken_for_one_of_the_size(check):
    step = gw.compile(lambda x, k: x * k, backend="plan", dynamic=True, check=check)
    for n in [2, 3, 4, 5]:
        assert [step(gw.ones(n), 1 / n).tolist() for _ in range(2)] == [[np.float32(1 / n)] * n] * 2
    for n in [6, 7, 8, 6, 7]:
        for k in [0.5, 0.25, 1 / n]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", CompileWarning)
                assert [step(gw.ones(n), k).tolist() for _ in range(2)] == [[np.float32(k)] * n] * 2
