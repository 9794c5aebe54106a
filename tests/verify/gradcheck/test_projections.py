"""The fast mode: what it costs, what it finds, and what it says of itself."""

import numpy as np
import pytest

import gradwright
from gradwright.verify.gradcheck.projections import project
from gradwright.verify.gradcheck.settings import SUITS, Settings
from gradwright.verify.numeric.jacobian import Subject

SETTINGS = Settings(None, 1e-5, 1e-3, 0.0, True, False, True, False, None, "float64")


def leaf(data, dtype="float64"):
    return gradwright.tensor(data, dtype=getattr(gradwright, dtype), requires_grad=True)


def linear(factors):
    """x times ones, whose gradient is wrong by these factors."""

    class Linear(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 * gradwright.tensor(factors)

    return Linear.apply


def test_a_few_slightly_wrong_entries_are_found_every_time():
    """1 % in 3 of 1000 entries, which PyTorch's fast mode passes."""
    random = np.random.default_rng(0)
    for _ in range(20):
        factors = np.ones(1000)
        factors[random.choice(1000, 3, replace=False)] = 1.01
        found = project(Subject(linear(factors), leaf(random.standard_normal(1000))), SETTINGS)
        assert not found.agree


def test_pytorch_passes_them(torch):
    """So that the claim above stays true."""
    factors = torch.ones(1000, dtype=torch.float64)
    factors[[3, 500, 999]] = 1.01

    class Linear(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 * factors

    x = torch.linspace(0.5, 1.5, 1000, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(Linear.apply, x, fast_mode=True)


def test_the_chance_of_missing_it_is_known():
    right = project(Subject(linear(np.ones(1000)), leaf(np.linspace(-1, 1, 1000))), SETTINGS)
    assert right.agree
    assert right.missing < 1e-6
    single = SETTINGS._replace(precision="float32", atol=SUITS["float32"].atol, rtol=SUITS["float32"].rtol)
    blurred = project(Subject(lambda x: x.sin().sum(), leaf(np.linspace(-1, 1, 1000), "float32")), single)
    assert blurred.missing > 1e-3


def test_it_costs_calls_that_do_not_depend_on_the_size():
    calls = []

    def f(x):
        calls.append(1)
        return x.sin()

    assert gradwright.autograd.gradcheck(f, leaf(np.linspace(0, 1, 500)), fast_mode=True)
    assert len(calls) < 60


def test_inputs_are_put_back():
    x, z = leaf([1.0, 2.0]), leaf([1 + 2j], "complex128")
    assert gradwright.autograd.gradcheck(lambda x, z: (x * z).sum(), (x, z), fast_mode=True)
    assert x.tolist() == [1, 2]
    assert z.tolist() == [1 + 2j]


def test_where_it_is_too_coarse_all_entries_are_compared():
    calls = []

    def f(x):
        calls.append(1)
        return x.sin() * 2

    x = leaf(np.linspace(0, 1, 100), "float16")
    with pytest.warns(UserWarning, match="Input #0"):
        assert gradwright.autograd.gradcheck(f, x, fast_mode=True)
    assert len(calls) > 200


def test_the_same_tensor_twice():
    x = leaf([1.0, 2.0])
    assert gradwright.autograd.gradcheck(lambda a, b: a * b, (x, x), fast_mode=True)


def test_a_backward_that_differs_from_run_to_run():
    runs = []

    class Noisy(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            runs.append(1)
            return g * (1 + 1e-12 * len(runs))

    with pytest.raises(gradwright.GradcheckError, match="Backward is not reentrant"):
        gradwright.autograd.gradcheck(Noisy.apply, leaf([1.0, 2.0]), fast_mode=True)
