"""Writes in place at one level, where another that is outside of it needs what was there."""

import pytest

import gradwright as gw
from gradwright import func

X = gw.tensor([0.5, 0.3, -0.2], dtype=gw.float64)


def writing(x):
    y = x * 1
    y.mul_(x.sin())
    y *= y
    y.view(-1).mul_(x.exp())
    return y.sum()


def plain(x):
    y = x * x.sin()
    return (y * y * x.exp()).sum()


def slice_by_slice(x):
    y = x * 1
    y[::2] *= x[::2].sin()  # writes the slice, and then itself into itself
    y[1:2] *= x[1:2].sin()
    y.view(-1).copy_(y.clone())
    y *= y
    y[:2] *= x[:2].exp()
    y[2:].mul_(x[2:].exp())
    return y.sum()


def mapped(f):
    return func.grad(lambda x: func.vmap(func.grad(f))(gw.stack([x, 2 * x])).sin().sum())


TRANSFORMS = {
    "reverse over forward": lambda f: func.jacrev(func.jacfwd(f)),
    "forward over reverse": lambda f: func.jacfwd(func.jacrev(f)),
    "forward over forward": lambda f: func.jacfwd(func.jacfwd(f)),
    "reverse over reverse": lambda f: func.jacrev(func.jacrev(f)),
    "reverse over two forward": lambda f: func.jacrev(func.jacfwd(func.jacfwd(f))),
    "reverse over vmap over reverse": mapped,
}


@pytest.mark.parametrize("name", TRANSFORMS)
@pytest.mark.parametrize("f", [writing, slice_by_slice])
def test_what_was_there_is_kept_for_the_derivative(name, f):
    transform = TRANSFORMS[name]
    assert gw.allclose(transform(f)(X), transform(plain)(X), rtol=1e-12, atol=1e-14)


def test_a_write_is_counted_once():
    x = X.clone()
    func.jvp(lambda x: x.mul_(2), (x,), (X,))
    assert x._version == 1
    func.vmap(lambda x: x.mul_(2))(x)
    assert x._version == 2


def test_what_the_user_saved_before_is_changed_still():
    def f(x):
        y = x * 1
        z = y * y  # needs y
        y.mul_(2)
        return (z * x).sum()

    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        func.grad(f)(X)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        func.grad(lambda x: func.jvp(f, (x,), (X,))[1])(X)
