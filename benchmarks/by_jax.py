"""Steps compiled over JAX's arrays, against the same steps written by hand in JAX: one `jax.jit`, its state donated.

A sample is of ten steps, of which the last one's result is waited for. Without JAX there are no such cases.
"""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

import gradwright
from benchmarks.compiled import fit
from benchmarks.runner import Case, timed

_WARM, _STEPS = 6, 10
_SIZES = 784, 256, 128, 10
Run = Callable[[], Any]


def _case(name: str, ours: Callable[[], Run], hand: Callable[[Any], Run], limit: float | None) -> Case:
    """``ours`` makes a step of tensors on JAX's device, ``hand(jax)`` the same; what both give must agree."""

    def waited(step: Run) -> Callable[[], None]:
        def run() -> None:
            for _ in range(_STEPS):
                found = step()
            found.block_until_ready()

        return run

    def both(lib: Any) -> Callable[[], None]:
        theirs = hand(importlib.import_module("jax"))
        found = [np.asarray(theirs()) for _ in range(_WARM)]
        if lib is not gradwright:
            return waited(theirs)
        step = gradwright.compile(ours(), fullgraph=True)
        for expected in found:
            got = step().cpu().detach().numpy()
            np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3 * float(np.abs(expected).max()))
        return waited(lambda: step().array)

    return timed(f"compiled (xla) / JAX by hand: {name}", limit=limit, per=_STEPS)(both)


# -- the fit --


def _fit(points: int) -> Run:
    with gradwright.device("jax:0"):
        return fit(gradwright, points)


def _fit_by_hand(jax: Any, points: int) -> Run:
    x = jax.device_put(np.linspace(-math.pi, math.pi, points, dtype=np.float32))
    y, rate = jax.numpy.sin(x), 0.01 / points

    @jax.custom_vjp
    def p3(x: Any) -> Any:
        return 0.5 * (5 * x**3 - 3 * x)

    p3.defvjp(lambda x: (p3(x), x), lambda x, g: (g * 1.5 * (5 * x**2 - 1),))

    def loss(params: Any, x: Any, y: Any) -> Any:
        a, b, c, d = params
        return ((a + b * p3(c + d * x) - y) ** 2).sum()

    def step(params: Any, x: Any, y: Any) -> Any:
        value, slopes = jax.value_and_grad(loss)(params, x, y)
        return [p - rate * g for p, g in zip(params, slopes, strict=True)], value

    return _kept(jax, step, [jax.device_put(np.float32(v)) for v in (0.0, -1.0, 0.0, 0.3)], x, y)


def _kept(jax: Any, step: Any, state: Any, *args: Any) -> Run:
    """The calls of a step of its own state, which it uses up."""
    made, held = jax.jit(step, donate_argnums=0), [state]

    def run() -> Any:
        held[0], value = made(held[0], *args)
        return value

    return run


# -- a network --


def _data(sizes: tuple[int, ...], batch: int) -> tuple[Any, list[Any], list[Any]]:
    """A batch, and for each layer a matrix and a bias."""
    draw = np.random.default_rng(0)
    weights = [draw.standard_normal((n, m)).astype(np.float32) / m**0.5 for m, n in pairwise(sizes)]
    return (draw.standard_normal((batch, sizes[0])).astype(np.float32), weights,
            [np.zeros(n, np.float32) for n in sizes[1:]])  # fmt: skip


def _labels() -> Any:
    return np.random.default_rng(1).integers(0, 10, 128)


def _network(make: Callable[[Any], Any]) -> Run:
    nn = gradwright.nn
    x, weights, biases = _data(_SIZES, 128)
    layers = [nn.Linear(m, n) for m, n in pairwise(_SIZES)]
    for layer, w, b in zip(layers, weights, biases, strict=True):
        layer.load_state_dict({"weight": gradwright.from_numpy(w), "bias": gradwright.from_numpy(b)})
    net = nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2]).to("jax:0")
    optimizer = make(net.parameters())
    x, y = gradwright.tensor(x).to("jax:0"), gradwright.tensor(_labels()).to("jax:0")

    def step() -> Any:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss

    return step


def _network_by_hand(jax: Any, adam: bool) -> Run:
    np_, tree = jax.numpy, jax.tree.map
    x, weights, biases = _data(_SIZES, 128)
    params, x, y = jax.device_put((list(zip(weights, biases, strict=True)), x, _labels()))

    def loss(params: Any, x: Any, y: Any) -> Any:
        for k, (w, b) in enumerate(params):
            x = x @ w.T + b
            x = jax.nn.relu(x) if k < 2 else x
        return -np_.take_along_axis(jax.nn.log_softmax(x), y[:, None], 1).mean()

    def by_sgd(state: Any, x: Any, y: Any) -> Any:
        params, moved = state
        value, slopes = jax.value_and_grad(loss)(params, x, y)
        moved = tree(lambda m, g: 0.9 * m + g, moved, slopes)
        return (tree(lambda p, m: p - 0.01 * m, params, moved), moved), value

    def by_adam(state: Any, x: Any, y: Any) -> Any:
        params, first, second, t = state
        value, slopes = jax.value_and_grad(loss)(params, x, y)
        t = t + 1
        first = tree(lambda m, g: 0.9 * m + 0.1 * g, first, slopes)
        second = tree(lambda v, g: 0.999 * v + 0.001 * g * g, second, slopes)
        a, b = 1 - 0.9**t, 1 - 0.999**t
        params = tree(lambda p, m, v: p - 1e-3 * (m / a) / (np_.sqrt(v / b) + 1e-8), params, first, second)
        return (params, first, second, t), value

    zeros = partial(tree, np_.zeros_like, params)
    if adam:
        return _kept(jax, by_adam, (params, zeros(), zeros(), jax.device_put(np.float32(0))), x, y)
    return _kept(jax, by_sgd, (params, zeros()), x, y)


# -- a Hessian-vector product --


def _product() -> Run:
    x, *parts = _data((20, 50, 50, 1), 64)
    x = gradwright.tensor(x).to("jax:0")
    params = [gradwright.tensor(p).to("jax:0").requires_grad_() for p in sum(zip(*parts, strict=True), ())]
    vectors, grad = [gradwright.ones_like(p) for p in params], gradwright.autograd.grad

    def step() -> Any:
        w1, b1, w2, b2, w3, b3 = params
        h = gradwright.tanh(gradwright.tanh(x @ w1.t() + b1) @ w2.t() + b2)
        slopes = grad(((h @ w3.t() + b3) ** 2).mean(), params, create_graph=True)
        return grad(sum((s * v).sum() for s, v in zip(slopes, vectors, strict=True)), params)[0]

    return step


def _product_by_hand(jax: Any) -> Run:
    np_ = jax.numpy
    x, *parts = _data((20, 50, 50, 1), 64)
    x, params = jax.device_put((x, list(sum(zip(*parts, strict=True), ()))))
    vectors = [np_.ones_like(p) for p in params]

    def loss(params: Any, x: Any) -> Any:
        w1, b1, w2, b2, w3, b3 = params
        h = np_.tanh(np_.tanh(x @ w1.T + b1) @ w2.T + b2)
        return ((h @ w3.T + b3) ** 2).mean()

    def along(params: Any, vectors: Any, x: Any) -> Any:
        return sum((g * v).sum() for g, v in zip(jax.grad(loss)(params, x), vectors, strict=True))

    made = jax.jit(jax.grad(along))
    return lambda: made(params, vectors, x)[0]


if importlib.util.find_spec("jax") is not None:
    SGD, ADAM = partial(gradwright.optim.SGD, lr=0.01, momentum=0.9), partial(gradwright.optim.Adam, lr=1e-3)
    small = _case("Legendre step, 2,000 points", partial(_fit, 2_000), partial(_fit_by_hand, points=2_000), None)
    large = _case("Legendre step, 1,000,000 points", partial(_fit, 1_000_000),
                  partial(_fit_by_hand, points=1_000_000), 1.05)  # fmt: skip
    sgd = _case("MLP step, SGD", partial(_network, SGD), partial(_network_by_hand, adam=False), 1.05)
    adam = _case("MLP step, Adam", partial(_network, ADAM), partial(_network_by_hand, adam=True), 1.05)
    product = _case("Hessian-vector product", _product, _product_by_hand, 1.05)
