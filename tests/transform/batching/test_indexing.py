import numpy as np
import pytest

import gradwright as gw
from gradwright import vmap
from tests.transform.programs import loop

X = gw.arange(360.0).reshape(3, 4, 5, 6)
I = gw.tensor([[0, 3], [2, 2], [1, -1]])
J = gw.tensor([[4, 0], [1, 3], [-2, 2]])
KEYS = {
    "first": lambda i, j: i,
    "behind": lambda i, j: (slice(None), i),
    "last": lambda i, j: (..., j),
    "side by side": lambda i, j: (slice(None), i, j),
    "apart": lambda i, j: (i, slice(None), j),
    "with a new dim": lambda i, j: (None, i, None),
    "with an int": lambda i, j: (i, 0, j),
    "a matrix of indices": lambda i, j: (slice(1, 3), i.reshape(2, 1), j),
    "with a mask": lambda i, j: (i, gw.tensor([True, False, False, True, False])),
    "one number": lambda i, j: (slice(None), i[0], j),
}


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("dims", [(0, 0, 0), (0, None, None), (None, 0, 0), (0, 0, None), (None, None, 0)])
def test_reading(key, dims):
    args = [a if d == 0 else a[0] for a, d in zip((X, I, J), dims, strict=True)]
    f = lambda x, i, j: x[key(i, j)]
    got, expected = vmap(f, in_dims=dims)(*args), loop(f, args, dims)
    assert got.shape == expected.shape
    assert (got == expected).all()


@pytest.mark.parametrize("key", KEYS.values(), ids=KEYS)
@pytest.mark.parametrize("dims", [(0, 0, 0), (0, None, None), (None, 0, 0)])
@pytest.mark.parametrize("value", [7.0, "of its own", "one number"])
@pytest.mark.parametrize("accumulate", [False, True])
def test_writing(key, dims, value, accumulate):
    args = [a if d == 0 else a[0] for a, d in zip((X, I, J), dims, strict=True)]

    def f(x, i, j):
        x = x.clone()
        if accumulate:
            x[key(i, j)] += value if value == 7.0 else x.flatten()[3] if value == "one number" else x[key(j % 3, i % 3)]
        else:
            x[key(i, j)] = value if value == 7.0 else x.flatten()[3] if value == "one number" else x[key(j % 3, i % 3)]
        return x

    got, expected = vmap(f, in_dims=dims)(*args), loop(f, args, dims)
    assert (got == expected).all()


def test_masks_of_each_example():
    x = X[..., 0]

    def f(x):
        x = x.clone()
        x[x > 50] = 0.0
        x[x < 20] = x.max()
        return x

    assert (vmap(f)(x) == loop(f, (x,), (0,))).all()


@pytest.mark.parametrize("f", [lambda x: x[x > 5], lambda x: x.masked_select(x > 5), lambda x: gw.nonzero(x)])
def test_what_depends_on_values_is_refused_with_the_line(f):
    with pytest.raises(
        RuntimeError, match=r"dynamic shape: the shape of what .* returns depends on values.*test_indexing.py:\d+"
    ):
        vmap(f)(X)


def test_an_index_beyond_the_end_is_an_error_in_any_example():
    with pytest.raises(IndexError, match="index 4 is out of bounds for dimension 0 with size 4"):
        vmap(lambda x, i: x[i])(X, gw.tensor([[0], [4], [1]]))


def test_rows_of_a_table_are_read_as_they_are():
    weight = gw.randn(50, 4, requires_grad=True)
    which = gw.tensor([[1, 2, 2], [0, 49, 7]])
    got = vmap(lambda i: gw.nn.functional.embedding(i, weight))(which)
    assert (got == weight[which]).all()
    got.sum().backward()
    assert np.allclose(weight.grad.sum(1).numpy(), 4 * np.bincount(which.flatten().numpy(), minlength=50))


def test_masked_scatter_by_a_mask_of_each_example():
    x, source = X[:, :, 0, 0], gw.tensor([10.0, 20.0, 30.0, 40.0])
    f = lambda x: gw.masked_scatter(x, x % 7 > 3, source)
    assert (vmap(f)(x) == loop(f, (x,), (0,))).all()
    with pytest.raises(RuntimeError, match="a mask has more ones than the 1 elements of source"):
        vmap(lambda x: gw.masked_scatter(x, x >= 0, source[:1]))(x)
    none = lambda x: gw.masked_scatter(x, x < 0, source[:0])
    assert (vmap(none)(x) == x).all()
