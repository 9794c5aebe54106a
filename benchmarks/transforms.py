"""Functions made of functions, against torch.func: Jacobians, Hessians, products with them, per-sample gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.runner import timed


def numbers(lib: Any, *shape: int, seed: int = 0) -> Any:
    return lib.tensor(np.random.default_rng(seed).standard_normal(shape))


def layer(lib: Any) -> tuple[Any, Any]:
    """A function from 100 numbers to 100, and where it is differentiated."""
    weight = numbers(lib, 100, 100) / 10
    return lambda x: (weight @ x).tanh(), numbers(lib, 100, seed=1)


def energy(lib: Any) -> tuple[Any, Any]:
    """A function of 50 numbers, and where it is differentiated."""
    weight = numbers(lib, 50, 50) / 10
    return lambda x: ((weight @ x).tanh() ** 2).sum() + (x.sin() * x).sum(), numbers(lib, 50, seed=1)


@timed("jacrev, 100 by 100", limit=1.0)
def jacrev(lib: Any) -> Any:
    f, x = layer(lib)
    return lambda: lib.func.jacrev(f)(x)


@timed("jacfwd, 100 by 100", limit=1.0)
def jacfwd(lib: Any) -> Any:
    f, x = layer(lib)
    return lambda: lib.func.jacfwd(f)(x)


@timed("a batched Jacobian, 20 of 100 by 100", limit=1.0)
def batched_jacobian(lib: Any) -> Any:
    f, _ = layer(lib)
    xs = numbers(lib, 20, 100, seed=1)
    return lambda: lib.func.vmap(lib.func.jacrev(f))(xs)


@timed("a Hessian of 50 parameters", limit=1.0)
def hessian(lib: Any) -> Any:
    f, x = energy(lib)
    return lambda: lib.func.hessian(f)(x)


@timed("a Hessian-vector product, forward over reverse", limit=1.0)
def hessian_vector_product(lib: Any) -> Any:
    f, x = energy(lib)
    v = numbers(lib, 50, seed=2)
    return lambda: lib.func.jvp(lib.func.grad(f), (x,), (v,))[1]


@timed("gradients of each sample, MLP", limit=1.0)
def gradients_of_each_sample(lib: Any) -> Any:
    shapes = {"w1": (20, 32), "b1": (32,), "w2": (32, 32), "b2": (32,), "w3": (32, 1)}
    parameters = {name: numbers(lib, *shape, seed=k) / 4 for k, (name, shape) in enumerate(shapes.items())}
    xs, ys = numbers(lib, 64, 20, seed=8), numbers(lib, 64, 1, seed=9)

    def loss(p: Any, x: Any, y: Any) -> Any:
        h = (x @ p["w1"] + p["b1"]).tanh()
        h = (h @ p["w2"] + p["b2"]).tanh()
        return ((h @ p["w3"] - y) ** 2).sum()

    each = lib.func.vmap(lib.func.grad(loss), in_dims=(None, 0, 0))
    return lambda: each(parameters, xs, ys)["w1"]
