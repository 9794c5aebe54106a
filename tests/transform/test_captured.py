"""Every nesting of transforms keeps what it captures: weights that require grad, and Functions without a jvp."""

from itertools import product

import numpy as np
import pytest

import gradwright as gw
from gradwright.func import grad, jacfwd, jacrev, jvp, vmap
from tests.thorough import some
from tests.transform.programs import by_slope, function, keeping, kept

X = gw.tensor([0.5, 0.8], dtype=gw.float64)
ONE = gw.ones(2, dtype=gw.float64)
TRANSFORMS = {
    "grad": lambda f: grad(lambda x: f(x).sum()),
    "jvp": lambda f: lambda x: jvp(f, (x,), (ONE,))[1],
    "jacrev": lambda f: lambda x: jacrev(f)(x).sum(-1),
    "jacfwd": lambda f: lambda x: jacfwd(f)(x).sum(-1),
    "vmap": lambda f: lambda x: vmap(f)(gw.stack([x, x]))[0],
}
NESTINGS = [names for k in (1, 2, 3) for names in product(TRANSFORMS, repeat=k)]


def nested(names, f):
    for name in reversed(names):
        f = TRANSFORMS[name](f)
    return f


Mul = function("Mul", lambda x, y: x * y, lambda ctx, g: tuple([g * x for x in ctx.saved_tensors[::-1]]),
               setup_context=kept)  # fmt: skip
Tanh = function("Tanh", gw.tanh, by_slope(lambda y: 1 - y * y),
                setup_context=lambda ctx, inputs, output: ctx.save_for_backward(output))  # fmt: skip


@pytest.mark.parametrize("names", NESTINGS, ids="-".join)
def test_captured_weights_have_their_gradients(names):
    def run(inner, outer):
        return nested(names, lambda x: (x * inner).sin() * outer)(X).sum()

    weights = [gw.tensor(w, dtype=gw.float64, requires_grad=True) for w in ([1.3, 0.7], [0.6, -0.9])]
    run(*weights).backward()
    values = [w.detach() for w in weights]
    for k, w in enumerate(weights):
        slopes = []
        for e in gw.eye(2, dtype=gw.float64) * 1e-5:
            up, down = ([v + s * e if i == k else v for i, v in enumerate(values)] for s in (1, -1))
            slopes.append(((run(*up) - run(*down)) / 2e-5).item())
        got = np.zeros(2) if w.grad is None else w.grad.numpy()
        np.testing.assert_allclose(got, slopes, rtol=1e-4, atol=1e-6)


SAME = [
    (Tanh.apply, gw.tanh),
    (lambda x: Mul.apply(x, x), gw.square),
    (lambda x: Mul.apply(x, x * x), lambda x: x**3),
    (lambda x: Mul.apply(x.sin(), Mul.apply(x, x.exp())), lambda x: x.sin() * x * x.exp()),
]


@pytest.mark.parametrize("names", NESTINGS, ids="-".join)
def test_functions_without_a_jvp_are_what_they_compute(names):
    for pair in some(SAME, 3, len("".join(names))):
        found, due = (nested(names, f)(X).numpy() for f in pair)
        np.testing.assert_allclose(found, due, rtol=1e-9, atol=1e-9)


def doubled_in_place(x):
    y = x * x
    with gw.no_grad():
        y.mul_(2)
    return y * x


@pytest.mark.parametrize("names", [n for n in NESTINGS if len(n) < 3], ids="-".join)
def test_a_write_without_history_is_that_of_each_example(names):
    one_by_one = gw.stack([nested(names, doubled_in_place)(x) for x in (X, X + 1)])
    if "vmap" not in names:
        batch = vmap(nested(names, doubled_in_place))(gw.stack([X, X + 1]))
        np.testing.assert_allclose(batch.numpy(), one_by_one.numpy())


Once = function("Once", keeping(gw.sin), gw.autograd.function.once_differentiable(by_slope(gw.cos)))


@pytest.mark.parametrize("twice", [
    lambda: jacrev(jacrev(Once.apply))(X),
    lambda: grad(lambda x: jacrev(lambda x: Once.apply(x) * x)(x).sum())(X),
    lambda: grad(lambda x: vmap(grad(Once.apply))(x).sum())(X),
])  # fmt: skip
def test_once_differentiable_is_once_at_every_level(twice):
    with pytest.raises(RuntimeError, match="once_differentiable"):
        twice()
    first = vmap(grad(Once.apply))(X)
    np.testing.assert_allclose(first.numpy(), np.cos(X.numpy()))
    assert not first.requires_grad


def test_what_is_captured_is_not_handed_out_as_a_batch():
    captured = gw.zeros(2, dtype=gw.float64)
    with pytest.raises(RuntimeError, match="lives on after the function"):
        vmap(captured.add_)(gw.stack([X, X]))
    assert captured.tolist() == [0, 0]


def sliced(a, x):
    a[:1].mul_(0).add_(x[:1])


WRITES = {
    "add_": lambda a, x: a.add_(x),
    "copy_": lambda a, x: a.copy_(x),
    "an entry": lambda a, x: a.__setitem__(0, x[0]),
    "a slice": sliced,
    "lerp_": lambda a, x: a.lerp_(x, 0.5),
    "index_add_": lambda a, x: a.index_add_(0, gw.tensor([0, 1]), x),
    "twice": lambda a, x: a.add_(x).mul_(x),
    "by a mask": lambda a, x: a.__setitem__(a < 1, x),
}
GRADS = {
    "grad": lambda f: grad(f)(X),
    "vjp": lambda f: gw.func.vjp(f, X)[1](gw.ones((), dtype=gw.float64))[0],
    "jacrev": lambda f: jacrev(f)(X),
    "grad_and_value": lambda f: gw.func.grad_and_value(f)(X)[0],
    "grad(grad)": lambda f: grad(lambda x: grad(f)(x).sum())(X),
    "hessian": lambda f: gw.func.hessian(f)(X),
    "linearize(grad)": lambda f: gw.func.linearize(grad(f), X)[1](ONE),
}


@pytest.mark.parametrize("road", GRADS)
@pytest.mark.parametrize("name", WRITES)
def test_what_is_captured_and_written_has_no_history_left(name, road):
    """Its values stay; the derivative is that with a tensor of the function's own."""
    write = WRITES[name]
    for returns in (lambda a: (a * a).sum(), lambda a: a.sum(), lambda a: a[0]):
        captured = gw.zeros(2, dtype=gw.float64)
        view, own = captured[:], gw.zeros(2, dtype=gw.float64)

        def with_captured(x, captured=captured, returns=returns):
            write(captured.zero_() if captured.grad_fn is None else captured.detach().zero_(), x)
            return returns(captured)

        def with_own(x, returns=returns):
            a = gw.zeros(2, dtype=gw.float64)
            write(a, x)
            return returns(a)

        with_own(X)
        write(own, X)
        if "(" in road or road == "hessian":
            GRADS[road](with_captured)
        else:
            assert gw.allclose(GRADS[road](with_captured), GRADS[road](with_own))
        assert captured.grad_fn is view.grad_fn is None
        assert not captured.requires_grad
        assert not view.requires_grad
        assert gw.equal(captured, own)


def test_what_is_returned_and_captured_keeps_its_derivative():
    captured = gw.zeros(2, dtype=gw.float64)
    for f in (captured.copy_, lambda x: captured.copy_(x) * 1, lambda x: captured.copy_(x)[:]):
        assert gw.equal(jacrev(f)(X), gw.eye(2, dtype=gw.float64))
        assert not captured.requires_grad


def test_what_is_written_inside_keeps_the_history_that_it_has_outside():
    def f(x, w):
        kept = gw.zeros(2, dtype=gw.float64)
        slope = grad(lambda y: (kept.copy_(y * w) * y).sum())(x)
        return (slope * kept).sum()  # 2 x w, x w

    w = gw.tensor([2.0, 3.0], dtype=gw.float64)
    assert gw.allclose(grad(f, 1)(X, w), 4 * X**2 * w)
    assert gw.allclose(grad(f)(X, w), 4 * X * w**2)
    weight, buffer = w.clone().requires_grad_(), gw.zeros(2, dtype=gw.float64)
    grad(lambda x: buffer.copy_(x * weight).sum())(X)
    buffer.sum().backward()
    assert gw.equal(weight.grad, X)


def test_a_function_that_fails_leaves_no_history_either():
    captured = gw.zeros(2, dtype=gw.float64)

    def fails(x):
        captured.add_(x)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        grad(fails)(X)
    assert not captured.requires_grad
