"""Random numbers in compiled functions are those of the eager run."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.compiled import CompileWarning


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


def test_each_call_draws_what_an_eager_one_would():
    source = gw.Generator().manual_seed(3)

    def step(x):
        return x + gw.rand(3, generator=source) + gw.randn(3, generator=source)

    compiled, found = gw.compile(step), []
    for f in (step, compiled):
        source.manual_seed(3)
        found.append([f(gw.ones(3)).tolist() for _ in range(6)])
    assert found[0] == found[1]
    assert compiled.programs.entries


def test_numbers_that_a_checkpointed_function_draws_again_are_the_same_ones():
    gw.manual_seed(0)
    layer = gw.nn.Sequential(gw.nn.Linear(8, 8), gw.nn.Dropout(0.5))

    def step(x):
        layer.zero_grad()
        y = gw.utils.checkpoint.checkpoint(layer, x, use_reentrant=False)
        y.sum().backward()
        return y, layer[0].bias.grad.clone()

    compiled = gw.compile(step, backend="plan")
    compiled(gw.ones(2, 8))
    with pytest.warns(CompileWarning, match="a state that was set in the step"):
        compiled(gw.ones(2, 8))
    for _ in range(3):
        y, g = compiled(gw.ones(2, 8))
        assert g.tolist() == (2.0 * (y != 0)).sum(0).tolist()
