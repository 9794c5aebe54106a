"""Functions that compute in NumPy, inside compiled steps: run anew at every call."""

import numpy as np
import pytest

import gradwright as gw


class Cube(gw.autograd.Function):
    """x**3 by NumPy."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gw.from_numpy(x.detach().numpy() ** 3)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return gw.from_numpy(3 * x.detach().numpy() ** 2 * g.numpy())


class Parts(gw.autograd.Function):
    """Sine and cosine by NumPy; the second is not differentiable."""

    @staticmethod
    def forward(ctx, x, k):
        ctx.k = k
        s, c = (gw.from_numpy(f(k * x.detach().numpy())) for f in (np.sin, np.cos))
        ctx.mark_non_differentiable(c)
        ctx.save_for_backward(c)
        return s, c

    @staticmethod
    def backward(ctx, g, _):
        return g * ctx.k * ctx.saved_tensors[0], None


@gw.autograd.custom_op
def scaled(x: gw.Tensor, *, factor: float = 2.0) -> gw.Tensor:
    return gw.from_numpy(x.detach().numpy() * factor)


scaled.vjp(x=lambda xp, g, factor: g * factor)


@pytest.mark.parametrize("function", [
    Cube.apply, lambda x: Cube.apply(Cube.apply(x)), lambda x: Parts.apply(x, 2.0)[0] * Parts.apply(x, 1.0)[1],
    lambda x: scaled(x, factor=3.0) * x,
])  # fmt: skip
def test_steps_are_those_of_eager_runs(function):
    def trained(wrap):
        w = gw.tensor([0.5, -0.25], dtype=gw.float64, requires_grad=True)

        def step(x):
            w.grad = None
            loss = function(w * x).sum()
            loss.backward()
            with gw.no_grad():
                w.sub_(0.1 * w.grad)
            return loss

        step = wrap(step)
        losses = [step(gw.full((2,), 1.0 + k / 8, dtype=gw.float64)).item() for k in range(6)]
        return step, losses, w.tolist()

    _, *expected = trained(lambda step: step)
    step, *found = trained(gw.compile)
    assert not step.programs.reason
    assert found == expected


def test_what_the_function_reads_itself_is_read_at_every_call():
    factor = [2.0]

    class Scale(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return gw.from_numpy(x.detach().numpy() * factor[0])

        @staticmethod
        def backward(ctx, g):
            return g * factor[0]

    f = gw.compile(lambda x: Scale.apply(x) + 1)
    for _ in range(4):
        assert f(gw.ones(1)).item() == 3.0
    factor[0] = 5.0
    assert f(gw.ones(1)).item() == 6.0


def test_second_derivatives_stay_eager():
    w = gw.tensor([0.5], dtype=gw.float64, requires_grad=True)

    class Square(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return gw.from_numpy(x.detach().numpy() ** 2)

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    def step():
        (g,) = gw.autograd.grad(Square.apply(w).sum(), w, create_graph=True)
        return gw.autograd.grad(g.sum(), w)[0]

    f = gw.compile(step)
    assert [f().item() for _ in range(2)] == [2.0, 2.0]
    with pytest.warns(UserWarning, match="second derivative of Square"):
        assert f().item() == 2.0
    assert f().item() == 2.0


def test_a_result_with_a_history_through_numpy_stays_eager():
    w = gw.tensor([0.5], dtype=gw.float64, requires_grad=True)
    f = gw.compile(lambda x: Cube.apply(w * x))
    [f(gw.ones(1)) for _ in range(2)]
    with pytest.warns(UserWarning, match="computes in Python"):
        y = f(gw.ones(1))
    y.backward()
    assert w.grad.item() == 0.75


def test_python_code_of_a_function_runs_once_a_call():
    class Counting(gw.autograd.Function):
        count = 0

        @staticmethod
        def forward(ctx, x):
            Counting.count += 1
            return gw.from_numpy(x.detach().numpy() * Counting.count)

        @staticmethod
        def backward(ctx, g):
            return g

    f = gw.compile(lambda x: Counting.apply(x) + 0)
    assert [f(gw.ones(1)).item() for _ in range(8)] == [1, 2, 3, 4, 5, 6, 7, 8]


def test_an_argument_written_through_numpy_stays_eager():
    class Doubling(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            a = x.detach().numpy()
            a *= 2
            return gw.from_numpy(a.copy())

        @staticmethod
        def backward(ctx, g):
            return g

    f = gw.compile(lambda x: Doubling.apply(x))
    given = [gw.ones(2) for _ in range(5)]
    with pytest.warns(UserWarning, match="writes its argument through NumPy"):
        found = [f(x).tolist() for x in given]
    assert found == [x.tolist() for x in given] == [[2, 2]] * 5
