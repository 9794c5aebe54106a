"""jacrev, jacfwd and hessian: against each other, autograd.functional, finite differences and PyTorch."""

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright as gw
from gradwright import func
from gradwright.autograd import functional
from gradwright.utils.checkpoint import checkpoint
from tests.transform.programs import outcome, refused_alike, t

X = gw.tensor([0.3, -0.4, 0.7], dtype=gw.float64)
V = gw.tensor([1.0, 2.0, -1.0], dtype=gw.float64)


def close(a, b, tolerance=1e-12):
    assert a.shape == b.shape
    assert gw.allclose(a, b, rtol=tolerance, atol=tolerance), (a, b)


# ---- one function, four Jacobians ----------------------------------------------------------------------------


def in_no_grad(x):
    with gw.no_grad():
        return x * 2


def written(x):
    y = x * 1
    y[::2] *= x[::2].sin()
    return y


def through_a_view(x):
    y = x.clone()
    y.view(-1)[: y.numel() // 2].mul_(x.reshape(-1)[-1])
    return y


STEPS = {
    "sin": gw.sin,
    "square": lambda x: x * x,
    "sum": lambda x: x * x.sum(),
    "flip": lambda x: x.flip(0),
    "outer": lambda x: gw.outer(x, x)[0],
    "cumsum": lambda x: x.cumsum(0),
    "softmax": lambda x: x.softmax(0),
    "product": lambda x: x * x.prod(),
    "matrix": lambda x: gw.linspace(-1, 1, x.numel() ** 2, dtype=gw.float64).reshape(x.numel(), -1) @ x,
    "detach": lambda x: x * x.detach(),
    "no_grad": lambda x: x + in_no_grad(x) * x,
    "checkpoint": lambda x: checkpoint(lambda x: (x * x).sin(), x, use_reentrant=False),
    "in place": written,
    "through a view": through_a_view,
    "views": lambda x: x.unsqueeze(1).expand(-1, 2).transpose(0, 1)[1] * x,
    "cat": lambda x: gw.cat([x[1:], x[:1]]) + x,
    "where": lambda x: gw.where(x > 0, x * 2, x.exp()),
}
CONSTANT = {"detach", "no_grad"}


def composed(names):
    def f(x):
        for name in names:
            x = STEPS[name](x)
        return x

    return f


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=4), st.integers(1, 4), st.integers(0, 10**6))
def test_all_jacobians_are_one(names, n, seed):
    f = composed(names)
    x = gw.tensor(np.random.default_rng(seed).uniform(-0.9, 0.9, n))
    jacobian = func.jacrev(f)(x)
    close(func.jacrev(f, chunk_size=1 + seed % 3)(x), jacobian, 1e-9)
    close(func.jacfwd(f)(x), jacobian, 1e-9)
    close(functional.jacobian(f, x), jacobian, 1e-9)
    close(gw.stack([func.jvp(f, (x,), (e,))[1] for e in gw.eye(n, dtype=gw.float64)], 1), jacobian, 1e-9)
    if not CONSTANT & set(names):
        h = 1e-6
        columns = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in gw.eye(n, dtype=gw.float64)]
        assert gw.allclose(gw.stack(columns, 1), jacobian, rtol=1e-5, atol=1e-6)
    s = lambda x: f(x).sum()
    second = func.hessian(s)(x)
    close(func.jacrev(func.jacrev(s))(x), second, 1e-8)
    close(func.jacfwd(func.jacfwd(s))(x), second, 1e-8)
    close(func.jacrev(func.jacfwd(s))(x), second, 1e-8)
    close(functional.hessian(s, x), second, 1e-8)


# ---- structure ------------------------------------------------------------------------------------------------


def both(f, *args, **kwargs):
    return func.jacrev(f, **kwargs)(*args), func.jacfwd(f, **kwargs)(*args)


def test_containers_and_several_arguments():
    f = lambda d, y: {"o": d["w"] * y, "p": [d["w"].sum() * d["b"]]}
    tree = {"w": X, "b": gw.tensor([[2.0]], dtype=gw.float64)}
    for j in both(f, tree, V):
        close(j["o"]["w"], gw.diag(V))
        assert j["p"][0]["b"].shape == (1, 1, 1, 1)
        close(j["p"][0]["w"], gw.full((1, 1, 3), 2.0, dtype=gw.float64))
    for j in both(f, tree, V, argnums=(1, 0)):
        close(j["o"][0], gw.diag(X))
        close(j["o"][1]["w"], gw.diag(V))
        close(j["p"][0][0], gw.zeros(1, 1, 3, dtype=gw.float64))
    for j in both(f, tree, V, argnums=-1):
        close(j["o"], gw.diag(X))
    whole = func.jacfwd(f, argnums=None)(tree, V)
    close(whole["o"][0]["w"], gw.diag(V))


def test_shapes_without_dims_and_without_entries():
    for j in both(lambda x: x * x, gw.tensor(3.0)):
        assert j.shape == ()
        assert j == 6
    for j in both(lambda x: x.sum(), gw.zeros(0)):
        assert j.shape == (0,)
    for j in both(lambda x: x[:0], X):
        assert j.shape == (0, 3)


@pytest.mark.parametrize("chunk_size", [None, 1, 2, 4, 100])
@pytest.mark.parametrize("ahead", [False, True])
def test_chunks(chunk_size, ahead):
    f = lambda x: (x * x.sum(), x.sin().sum())
    first, second = func.jacrev(f, chunk_size=chunk_size, _preallocate_and_copy=ahead)(X)
    close(first, gw.eye(3, dtype=gw.float64) * X.sum() + X.unsqueeze(1))
    close(second, X.cos())


def test_aux():
    f = lambda x: (x * x, {"y": x + 1, "n": 3})
    for j, aux in both(f, X, has_aux=True):
        close(j, gw.diag(2 * X))
        close(aux["y"] * 1, X + 1)
        assert aux["n"] == 3


def test_a_result_has_a_history_only_from_outside():
    w = V.clone().requires_grad_()
    for j in both(lambda x: (x * x).sin(), X):
        assert not j.requires_grad
    for j in both(lambda x: w * x * x, X):
        close(gw.autograd.grad(j.sum(), w)[0], 2 * X)
    x = X.clone().requires_grad_()
    for j in (*both(lambda x: x**3, x), func.hessian(lambda x: (x**4).sum() / 4)(x)):
        assert j.requires_grad
        gw.autograd.grad(j.sum(), x)
    with gw.no_grad():
        for j in both(lambda x: w * x * x, x):
            assert not j.requires_grad
            close(j, gw.diag(2 * w * x).detach())


def test_randomness_is_vmap_s():
    j = func.jacfwd(lambda x: x * gw.rand(3), randomness="same")(gw.ones(3))
    assert gw.equal(j, gw.diag(gw.diagonal(j)))
    with pytest.raises(RuntimeError, match="random"):
        func.jacfwd(lambda x: x * gw.rand(3))(gw.ones(3))


BAD = {
    "a chunk of none": lambda f, x, T: f.jacrev(T.sin, chunk_size=0),
    "complex in": lambda f, x, T: f.jacrev(T.abs)(x.to(T.complex128)),
    "complex in, forward": lambda f, x, T: f.jacfwd(T.abs)(x.to(T.complex128)),
    "complex out": lambda f, x, T: f.jacrev(lambda x: x.to(T.complex128))(x),
    "complex out, forward": lambda f, x, T: f.jacfwd(lambda x: x.to(T.complex128))(x),
    "whole numbers": lambda f, x, T: f.jacrev(lambda x: x * 1.0)(T.arange(3)),
    "whole numbers, forward": lambda f, x, T: f.jacfwd(lambda x: x * 1.0)(T.arange(3)),
    "no such argument": lambda f, x, T: f.jacfwd(T.sin, argnums=1)(x),
    "no argument": lambda f, x, T: f.jacrev(T.sin, argnums=())(x),
    "no tensor comes out": lambda f, x, T: f.jacrev(lambda x: 3)(x),
    "no tensor comes out, forward": lambda f, x, T: f.jacfwd(lambda x: 3)(x),
    "nothing comes out": lambda f, x, T: f.jacrev(lambda x: None)(x),
    "no pair": lambda f, x, T: f.jacrev(T.sin, has_aux=True)(x),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_are_pytorch_s(name, torch):
    refused_alike(BAD[name], torch)


# ---- levels in each other --------------------------------------------------------------------------------------


def nestings(T):
    """Ways to nest transforms, each a program of one tensor of shape (3,)."""
    f = T.func
    vector = lambda x: T.stack([x.sum() * x[0], (x * x).prod(), x[1].exp()]) * x
    scalar = lambda x: ((x.sin() * x.exp()).sum() * x[0]).tanh() + (x[1:] * x[:-1]).prod()
    v = t(T, (3,), 7)
    push = lambda g: lambda x: f.jvp(g, (x,), (v,))[1]
    rows = lambda x: T.stack([x, x * 2, x - 1])
    yield "grad of jvp", f.grad(push(scalar))
    yield "jvp of grad", push(f.grad(scalar))
    yield "jvp of grad of jvp", push(f.grad(push(scalar)))
    yield "grad of jvp of grad", f.grad(lambda x: (push(f.grad(scalar))(x) * v).sum())
    yield "vmap of grad", lambda x: f.vmap(f.grad(scalar))(rows(x))
    yield "grad of vmap", f.grad(lambda x: f.vmap(scalar)(rows(x)).sum())
    yield "vmap of jvp", lambda x: f.vmap(push(vector))(rows(x))
    yield "jvp of vmap", lambda x: f.jvp(f.vmap(vector), (rows(x),), (rows(v),))[1]
    yield "vmap of jvp of grad", lambda x: f.vmap(push(f.grad(scalar)))(rows(x))
    yield "grad of vmap of grad", f.grad(lambda x: (f.vmap(f.grad(scalar))(rows(x)) ** 2).sum())
    yield "jvp of vmap of grad", push(lambda x: f.vmap(f.grad(scalar))(rows(x)))
    yield "vjp in vmap", lambda x: f.vmap(lambda x: f.vjp(vector, x)[1](v)[0])(rows(x))
    yield "vmap of a vjp_fn", lambda x: f.vmap(f.vjp(vector, x)[1])(rows(v))[0]
    yield "grad by the cotangent", lambda x: f.grad(lambda c: (f.vjp(vector, x)[1](c)[0] ** 2).sum())(v)
    yield "jvp by the cotangent", lambda x: f.jvp(lambda c: f.vjp(vector, x)[1](c)[0], (v,), (x,))[1]
    for one in ("jacrev", "jacfwd"):
        for other in ("jacrev", "jacfwd"):
            inner, outer = getattr(f, other), getattr(f, one)
            yield f"{one} of {other}", outer(inner(vector))
            yield f"vmap of {one} of {other}", lambda x, J=outer, K=inner: f.vmap(J(K(vector)))(rows(x))
            yield f"{one} of vmap of {other}", outer(lambda x, K=inner: f.vmap(K(vector))(rows(x)))
            yield f"grad of {one} of {other}", f.grad(lambda x, J=outer, K=inner: (J(K(vector))(x) ** 2).sum())
    yield "vmap of hessian", lambda x: f.vmap(f.hessian(scalar))(rows(x))
    yield "third derivatives", f.jacfwd(f.hessian(scalar))


def test_levels_nest_in_any_order(torch):
    for (_, ours), (_, theirs) in zip(nestings(gw), nestings(torch), strict=True):
        expected = outcome(torch, lambda T, f=theirs: f(t(T, (3,), 1)))
        outcome(gw, lambda T, f=ours: f(t(T, (3,), 1))).is_like(expected)


def test_a_history_goes_on_through_all_levels(torch):
    def backward(T, f):
        x = t(T, (3,), 1, grad=True)
        return T.autograd.grad((f(x) ** 2).sum(), x)

    for (_, ours), (_, theirs) in zip(nestings(gw), nestings(torch), strict=True):
        outcome(gw, lambda T, f=ours: backward(T, f)).is_like(outcome(torch, lambda T, f=theirs: backward(T, f)))


class Sine(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gw.from_numpy(np.sin(x.numpy()))

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return gw.from_numpy(g.numpy() * np.cos(x.numpy()))


@pytest.mark.parametrize("chunk_size", [None, 2])
def test_a_backward_by_numbers_runs_for_one_row_after_another(chunk_size):
    f = lambda x, y: Sine.apply(x * y.sum()) * y
    with pytest.warns(gw.GradientWarning, match="jacrev: the backward of a Function asks for numbers"):
        a, b = func.jacrev(f, (0, 1), chunk_size=chunk_size)(X, V)
    x, y = func.jacrev(lambda x, y: (x * y.sum()).sin() * y, (0, 1))(X, V)
    close(a, x)
    close(b, y)


def test_a_hook_that_writes_a_row_of_a_batch_into_what_lives_on_is_refused():
    sums, w = gw.zeros(2), gw.tensor([1.0, 2.0], requires_grad=True)

    def f(x):
        y = x * x
        y.register_hook(sums.add_)
        return y

    with pytest.raises(RuntimeError, match="lives on after the function"):
        func.jacrev(f)(gw.tensor([1.0, 2.0]))
    with pytest.raises(RuntimeError, match="lives on after the function"):
        gw.autograd.grad(f(w), w, gw.eye(2), is_grads_batched=True)
    assert sums.tolist() == [0.0, 0.0]


def test_a_gradient_that_backward_fills_in_place_is_no_such_thing():
    class Filled(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, g):
            out = gw.zeros(2)
            out[:] = g * 2
            return out

    assert func.jacrev(Filled.apply)(gw.tensor([1.0, 2.0])).tolist() == [[2.0, 0.0], [0.0, 2.0]]


def test_rows_one_by_one_are_a_loop():
    seen = []

    class Numbers(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.exp()

        @staticmethod
        def backward(ctx, g):
            seen.append(g.tolist())
            return g * ctx.saved_tensors[0].exp()

    x = gw.arange(3.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert func.jacrev(Numbers.apply, chunk_size=1)(x).allclose(x.exp().diag())
    assert seen == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("chunk_size", [1, 40])
def test_rows_in_chunks_take_the_memory_of_the_jacobian_alone(chunk_size):
    x = gw.rand(400, dtype=gw.float64)
    jacobian = func.jacrev(lambda x: x.sin() * x.sum(), chunk_size=chunk_size)
    tracemalloc.start()
    try:
        found = jacobian(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.6 * found.array.nbytes
    assert found.allclose(x.sin()[:, None] + (x.cos() * x.sum()).diag())
