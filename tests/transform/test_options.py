"""Options of transforms in all combinations, sizes of 1 among them, beside a loop over the examples."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import func, vmap

SHAPES = [(1, 4), (4, 1), (1, 1), (3, 2)]
RANDOM = {
    "none": lambda x: x * 2,
    "one draw": lambda x: x + gw.rand(1),
    "as many": lambda x: x + gw.rand_like(x),
    "two draws": lambda x: x * gw.rand(1) + gw.randn(x.shape),
    "dropout": lambda x: gw.nn.functional.dropout(x, 0.5),
}


def looped(f: Any, x: Any, in_dim: int, out_dim: int, randomness: str) -> Any:
    rows = []
    state = gw.get_rng_state()
    for row in x.unbind(in_dim):
        if randomness == "same":
            gw.set_rng_state(state)
        rows.append(f(row.clone()))
    return gw.stack(rows, out_dim)


@pytest.mark.parametrize("name", RANDOM)
@pytest.mark.parametrize("shape", SHAPES)
def test_all_options_of_vmap(name, shape):
    f = RANDOM[name]
    x = gw.arange(1.0, 1 + float(np.prod(shape))).reshape(shape)
    dims, chunks = (0, 1, -1, -2), (None, 1, 2, 9)
    for in_dim, out_dim, chunk, randomness in product(dims, dims, chunks, ("error", "same", "different")):
        mapped = vmap(f, in_dims=in_dim, out_dims=out_dim, chunk_size=chunk, randomness=randomness)
        if randomness == "error" and name != "none":
            with pytest.raises(RuntimeError, match="randomness error mode"):
                mapped(x)
            continue
        gw.manual_seed(7)
        said = mapped(x)
        gw.manual_seed(7)
        expected = looped(f, x, in_dim, out_dim, randomness)
        assert said.shape == expected.shape
        assert said.tolist() == expected.tolist(), (in_dim, out_dim, chunk, randomness)


@pytest.mark.parametrize("outer", ["same", "different"])
@pytest.mark.parametrize("inner", ["same", "different"])
@pytest.mark.parametrize("shape", [(1, 1, 2), (2, 1, 1), (1, 3, 1), (2, 3, 1)])
def test_a_map_of_a_map_of_what_draws_has_the_shapes_and_repetitions_it_should(outer, inner, shape):
    f = vmap(vmap(lambda x: gw.zeros_like(x) + gw.rand(1), randomness=inner), randomness=outer)
    found = f(gw.zeros(shape))
    assert found.shape == shape
    values = found[..., 0]
    assert len({*values.flatten().tolist()}) == (shape[0] if outer == "different" else 1) * (
        shape[1] if inner == "different" else 1)  # fmt: skip


def pair(x, y):
    return (x * y * x).sum(-1), x.sum()


JACOBIANS = {
    "jacrev": func.jacrev, "jacfwd": func.jacfwd,
    "in chunks of 1": lambda f, **options: func.jacrev(f, chunk_size=1, **options),
    "in chunks of 2": lambda f, **options: func.jacrev(f, chunk_size=2, **options),
    "in chunks of 99": lambda f, **options: func.jacrev(f, chunk_size=99, **options),
}  # fmt: skip


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 3), (3, 1), (2, 2)])
@pytest.mark.parametrize("argnums", [0, 1, -1, (0,), (1,), (0, 1), (1, 0)])
@pytest.mark.parametrize("aux", [False, True])
@pytest.mark.parametrize("way", JACOBIANS)
def test_all_options_of_jacobians(way, aux, argnums, shape):
    generator = np.random.default_rng(3)
    x, y = generator.uniform(1, 2, (2, *shape))
    inner = np.einsum("...j,...ij->...i", np.ones(shape), np.ones((*shape[:-1], 1, shape[-1])))[..., 0]
    rows = np.zeros((*inner.shape, *shape))
    for at in np.ndindex(*shape):
        rows[(*at[:-1], *at)] = 1
    by = {0: rows * (2 * x * y), 1: rows * (x * x)}
    f = pair if aux else lambda x, y: pair(x, y)[0]
    said = JACOBIANS[way](f, argnums=argnums, has_aux=aux)(gw.tensor(x), gw.tensor(y))
    if aux:
        said, kept = said
        assert kept.item() == pytest.approx(x.sum())
    single = isinstance(argnums, int)
    assert isinstance(said, gw.Tensor) == single
    for got, k in zip((said,) if single else said, (argnums,) if single else argnums, strict=True):
        np.testing.assert_allclose(got.numpy(), by[k % 2], 1e-12)


@pytest.mark.parametrize("argnums", [0, 1, -1, (0,), (0, 1), (1, 0)])
@pytest.mark.parametrize("aux", [False, True])
@pytest.mark.parametrize("shape", [(), (1,), (1, 3)])
@pytest.mark.parametrize("mapped", [False, True])
def test_all_options_of_grad(argnums, aux, shape, mapped):
    generator = np.random.default_rng(3)
    x, y = generator.uniform(1, 2, (2, *((1,) if mapped else ()), *shape))
    by = {0: 2 * x * y, 1: x * x}

    def f(x, y):
        out = (x * x * y).sum()
        return (out, out * 2) if aux else out

    for value in (False, True):
        g = (func.grad_and_value if value else func.grad)(f, argnums=argnums, has_aux=aux)
        said = (vmap(g) if mapped else g)(gw.tensor(x), gw.tensor(y))
        grads = said[0] if value or aux else said
        single = isinstance(argnums, int)
        for got, k in zip((grads,) if single else grads, (argnums,) if single else argnums, strict=True):
            np.testing.assert_allclose(got.numpy(), by[k % 2], 1e-12)
