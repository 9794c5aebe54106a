"""Functions under vmap: declared, generated, neither; their derivatives to third order, outside and inside."""

import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright import func, vmap
from gradwright.autograd import Function, grad


class Cube(Function):
    @staticmethod
    def forward(ctx, x, k=1.0):
        ctx.save_for_backward(x)
        ctx.k = k
        return x**3 * k

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * g * ctx.k, None


class Exp(Function):
    """Whose derivative is twice what it should be, so that it is known again; it saves its output."""

    @staticmethod
    def forward(ctx, x):
        y = x.exp()
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, g):
        (y,) = ctx.saved_tensors
        return 2 * y * g


class Both(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, w):
        return x * w, (x * w).sum()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, g, h):
        x, w = ctx.saved_tensors
        return (g + h) * w, (g + h) * x


class Sin(Function):
    """sin(x w + shift), by NumPy."""

    @staticmethod
    def forward(ctx, x, w, shift):
        ctx.save_for_backward(x, w)
        ctx.shift = shift
        return gw.from_numpy(np.sin(x.numpy() * w.numpy() + shift))

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        slope = Sin.apply(x, w, ctx.shift + np.pi / 2)
        return g * slope * w, g * slope * x, None


class Declared(Function):
    """The same, with a rule of its own."""

    calls = 0

    @staticmethod
    def forward(x, w, shift):
        Declared.calls += 1
        return gw.from_numpy(np.sin(x.numpy() * w.numpy() + shift))

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, w, ctx.shift = inputs
        ctx.save_for_backward(x, w)

    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        slope = Declared.apply(x, w, ctx.shift + np.pi / 2)
        return g * slope * w, g * slope * x, None

    @staticmethod
    def vmap(info, in_dims, x, w, shift):
        assert in_dims[2] is None
        x, w = (t.expand(info.batch_size, *t.shape) if d is None else t.movedim(d, 0)
                for t, d in zip((x, w), in_dims, strict=False))  # fmt: skip
        return Declared.apply(x, w, shift), 0


class Boxed(Function):
    """Containers in and out."""

    @staticmethod
    def forward(ctx, ws, x):
        ctx.ws = ws
        ctx.save_for_backward(x)
        return {"a": ws[0] * x, "b": ws[1] + x}

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return [g["a"] * x, g["b"]], g["a"] * ctx.ws[0] + g["b"]


def both(x, w):
    y, total = Both.apply(x, w)
    return (y**2).sum() + total


def boxed(x, w):
    out = Boxed.apply([w, w * w], x)
    return (out["a"] * out["b"]).sum()


@gw.custom_op
def scaled(x: gw.Tensor, w: gw.Tensor) -> gw.Tensor:
    return x * w.exp()


scaled.vjp(x=lambda xp, g, w: g * xp.exp(w), w=lambda xp, g, x, w: g * x * xp.exp(w))

FUNCTIONS = {
    "cube": lambda x, w: Cube.apply(x * w, 2.0).sum(),
    "exp": lambda x, w: Exp.apply(x * w).sum(),
    "both": both,
    "numpy": lambda x, w: Sin.apply(x, w, 0.5).sum(),
    "declared": lambda x, w: Declared.apply(x, w, 0.5).sum(),
    "boxed": boxed,
    "custom_op": lambda x, w: scaled(x, w).sum(),
}
X = gw.randn(3, 2, dtype=gw.float64)
W = gw.randn(2, dtype=gw.float64)
C = gw.tensor([1.0, 2.0], dtype=gw.float64)


@pytest.fixture(params=FUNCTIONS)
def f(request):
    with warnings.catch_warnings():
        if request.param == "numpy":
            warnings.filterwarnings("ignore", "vmap: forward of Sin asks for numbers")
        yield FUNCTIONS[request.param]


def derived(f, order):
    """The function, or its derivative by w of this order."""
    if not order:
        return f

    def slope(x, w):
        w = (w * 1).requires_grad_()
        g = grad(derived(f, order - 1)(x, w), w, create_graph=True)[0]
        return g if order == top else (g * C).sum()

    top = order
    return slope


def numbers(f, order):
    """The derivative of this order by w, a number for all but the last."""

    def value(x, w):
        w = (w * 1).requires_grad_()
        y = f(x, w)
        for _ in range(order):
            (y,) = grad((y * C).sum() if y.ndim else y, w, create_graph=True)
        return y

    return value


def loop(f):
    return lambda xs, w: gw.stack([f(x, w) for x in xs])


def mapped(f):
    return vmap(f, in_dims=(0, None))


def close(got, expected):
    assert got.shape == expected.shape
    assert np.allclose(got.detach().numpy(), expected.detach().numpy(), rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("order", range(4))
def test_derivatives_inside(f, order):
    close(mapped(numbers(f, order))(X, W), loop(numbers(f, order))(X, W))


@pytest.mark.parametrize(("outside", "inside"), [(1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (1, 2)])
def test_derivatives_outside(f, outside, inside):
    def slopes(F):
        x, w = X.clone().requires_grad_(), W.clone().requires_grad_()
        y = F(x, w)
        total, found = (y * gw.linspace(1, 2, y.numel(), dtype=gw.float64).reshape(y.shape)).sum(), []
        for _ in range(outside):
            gs = grad(total, (x, w), create_graph=True, allow_unused=True, materialize_grads=True)
            total = (gs[0] ** 2).sum() + 3 * gs[1].sum()
            found += [g.flatten() for g in gs]
        return gw.cat(found)

    close(slopes(mapped(numbers(f, inside))), slopes(loop(numbers(f, inside))))


def test_one_inside_another(f):
    ws = gw.stack([W, 2 * W])
    got = vmap(mapped(f), in_dims=(None, 0))(X, ws)
    close(got, gw.stack([loop(f)(X, w) for w in ws]))


def test_a_function_that_asks_for_numbers_is_told_of():
    with pytest.warns(gw.GradientWarning, match="forward of Sin asks for numbers.*one example after another"):
        got = vmap(lambda x: Sin.apply(x, W, 0.0))(X)
    close(got, (X * W).sin())


def test_a_declared_rule_runs_once_for_all():
    Declared.calls = 0
    mapped(FUNCTIONS["declared"])(X, W)
    assert Declared.calls == 1


class Wrong(Declared):
    @staticmethod
    def vmap(info, in_dims, x, w, shift):
        return x


class Unlike(Declared):
    @staticmethod
    def vmap(info, in_dims, x, w, shift):
        return x, (0, 0)


@pytest.mark.parametrize(("cls", "message"), [
    (Wrong, "Expected the vmap staticmethod to have two returns"),
    (Unlike, "Unlike.vmap: out_dims is not compatible with the structure of `outputs`"),
])  # fmt: skip
def test_what_a_rule_must_return(cls, message):
    with pytest.raises(RuntimeError, match=message):
        vmap(lambda x: cls.apply(x, W, 0.0))(X)


def test_what_a_rule_is_told():
    seen = []

    class Noted(Function):
        @staticmethod
        def forward(x, ws):
            return x * ws["w"], ws["n"]

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x, ws):
            seen.append((info.batch_size, info.randomness, in_dims))
            return (x * ws["w"], ws["n"]), (0, None)

    out, n = vmap(lambda x: Noted.apply(x, {"w": W, "n": W[0]}), randomness="same")(X)
    close(out, X * W)
    close(n, W[0].expand(3))
    assert seen == [(3, "same", (0, {"w": None, "n": None}))]


def test_an_output_that_is_the_input_changed_in_place():
    class Double(Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    x = X.clone()
    close(vmap(lambda x: Double.apply(x).sum())(x), 2 * X.sum(1))
    close(x, 2 * X)


@pytest.mark.parametrize("by_jvp", [False, True])
@pytest.mark.parametrize("moves", [False, True])
def test_an_input_changed_in_place_under_vmap_in_a_transform(by_jvp, moves):
    """The levels inside of vmap see the change; those outside are refused, by the Function's own name."""

    class Times(Function):
        @staticmethod
        def forward(ctx, x, y):
            kept = x.clone()
            ctx.save_for_backward(kept, y)
            ctx.save_for_forward(kept, y)
            ctx.mark_dirty(x)
            return x.mul_(y)

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * y, g * x

    if by_jvp:
        Times.jvp = staticmethod(lambda ctx, t, u: t.mul_(ctx.saved_tensors[1]).add_(u * ctx.saved_tensors[0]))

    def f(x):
        t = x * x if moves else (x * 0).detach() + 2
        return (Times.apply(t, x.exp()) + t).sum()

    def same(x):
        return (2 * (x * x if moves else 2) * x.exp()).sum()

    one = gw.ones_like(X[0])
    close(vmap(gw.func.grad(f))(X), vmap(gw.func.grad(same))(X))
    pushed = [vmap(lambda x, g=g: gw.func.jvp(g, (x,), (one,))[1])(X) for g in (f, same)]
    close(*pushed)
    for outside in (
        lambda: gw.func.jvp(vmap(f), (X,), (gw.ones_like(X),)),
        lambda: gw.func.grad(lambda x: vmap(f)(x).sum())(X),
        lambda: vmap(f)(X.clone().requires_grad_()),
        lambda: gw.func.jacrev(vmap(f))(X),
    ):
        with pytest.raises(RuntimeError, match=r"vmap: Times writes to its input \(ctx.mark_dirty\).*Return a new"):
            outside()


class Sine(Function):
    """Its numbers come from NumPy, its vmap takes batches as they are, and it saves on ctx by itself."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gw.from_numpy(np.sin(x.numpy()))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x.cos()

    @staticmethod
    def vmap(info, in_dims, x):
        return Sine.apply(x), in_dims[0]


def test_a_declared_vmap_of_a_forward_by_numbers_that_saves_by_itself():
    with pytest.warns(gw.GradientWarning, match="Save on ctx in a setup_context"):
        out = vmap(gw.func.grad(lambda x: Sine.apply(x).sum()))(X)
    close(out, X.cos())
    assert not out.requires_grad
    x = X.clone().requires_grad_()
    with pytest.warns(gw.GradientWarning, match="Save on ctx in a setup_context"):
        out = vmap(gw.func.grad(lambda x: Sine.apply(x).sum()))(x)
    close(grad(out.sum(), x)[0], -X.sin())


class KeepsIntermediate(gw.autograd.Function):
    """exp(2 x), by e = exp(x), which is neither an input nor an output."""

    @staticmethod
    def forward(ctx, x):
        e = x.exp()
        ctx.save_for_backward(e)
        ctx.e = e
        return e * e

    @staticmethod
    def backward(ctx, g):
        (e,) = ctx.saved_tensors
        return g * (e + ctx.e) * e


SECOND = {
    "vmap of jacfwd of jacrev": lambda h, x: func.vmap(func.hessian(h))(x).diagonal(dim1=1, dim2=2),
    "vmap of jacrev of jacrev": lambda h, x: func.vmap(func.jacrev(func.jacrev(h)))(x).diagonal(dim1=1, dim2=2),
    "vmap of jacfwd of jacfwd": lambda h, x: func.vmap(func.jacfwd(func.jacfwd(h)))(x).diagonal(dim1=1, dim2=2),
    "vmap of jvp of grad": lambda h, x: func.vmap(lambda y: func.jvp(func.grad(h), (y,), (gw.ones_like(y),))[1])(x),
    "vmap of grad of jvp": lambda h, x: func.vmap(func.grad(lambda y: func.jvp(h, (y,), (gw.ones_like(y),))[1]))(x),
    "grad of vmap of grad": lambda h, x: func.grad(lambda y: func.vmap(func.grad(h))(y).sum())(x),
}


@pytest.mark.parametrize("way", SECOND)
def test_second_derivatives_of_a_function_that_keeps_an_intermediate(way):
    x = gw.tensor([[1.0, 2.0], [0.5, 0.0]], dtype=gw.float64)
    found = SECOND[way](lambda y: KeepsIntermediate.apply(y).sum(), x)
    assert gw.allclose(found, 4 * (2 * x).exp())
