"""What optimisers take from PyTorch's private part: compared with that."""

import importlib

import pytest

import gradwright as gw
from gradwright.pytorch import optimizers as ours


@pytest.fixture(scope="module")
def theirs():
    pytest.importorskip("torch")
    return importlib.import_module("torch.optim.optimizer")


def test_numbers_are_pytorchs(theirs):
    torch = importlib.import_module("torch")
    for name in ("_get_value", "_stack_if_compiling", "_to_scalar"):
        for value in (4.0, 2):
            assert getattr(ours, name)(value) == getattr(theirs, name)(value)
        assert float(getattr(ours, name)(gw.tensor(4.0))) == float(getattr(theirs, name)(torch.tensor(4.0)))
    assert str(ours._get_scalar_dtype()) == str(theirs._get_scalar_dtype())
    mine, other = gw.ones(1), torch.ones(1)
    assert ours._default_to_fused_or_foreach([mine], False) == theirs._default_to_fused_or_foreach([other], False)


@pytest.mark.parametrize("step", [1e-3, 1.0, 30.0])
@pytest.mark.parametrize("options", [{}, {"c2": 0.1}, {"max_ls": 3}, {"c1": 0.3, "tolerance_change": 1e-3}])
def test_the_line_search_is_pytorchs(theirs, step, options):
    lbfgs = importlib.import_module("torch.optim.lbfgs")
    found = []
    for library, search in ((importlib.import_module("torch"), lbfgs._strong_wolfe), (gw, ours._strong_wolfe)):

        def at(x, t, d, library=library):
            y = x + t * d
            return float((y**4 / 4 - y + (3 * y).sin()).sum()), y**3 - 1 + 3 * (3 * y).cos()

        x = library.tensor([-1.5, 2.0, 0.3], dtype=library.float64)
        loss, g = at(x, 0.0, x)
        end, slope, t, tried = search(at, x, step, -g, loss, g, -g.dot(g), **options)
        found.append([end, *slope.tolist(), float(t), tried])
    assert found[1] == pytest.approx(found[0], rel=1e-9)


def test_the_minimum_of_a_cubic_is_pytorchs(theirs):
    torch, lbfgs = importlib.import_module("torch"), importlib.import_module("torch.optim.lbfgs")
    for a, b, bounds in [((0.0, 1.0, -2.0), (1.0, 0.5, 1.0), None), ((2.0, 1.0, 3.0), (-1.0, 0.5, 0.1), (0.0, 0.2)),
                         ((0.0, 1.0, 1.0), (1.0, 2.0, 1.0), None)]:  # fmt: skip
        given = [*a[:2], torch.tensor(a[2]), *b[:2], torch.tensor(b[2])]
        expected = float(lbfgs._cubic_interpolate(*given, bounds=bounds))
        assert ours._cubic_interpolate(*a, *b, bounds=bounds) == pytest.approx(expected, rel=1e-6)


def test_complex_parameters_as_real_ones():
    params, states = [gw.ones(2), gw.tensor([1 + 2j])], [gw.zeros(2), gw.tensor([3j])]
    ours._view_as_real(params, states)
    assert [x.tolist() for x in params] == [[1.0, 1.0], [[1.0, 2.0]]]
    assert [x.tolist() for x in states] == [[0.0, 0.0], [[0.0, 3.0]]]


def test_steps_are_recorded_if_the_optimiser_says_so():
    class Plain(gw.optim.Optimizer):
        @ours._use_grad_for_differentiable
        def step(self):
            return gw.is_grad_enabled()

    for differentiable in (False, True):
        assert Plain([gw.ones(1)], {"differentiable": differentiable}).step() is differentiable
    assert ours._disable_dynamo_if_unsupported(single_tensor_fn=None)(len) is len
