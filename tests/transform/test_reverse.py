"""grad, grad_and_value, vjp and linearize: against analytic truth, PyTorch, and the rules of what has a history."""

from collections import namedtuple
from dataclasses import dataclass

import pytest

import gradwright as gw
from gradwright import func
from gradwright.utils.checkpoint import checkpoint
from tests.transform.programs import by_slope, close, function, keeping, kept, outcome, refused_alike, t

F64 = {"dtype": gw.float64}
X = gw.tensor([0.3, -0.4, 0.7], **F64)
V = gw.tensor([1.0, 2.0, -1.0], **F64)
Pair = namedtuple("Pair", ["left", "right"])


@dataclass
class State:
    mean: gw.Tensor
    scale: gw.Tensor


def test_derivatives_of_derivatives():
    x = gw.tensor(0.5, **F64)
    f, truth = gw.sin, [x.cos(), -x.sin(), -x.cos(), x.sin()]
    for expected in truth:
        f = func.grad(f)
        close(f(x), expected)


def test_the_value_comes_along():
    slope, (value, aux) = func.grad_and_value(lambda x: ((x * x).sum(), {"x": x, "n": 3}), has_aux=True)(X)
    close(slope, 2 * X)
    close(value, (X * X).sum())
    close(aux["x"], X)
    assert aux["n"] == 3
    assert not any(t.requires_grad for t in (slope, value, aux["x"]))
    assert func.grad(lambda x: (x.sum(), "beside"), has_aux=True)(X)[1] == "beside"


def test_arguments_in_containers():
    tree = {"w": X, "rest": [Pair(V, X * 2)]}
    slopes = func.grad(lambda d: (d["w"] * d["rest"][0].left).sum() + (d["rest"][0].right ** 2).sum())(tree)
    assert type(slopes["rest"][0]) is Pair
    close(slopes["w"], V)
    close(slopes["rest"][0].left, X)
    close(slopes["rest"][0].right, 4 * X)
    state = func.grad(lambda s: (s.mean * s.scale).sum())(State(X, V))
    assert type(state) is State
    close(state.mean, V)


def test_several_arguments():
    f = lambda x, y, power=1: (x * y**power).sum()
    by_both = func.grad(f, argnums=(1, 0))(X, V, power=2)
    close(by_both[0], 2 * X * V)
    close(by_both[1], V**2)
    close(func.grad(f, argnums=-1)(X, V), X)


@pytest.mark.parametrize("argnums", [2, -3, (), (0, 0), (0, 5), 1.0, [0], (0, "1")])
def test_arguments_that_are_not_there(argnums):
    with pytest.raises(RuntimeError, match="argnum"):
        func.grad(lambda x, y: (x * y).sum(), argnums=argnums)(X, V)


def test_nothing_of_the_inside_is_confused_with_the_outside():
    one, three = gw.tensor(1.0, **F64), gw.tensor(3.0, **F64)
    grad = func.grad
    assert grad(lambda x: x * grad(lambda y: x + y)(one))(one) == 1  # d/dx [x (d/dy (x + y))] = 1
    assert grad(lambda x: x * grad(lambda y: x * y)(x))(three) == 6  # d/dx [x x]
    assert func.jvp(lambda x: x * func.jvp(lambda y: x + y, (one,), (one,))[1], (one,), (one,))[1] == 1
    assert grad(lambda x: x * func.jvp(lambda y: x * y, (x,), (one,))[1])(three) == 6
    assert func.jvp(lambda x: x * grad(lambda y: x * y)(x), (three,), (one,))[1] == 6
    shift = lambda d: lambda g: lambda x: g(x + d)  # ForwardDiff.jl 83, and Siskind & Pearlmutter's
    curry = func.jvp(lambda s: func.jvp(lambda y: s * y.exp(), (one,), (one,))[1], (three,), (one,))[1]
    close(curry, one.exp())
    nested = grad(lambda d: shift(d)(lambda x: grad(lambda e: shift(e)(gw.exp)(x))(one * 0))(one))(one * 0)
    close(nested, one.exp())


# ---- what has a history --------------------------------------------------------------------------------------


def test_a_result_has_a_history_only_from_outside():
    f = lambda x: (x**3).sum()
    assert not func.grad(f)(X).requires_grad
    x = X.clone().requires_grad_()
    slope, value = func.grad_and_value(f)(x)
    close(gw.autograd.grad(slope.sum(), x)[0], 6 * X)
    close(gw.autograd.grad(value, x)[0], 3 * X**2)
    w = V.clone().requires_grad_()
    slope = func.grad(lambda x: (w * x * x).sum())(X)
    close(gw.autograd.grad(slope.sum(), w)[0], 2 * X)
    assert not func.grad(lambda x: (x * x).sum() + w.sum())(X).requires_grad
    out, pull = func.vjp(lambda x: x * x, X)
    assert not out.requires_grad
    assert not pull(V)[0].requires_grad
    assert not func.vmap(pull)(gw.stack([V, V]))[0].requires_grad
    c = V.clone().requires_grad_()
    close(gw.autograd.grad(pull(c)[0].sum(), c)[0], 2 * X)
    with gw.no_grad():
        assert not func.grad(f)(x).requires_grad
        assert not func.vjp(lambda x: x * w, x)[0].requires_grad


def test_the_caller_s_mode_does_not_matter():
    f = lambda x: (x**3).sum()
    for mode in (gw.no_grad, gw.inference_mode):
        with mode():
            close(func.grad(f)(X), 3 * X**2)
            close(func.grad(lambda x: func.grad(f)(x).sum())(X), 6 * X)
            close(func.vjp(f, X)[1](gw.tensor(2.0, **F64))[0], 6 * X**2)
            assert gw.is_inference_mode_enabled() is (mode is gw.inference_mode)
            assert not gw.is_grad_enabled()
    with gw.inference_mode():
        x = X * 1
        close(func.grad(f)(x), 3 * X**2)


def test_no_grad_inside_is_respected():
    def f(x):
        with gw.no_grad():
            c = x**2
        return (x**2 - c).sum()

    close(func.grad(f)(X), 2 * X)
    with gw.no_grad():
        close(func.grad(f)(X), 2 * X)
    close(func.grad(lambda x: func.grad(f)(x).sum())(X), gw.full((3,), 2.0, **F64))

    def outer(x):
        with gw.no_grad():
            return func.grad(lambda y: (y**3).sum())(x).sum() * 1

    close(func.grad(lambda x: outer(x) + x.sum())(X), gw.ones(3, **F64))


def test_nothing_is_accumulated():
    x, w = X.clone().requires_grad_(), V.clone().requires_grad_()
    func.grad(lambda x: (w * x).sum())(x)
    func.vjp(lambda x: w * x, x)[1](V)
    assert x.grad is None
    assert w.grad is None


def test_a_graph_inside_is_gone_with_the_call(no_gc):
    import weakref

    held = []

    def f(x):
        y = x.exp()
        held.append(weakref.ref(y))
        return y.sum()

    func.grad(f)(X)
    assert held[0]() is None


# ---- inputs and what functions do with them ------------------------------------------------------------------


def test_writes_inside():
    def f(x):
        y = x * 1
        y[1:] *= x[:-1]
        y.view(-1)[0].mul_(x[2])
        return y.sum()

    truth = lambda x: x[0] * x[2] + x[1] * x[0] + x[2] * x[1]
    close(func.grad(f)(X), func.grad(truth)(X))
    close(func.hessian(f)(X), func.hessian(truth)(X))


def test_an_input_is_not_written_to():
    for x in (X.clone(), X.clone().requires_grad_(), X.clone().requires_grad_() * 1):
        with pytest.raises(RuntimeError, match=r"in-place|inplace"):
            func.grad(lambda x: x.mul_(2).sum())(x)
        close(x, X)


def test_a_write_between_vjp_and_the_way_back_is_noticed():
    x = X.clone()
    _, pull = func.vjp(lambda x: x.sin(), x)
    x.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        pull(V)


def test_views_and_identities():
    base = gw.arange(6.0, **F64)
    close(func.grad(lambda x: (x * x).sum())(base[::2]), 2 * base[::2])
    out, pull = func.vjp(lambda x: x, X)
    close(out, X)
    close(pull(V)[0], V)
    out, pull = func.vjp(lambda x: (x[1:], x), X)
    close(pull((V[1:], V))[0], V + gw.tensor([0.0, 2.0, -1.0], **F64))


def test_checkpoint_and_detach():
    f = lambda x: (checkpoint(gw.sin, x, use_reentrant=False) * x.detach()).sum()
    close(func.grad(f)(X), X.cos() * X)
    close(func.grad(lambda x: checkpoint(lambda x: x.sin().sum(), x, use_reentrant=False))(X), X.cos())


def test_what_does_not_depend_on_the_input_gives_zeros():
    close(func.grad(lambda x: V.sum())(X), X * 0)
    close(func.grad(lambda x, y: x.sum(), argnums=(0, 1))(X, V)[1], X * 0)
    close(func.vjp(lambda x: (V * 1, x), X)[1]((V, V))[0], V)


thrice = by_slope(lambda x: 3 * x * x)
Cube = function("Cube", keeping(lambda x: x**3), thrice)
CubeWithSetup = function("CubeWithSetup", lambda x: x**3, thrice, setup_context=kept)


@pytest.mark.parametrize("cls", [Cube, CubeWithSetup])
def test_functions_in_both_forms(cls):
    f = lambda x: cls.apply(x)
    close(func.grad(lambda x: f(x).sum())(X), 3 * X**2)
    close(func.grad(lambda x: func.grad(lambda x: f(x).sum())(x).sum())(X), 6 * X)
    close(func.jvp(f, (X,), (V,))[1], 3 * X**2 * V)
    for jacobian in (func.jacrev, func.jacfwd):
        close(jacobian(f)(X), gw.diag(3 * X**2))
    for hessian in (func.hessian, lambda f: func.jacrev(func.jacrev(f)), lambda f: func.jacfwd(func.jacfwd(f)),
                    lambda f: func.jacrev(func.jacfwd(f))):  # fmt: skip
        close(hessian(lambda x: f(x).sum())(X), gw.diag(6 * X))
    close(func.linearize(f, X)[1](V), 3 * X**2 * V)


def test_complex_inputs_are_pytorch_s(torch):
    def program(T):
        f = T.func
        z, w = t(T, (3,), 1, dtype="complex128"), t(T, (3,), 2, dtype="complex128")
        function = lambda z: z * z.conj() * z.exp()
        out, pull = f.vjp(function, z)
        return out, pull(w)[0], f.grad(lambda z: function(z).abs().sum())(z), f.jvp(function, (z,), (w,))[1]

    outcome(gw, program).is_like(outcome(torch, program))


# ---- the way back --------------------------------------------------------------------------------------------


def test_the_way_back_may_be_gone_any_number_of_times():
    out, pull, aux = func.vjp(lambda x, d: ({"a": x * d["b"], "s": x.sum()}, V), X, {"b": V}, has_aux=True)
    for _ in range(2):
        by_x, by_d = pull({"a": X, "s": gw.tensor(2.0, **F64)})
        close(by_x, X * V + 2)
        close(by_d["b"], X * X)
    close(out["a"], X * V)
    assert aux is V
    pull({"a": X, "s": gw.tensor(2.0, **F64)}, retain_graph=False)
    with pytest.raises(RuntimeError, match="second time"):
        pull({"a": X, "s": gw.tensor(2.0, **F64)})


def test_linearize_is_jvp_at_one_point():
    calls = []

    def f(x, d):
        calls.append(1)
        return x.sin() * d["w"], {"s": (x * d["w"]).sum()}

    out, push = func.linearize(f, X, {"w": V})
    assert len(calls) == 1
    for a, b in ((V, X), (X, X * 2)):
        tangents = push(a, {"w": b})
        values, expected = func.jvp(f, (X, {"w": V}), (a, {"w": b}))
        close(tangents[0], expected[0])
        close(tangents[1]["s"], expected[1]["s"])
        close(out[1]["s"], values[1]["s"])
    assert len(calls) == 3
    jacobian = func.vmap(lambda a: push(a, {"w": V * 0})[0])(gw.eye(3, **F64))
    close(jacobian, gw.diag(X.cos() * V))
    x = X.clone().requires_grad_()
    close(gw.autograd.grad(func.linearize(gw.sin, x)[1](V).sum(), x)[0], -X.sin() * V)


# ---- errors ---------------------------------------------------------------------------------------------------

BAD = {
    "several numbers": lambda f, x, T: f.grad(lambda x: x)(x),
    "one number with a dim": lambda f, x, T: f.grad(lambda x: x.sum().reshape(1))(x),
    "no tensor": lambda f, x, T: f.grad(lambda x: 3.0)(x),
    "nothing": lambda f, x, T: f.vjp(lambda x: None, x),
    "nothing in a tuple": lambda f, x, T: f.vjp(lambda x: (), x),
    "no tensor in a list": lambda f, x, T: f.vjp(lambda x: [x, 1.0], x),
    "whole numbers": lambda f, x, T: f.grad(lambda x: x.sum())(T.arange(3)),
    "whole numbers out": lambda f, x, T: f.vjp(lambda x: (x, x > 0), x),
    "no pair": lambda f, x, T: f.grad(lambda x: x.sum(), has_aux=True)(x),
    "no tensor among the inputs": lambda f, x, T: f.grad(lambda d: d["w"][1].sum())({"w": [1.0, x]}),
    "another structure": lambda f, x, T: f.vjp(lambda x: (x, x), x)[1](x),
    "another shape": lambda f, x, T: f.vjp(lambda x: x, x)[1](x[:2]),
    "tangents of another structure": lambda f, x, T: f.linearize(T.sin, x)[1](x, x),
    "tangents of another shape": lambda f, x, T: f.linearize(T.sin, x)[1](x[:2]),
    "tangents of another dtype": lambda f, x, T: f.linearize(T.sin, x)[1](x.float()),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_are_pytorch_s(name, torch):
    refused_alike(BAD[name], torch)


@pytest.mark.parametrize(
    ("program", "path"),
    [
        (lambda: func.grad(lambda x, d: x.sum(), argnums=1)(X, {"w": [X, 1]}), r'inputs\[1\]\["w"\]\[1\]'),
        (lambda: func.vjp(lambda d: d["w"], {"w": gw.arange(3)}), r'inputs\[0\]\["w"\]'),
        (lambda: func.vjp(lambda x: {"a": [x, 1]}, X), r'outputs\["a"\]\[1\]'),
        (lambda: func.vjp(lambda x: {"a": x > 0}, X), r'outputs\["a"\]'),
        (lambda: func.vjp(lambda x: {"a": x}, X)[1]({"a": V[:2]}), r'cotangents\["a"\]'),
        (lambda: func.linearize(lambda d: d["a"], {"a": X})[1]({"a": V[:2]}), r'tangents\[0\]\["a"\]'),
        (lambda: func.vjp(lambda x: {"a": x}, X)[1]({"a": 1.0}), r'Tensor as cotangents\["a"\], but got'),
        (lambda: func.linearize(lambda d: d["a"], {"a": X})[1]({"a": 1.0}), r'Tensor as tangents\[0\]\["a"\], but got'),
    ],
)
def test_errors_name_the_path(program, path):
    with pytest.raises((RuntimeError, TypeError, ValueError), match=path):
        program()


def test_a_way_back_from_under_no_grad(torch):
    def program(T):
        x, one = t(T, (), 1, grad=True), T.tensor(1.0, dtype=T.float64)
        with T.no_grad():
            out, pull = T.func.vjp(lambda x: x**2, x)
        (y,) = pull(one)
        later, pull = T.func.vjp(lambda x: x**2, x)
        with T.no_grad():
            (z,) = pull(one)
        return out, y, T.autograd.grad(y, x)[0], z, later

    outcome(gw, program).is_like(outcome(torch, program))


def test_nothing_is_recorded_outside_in_vain():
    seen = []

    def loss(w, x):
        seen.append(func.debug_unwrap(w * x, recurse=False))
        seen.append(func.debug_unwrap(w.exp() * x, recurse=False))
        return (w * x).sum()

    each = func.vmap(func.grad(loss), in_dims=(None, 0))
    xs = gw.stack([X, V])
    close(each(X, xs), xs)
    assert not any(t.requires_grad for t in seen)
    seen.clear()
    w = X.clone().requires_grad_()
    close(gw.autograd.grad((each(w, xs) * w).sum(), w)[0], xs.sum(0))
    assert all(t.requires_grad for t in seen)


@pytest.mark.parametrize("cls", [Cube, CubeWithSetup])
def test_functions_under_vmap(cls):
    xs = gw.stack([X, V])
    close(func.vmap(func.grad(lambda x: cls.apply(x).sum()))(xs), 3 * xs**2)
    close(func.vmap(func.hessian(lambda x: cls.apply(x).sum()))(xs), gw.stack([gw.diag(6 * x) for x in xs]))
