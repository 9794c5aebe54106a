"""What a backward pass must be besides right."""

import numpy as np
import pytest

import gradwright
import gradwright as gw
from gradwright.autograd import Function, gradcheck
from gradwright.function.contract.surrogate import surrogate

check = gradwright.autograd.gradcheck


def leaf(*data):
    return gradwright.tensor(data, dtype=gradwright.float64, requires_grad=True)


def doubling(backward):
    class Doubling(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    Doubling.backward = staticmethod(backward)
    return Doubling.apply


LONG = [float(i) for i in range(20)]


@pytest.mark.parametrize("data", [LONG, [1.0, 2.0], [1.0]])
def test_a_backward_with_noise(data):
    noise = np.random.default_rng(0)
    apply = doubling(lambda ctx, g: g * 2 * (1 + 1e-9 * noise.uniform()))
    with pytest.raises(gradwright.GradcheckError, match=r"Backward is not reentrant.*the gradient of x by up to"):
        check(apply, leaf(*data))
    assert check(apply, leaf(*data), nondet_tol=1e-7)


def test_a_backward_that_drifts():
    """The same twice in a row, but not after all other rows."""
    runs = []

    def backward(ctx, g):
        runs.append(1)
        return g * 2 * (1 + 1e-9 * (len(runs) // 10))

    with pytest.raises(gradwright.GradcheckError, match="Backward is not reentrant"):
        check(doubling(backward), leaf(*LONG))


@pytest.mark.parametrize("n", [18, 19, 20, 21])
def test_a_backward_that_alternates(n):
    runs = []

    def backward(ctx, g):
        runs.append(1)
        return g * 2 * (1 + 1e-9 * (len(runs) % 2))

    with pytest.raises(gradwright.GradcheckError, match="Backward is not reentrant"):
        check(doubling(backward), leaf(*range(n)))


@pytest.mark.parametrize(
    "backward",
    [
        lambda ctx, g: 2 * g.clamp(-1, 1),
        lambda ctx, g: 2 * g / g.norm().clamp(min=1e-12) * g.abs().sum().clamp(max=1),
        lambda ctx, g: 2 * g.sign() * (g != 0),
        lambda ctx, g: 2 * g * (1 + 0.01 * (g.abs() > 1)),
    ],
    ids=["clipped", "normalised", "signs", "by one percent"],
)
def test_a_backward_that_is_not_linear(backward):
    with pytest.raises(gradwright.GradcheckError, match="Backward is not linear in grad_output: for output 0 and x"):
        check(doubling(backward), leaf(1.0, 2.0, 3.0))


def test_zeros_must_give_zeros(T):
    class Offset(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return 2 * g + 1e-9

    x = T.tensor([1.0, 2.0], dtype=T.float64, requires_grad=True)
    with pytest.raises(RuntimeError, match="backward not multiplied by grad_output"):
        T.autograd.gradcheck(Offset.apply, x)


def test_masked_allows_nearly_zeros():
    assert check(doubling(lambda ctx, g: 2 * g + 1e-9), leaf(1.0, 2.0), masked=True)


class Pair(gradwright.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3


def pair(backward):
    return type("Pair", (Pair,), {"backward": staticmethod(backward)}).apply


def test_missing_gradients_must_count_as_zeros():
    def backward(ctx, g, h):
        if g is None or h is None:
            return h * 3 if g is None else g * 2
        return g * 4 + h * 3

    with pytest.raises(gradwright.GradcheckError, match="the same with an undefined output grad as with a zero one"):
        check(pair(backward), leaf(1.0, 2.0))


def test_zeros_and_missing_gradients_must_give_zeros():
    def backward(ctx, g, h):
        zero = (g is None or not g.array.any()) and (h is None or not h.array.any())
        if zero and (g is None or h is None):
            return gradwright.ones(2, dtype=gradwright.float64)
        return (0 if g is None else g * 2) + (0 if h is None else h * 3)

    message = "Expected all input grads to be undefined or zero when all output grads are undefined or zero"
    with pytest.raises(gradwright.GradcheckError, match=message):
        check(pair(backward), leaf(1.0, 2.0))
    assert check(pair(backward), leaf(1.0, 2.0), check_undefined_grad=False)


def test_of_each_input_the_gradient_must_be_zero_then():
    class Both(Pair):
        @staticmethod
        def forward(ctx, x, y):
            ctx.set_materialize_grads(False)
            return x * 2, y * 3

        @staticmethod
        def backward(ctx, g, h):
            lone = g is None and h is not None and not h.array.any()
            return None if g is None else g * 2, None if h is None else h * 3 + lone

    with pytest.raises(gradwright.GradcheckError, match="Expected all input grads to be undefined or zero"):
        check(Both.apply, (leaf(1.0), leaf(2.0)))


def test_a_backward_that_stumbles_over_a_missing_gradient():
    def backward(ctx, g, h):
        if h is None and not g.array.any():
            raise RuntimeError("mine")
        return (0 if g is None else g * 2) + (0 if h is None else h * 3)

    with pytest.raises(gradwright.GradcheckError, match=r"Expected backward function to handle undefined output grads.*"
                                                        "RuntimeError: mine"):  # fmt: skip
        check(pair(backward), leaf(1.0, 2.0))


@surrogate("reversal")
class Reversed(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * 1, y * 1

    @staticmethod
    def backward(ctx, g, h):
        return -g, Reversed.wide(h)

    wide = staticmethod(lambda h: -h)


def test_values_are_not_compared_and_it_says_so():
    x, y = (gw.tensor([v], dtype=gw.float64, requires_grad=True) for v in (1.0, 2.0))
    with pytest.warns(gw.GradientWarning, match=r"SURROGATE: ReversedBackward \(reversal\)") as caught:
        assert gradcheck(Reversed.apply, (x, y))
    assert caught[0].filename == __file__


def test_undefined_gradients_are_tried(monkeypatch):
    monkeypatch.setattr(Reversed, "wide", staticmethod(lambda h: h + 1))
    x, y = (gw.tensor([v], dtype=gw.float64, requires_grad=True) for v in (1.0, 2.0))
    with pytest.raises(gw.GradcheckError, match="Expected all input grads to be undefined or zero"):
        gradcheck(Reversed.apply, (x, y))
