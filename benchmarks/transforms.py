"""Functions made of functions, against torch.func: Jacobians, Hessians, products with them, per-sample gradients."""

from __future__ import annotations

import importlib
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.runner import Case, Figure, Pace, timed


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


_LARGE = 1_000_000


def _elementwise(name: str, f: Any) -> Any:
    """Two figures of an operation: with a tangent, and plain."""

    def sampler(lib: Any, pace: Pace) -> Any:
        x, y = (numbers(lib, _LARGE, seed=k).abs() + 0.5 for k in (1, 2))
        forward_ad = importlib.import_module(f"{lib.__name__}.autograd.forward_ad")

        def fastest(x: Any) -> float:
            times = []
            for _ in range(10):
                start = perf_counter()
                f(lib, x, y)
                times.append(perf_counter() - start)
            return min(times)

        def sample() -> tuple[float, ...]:
            plain = fastest(x)
            with forward_ad.dual_level():
                moving = fastest(forward_ad.make_dual(x, y))
            return moving, plain

        return sample

    figures = Figure(f"{name} with a tangent, 1,000,000 entries", "s", 1.0), Figure(f"{name} without", "s", None)
    return Case(figures, sampler)


tangent_of_product = _elementwise("x * y", lambda lib, x, y: x * y)
tangent_of_exp = _elementwise("exp(x)", lambda lib, x, y: lib.exp(x))
tangent_of_tanh = _elementwise("tanh(x)", lambda lib, x, y: lib.tanh(x))
tangent_of_quotient = _elementwise("x / y", lambda lib, x, y: x / y)
tangent_of_log = _elementwise("log(x)", lambda lib, x, y: lib.log(x))
tangent_of_square = _elementwise("x ** 2", lambda lib, x, y: x**2)
