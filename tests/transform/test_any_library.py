"""Transforms over another library's arrays, on a device that is not its default one: as over NumPy's."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw
import gradwright.backends.strict
from gradwright import func
from gradwright.autograd import forward_ad, functional
from gradwright.backends import to_host

FAR = gw.device("array-api-strict", 1)
X = gw.tensor([[0.3, 0.7, 0.2], [0.9, 0.4, 0.6]], dtype=gw.float64)
FUNCTIONS = {
    "a product": lambda x: (x * x.sin()).sum(-1),
    "a matrix": lambda x: (x @ x.mT).exp(),
    "a softmax": lambda x: gw.softmax(x, -1).log(),
    "what is made inside": lambda x: gw.zeros_like(x) + gw.ones((), dtype=x.dtype, device=x.device) * x**3,
    "an index": lambda x: x[..., :1] * x[..., -1:],
    "a choice": lambda x: gw.where(x > 0.5, x * x, x.sqrt()),
    "a write": lambda x: (x * 2).clone().mul_(x),
    "a sort": lambda x: x.sort(-1).values * x,
    "a constant": lambda x: gw.zeros_like(x),
}


def dual(f: Any, x: Any) -> Any:
    with forward_ad.dual_level():
        return forward_ad.unpack_dual(f(forward_ad.make_dual(x, x.cos())))


def total(f: Any) -> Any:
    return lambda x: f(x).sum()


TRANSFORMS = {
    "grad": lambda f, x: func.grad(total(f))(x),
    "grad of grad": lambda f, x: func.grad(lambda x: (func.grad(total(f))(x) * x).sum())(x),
    "value and grad": lambda f, x: func.grad_and_value(total(f))(x),
    "vjp": lambda f, x: func.vjp(f, x)[1](gw.ones_like(f(x))),
    "jvp": lambda f, x: func.jvp(f, (x,), (x.cos(),)),
    "linearize": lambda f, x: func.linearize(f, x)[1](x.cos()),
    "jacrev": lambda f, x: func.jacrev(f)(x),
    "jacrev in chunks": lambda f, x: func.jacrev(f, chunk_size=1)(x),
    "jacfwd": lambda f, x: func.jacfwd(f)(x),
    "hessian": lambda f, x: func.hessian(total(f))(x),
    "vmap": lambda f, x: func.vmap(f)(gw.stack([x, x * 0.5])),
    "vmap along another": lambda f, x: func.vmap(f, in_dims=-1, out_dims=-1)(gw.stack([x, x * 0.5], -1)),
    "vmap of grad": lambda f, x: func.vmap(func.grad(total(f)))(gw.stack([x, x * 0.5])),
    "vmap in chunks": lambda f, x: func.vmap(f, chunk_size=1)(gw.stack([x, x * 0.5])),
    "dual numbers": dual,
    "functionalize": lambda f, x: func.functionalize(f)(x),
    "jacobian": lambda f, x: functional.jacobian(f, x),
    "jacobian by forward mode": lambda f, x: functional.jacobian(f, x, vectorize=True, strategy="forward-mode"),
    "hvp": lambda f, x: functional.hvp(total(f), x, x.cos()),
    "vhp": lambda f, x: functional.vhp(total(f), x, x.cos()),
    "jvp by two passes": lambda f, x: functional.jvp(f, x, x.cos()),
}


def tensors(value: Any) -> list[Any]:
    return [value] if isinstance(value, gw.Tensor) else [t for v in value if v is not None for t in tensors(v)]


@pytest.mark.filterwarnings("ignore::gradwright.errors.GradientWarning")
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("transform", TRANSFORMS)
def test_a_transform_over_another_library(transform, name):
    here = tensors(TRANSFORMS[transform](FUNCTIONS[name], X))
    there = tensors(TRANSFORMS[transform](FUNCTIONS[name], X.to(FAR)))
    assert len(here) == len(there)
    for a, b in zip(here, there, strict=True):
        assert (b.device, b.dtype, b.shape) == (FAR, a.dtype, a.shape)
        np.testing.assert_allclose(to_host(b.array), to_host(a.array), 1e-9, 1e-9)
