import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import Function
from gradwright.autograd import forward_ad as fw
from gradwright.func import jacfwd, jacrev, jet, jvp
from gradwright.transform.arguments import differentiable
from gradwright.transform.functions import Again, tensors_in

X, V = np.array([0.5, -1.0, 2.0]), np.array([1.0, 3.0, -2.0])


def test_tensors_in_values():
    x, y = gw.ones(1), gw.ones(2)
    assert tensors_in({"a": [x, 2], "b": (y, None)}) == [x, y]
    assert tensors_in(3) == []
    assert [differentiable(t) for t in (x, x.long(), x + 1j, 2.0)] == [True, False, True, False]


def test_what_runs_again_finds_what_was_there():
    class Draw(Function):
        @staticmethod
        def forward(ctx, x):
            return x.mul_(gw.rand(3))

    x = gw.ones(3)
    again = Again(Draw, (x, 2))
    first = Draw.forward(None, x)
    after = gw.rand(1)
    seconds = [again.run(lambda args: Draw.forward(None, args[0].clone())) for _ in range(2)]
    assert all(second.tolist() == first.tolist() for second in seconds)
    assert again.args[1] == 2
    assert gw.rand(1).item() != after.item()


def test_random_numbers_are_drawn_once():
    generator = np.random.default_rng(0)

    class Dropout(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mask = (gw.rand(3) > 0.5).double() + gw.from_numpy(generator.random(3))
            return x * ctx.mask

        @staticmethod
        def backward(ctx, g):
            return g * ctx.mask

        @staticmethod
        def jvp(ctx, t):
            return t * ctx.mask

    for grad in (False, True):
        x, v = gw.tensor(X, requires_grad=grad), gw.tensor(V)
        with fw.dual_level():
            y = Dropout.apply(fw.make_dual(x, v))
            value, t = fw.unpack_dual(y)
            assert np.allclose((value / x).detach().numpy(), (t / v).detach().numpy())
            if grad:
                g = gw.autograd.grad(y.sum(), x)[0]
                assert np.allclose(g.detach().numpy(), (value / x).detach().numpy())


def test_at_a_level_forward_runs_on_values_and_what_it_saves_moves():
    seen = []

    class Square(Function):
        @staticmethod
        def forward(ctx, x, n):
            seen.append(x.numpy() * 1)
            y = gw.from_numpy(x.numpy() ** 2)
            ctx.save_for_backward(x, y)
            ctx.y = [y]
            return y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            assert fw.unpack_dual(y).tangent is not None
            return 2 * y / x * g, None

        @staticmethod
        def jvp(ctx, t, _):
            return 2 * gw.tensor(X) * t

    x, v = gw.tensor(X, requires_grad=True), gw.tensor(V)
    with fw.dual_level():
        y = Square.apply(fw.make_dual(x, v), 2)
        g = gw.autograd.grad(y.sum(), x)[0]
        assert np.allclose(fw.unpack_dual(g).tangent.numpy(), 2 * V)
    assert all(type(a) is np.ndarray for a in seen)


KEEPS = {
    "clone": lambda ctx, x: x.clone(),
    "product": lambda ctx, x: x * 1,
    "attribute": lambda ctx, x: setattr(ctx, "kept", x.clone()),
}


def _pushed(f):
    return lambda x: jvp(f, (x,), (x * 0 + 1,))[1]


NESTED = {
    "jvp of jvp": lambda f: _pushed(_pushed(f)),
    "jvp of jvp of jvp": lambda f: _pushed(_pushed(_pushed(f))),
    "jacfwd of jacfwd": lambda f: jacfwd(jacfwd(f)),
    "jacfwd of jacrev": lambda f: jacfwd(jacrev(f)),
    "jacrev of jacrev": lambda f: jacrev(jacrev(f)),
    "jacrev of jacfwd": lambda f: jacrev(jacfwd(f)),
    "jet": lambda f: lambda x: jet(f, (x,), ([x * 0 + 1, x * 0],))[1][1],
}


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("by_jvp", [False, True])
@pytest.mark.parametrize("road", NESTED)
def test_what_was_kept_before_an_input_was_written_moves_in_nested_transforms(keep, by_jvp, road):
    """It lost its tangent of the levels outside once, or was what had been written twice."""

    class Times(Function):
        @staticmethod
        def forward(ctx, x, y):
            kept = KEEPS[keep](ctx, x)
            ctx.save_for_backward(kept, y)
            ctx.save_for_forward(kept, y)
            ctx.mark_dirty(x)
            return x.mul_(y)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * (ctx.kept if keep == "attribute" else x)

    def pushforward(ctx, t, u):
        x, y = ctx.saved_tensors
        return t.mul_(y).add_(u * (ctx.kept if keep == "attribute" else x))

    if by_jvp:
        Times.jvp = staticmethod(pushforward)
    x = gw.tensor(1.3, dtype=gw.float64)
    power = np.exp(2 * 1.3) * 1.3 ** np.arange(5)  # (x**2 exp(x))**2 = x**4 exp(2 x), which is derived by hand
    second = power @ [0, 0, 12, 16, 4]
    third = power @ [0, 24, 72, 48, 8]
    try:
        found = float(NESTED[road](lambda x: Times.apply(x * x, x.exp()) ** 2)(x))
    except RuntimeError:
        assert (road, by_jvp) == ("jacrev of jacfwd", False)
        return
    assert np.isclose(found, third if road.count("jvp") == 3 else second, rtol=1e-12)
