"""Every nesting of transforms keeps what it captures: weights that require grad, and Functions without a jvp."""

from itertools import product

import numpy as np
import pytest

import gradwright as gw
from gradwright.func import grad, jacfwd, jacrev, jvp, vmap
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
    for pair in SAME:
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
