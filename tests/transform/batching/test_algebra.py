from itertools import product

import pytest

import gradwright as gw
from gradwright import vmap
from tests.transform.programs import loop

SHAPES = [(4,), (2, 4), (3, 2, 4), (2, 3, 2, 4)]
OTHERS = [(4,), (4, 5), (3, 4, 5), (2, 3, 4, 5)]


@pytest.mark.parametrize("dims", [(0, 0), (0, None), (None, 0)])
@pytest.mark.parametrize(("left", "right"), list(product(SHAPES, OTHERS)))
def test_products_of_vectors_and_matrices(dims, left, right):
    shapes = [s if d is None else (3, *s) for s, d in zip((left, right), dims, strict=True)]
    args = [gw.randn(*s, dtype=gw.float64) for s in shapes]
    got, expected = vmap(gw.matmul, in_dims=dims)(*args), loop(gw.matmul, args, dims)
    assert got.shape == expected.shape
    assert gw.allclose(got, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dims", [d for d in product((0, None), repeat=3) if d != (None,) * 3])
@pytest.mark.parametrize("shape", [(4,), (2, 4), (2, 2, 4)])
def test_layers_with_weights_of_their_own(dims, shape):
    shapes = [s if d is None else (3, *s) for s, d in zip((shape, (5, 4), (5,)), dims, strict=True)]
    args = [gw.randn(*s, dtype=gw.float64) for s in shapes]
    f = gw.nn.functional.linear
    assert gw.allclose(vmap(f, in_dims=dims)(*args), loop(f, args, dims), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("f", [
    lambda a: gw.linalg.solve(a, a[:, 0]), lambda a: gw.linalg.cholesky(a @ a.T), lambda a: gw.linalg.eigvalsh(a @ a.T),
    lambda a: gw.linalg.svd(a)[1], lambda a: gw.linalg.lstsq(a, a[:, :1])[0], lambda a: gw.linalg.norm(a, 2),
    lambda a: gw.linalg.lu_factor(a)[0], lambda a: gw.linalg.matrix_power(a, 3), lambda a: gw.logdet(a @ a.T),
    lambda a: gw.einsum("ij,kj,i->k", a, a, a[0]), lambda a: gw.cdist(a, a[:2]), lambda a: gw.trace(a),
    lambda a: gw.linalg.eigh(a @ a.T)[0], lambda a: gw.kron(a, a), lambda a: gw.outer(a[0], a[1]),
])  # fmt: skip
def test_matrices(f):
    a = gw.randn(3, 4, 4, dtype=gw.float64) + 3 * gw.eye(4, dtype=gw.float64)
    assert gw.allclose(vmap(f)(a), gw.stack([f(x) for x in a]), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("own_weights", [False, True])
def test_recurrent_layers(kind, own_weights):
    layers = [getattr(gw.nn, kind)(3, 4, num_layers=2).double() for _ in range(3)]
    names = [n for n, _ in layers[0].named_parameters()]
    weights = [gw.stack([dict(m.named_parameters())[n].detach() for m in layers]) for n in names]
    x = gw.randn(3, 5, 2, 3, dtype=gw.float64)

    def f(x, *weights):
        return gw.func.functional_call(layers[0], dict(zip(names, weights, strict=True)), (x,))[0]

    if own_weights:
        expected = gw.stack([m(y)[0] for m, y in zip(layers, x, strict=True)])
        assert gw.allclose(vmap(f)(x, *weights), expected, atol=1e-12)
    else:
        assert gw.allclose(vmap(lambda x: f(x, *[w[0] for w in weights]))(x), gw.stack([layers[0](y)[0] for y in x]))
