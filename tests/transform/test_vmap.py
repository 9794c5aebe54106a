from collections import namedtuple
from dataclasses import dataclass

import pytest

import gradwright as gw
from gradwright import vmap

X = gw.arange(12.0).reshape(3, 4)
Y = gw.linspace(-1, 1, 12).reshape(3, 4)
Pair = namedtuple("Pair", ["left", "right"])


@dataclass
class State:
    mean: gw.Tensor
    name: str = "state"


def product(x, y):
    return (x * y).sum()


def loop(f, *args):
    return gw.stack([f(*(a[k] for a in args)) for k in range(len(args[0]))])


def same(got, expected):
    assert got.shape == expected.shape
    assert got.tolist() == expected.tolist()


def test_each_example_is_what_the_function_makes_of_it():
    same(vmap(product)(X, Y), loop(product, X, Y))
    same(vmap(product, in_dims=1)(X.T, Y.T), loop(product, X, Y))
    same(vmap(product, in_dims=(-2, None))(X, Y[0]), gw.stack([product(x, Y[0]) for x in X]))
    same(vmap(vmap(lambda x, y: x * y))(X, Y), X * Y)
    same(vmap(lambda x, scale: x * scale)(X, scale=3.0), X * 3)


@pytest.mark.parametrize("chunk_size", [None, 1, 2, 3, 100])
def test_chunks_give_the_same(chunk_size):
    both = vmap(lambda x, y: (x * y, (x + y).sum()), in_dims=(1, None), out_dims=(1, 0), chunk_size=chunk_size)
    first, second = both(X, Y[:, 0])
    same(first, X * Y[:, :1])
    same(second, (X + Y[:, :1]).sum(0))


def test_inputs_and_results_in_containers():
    tree = {"w": X, "rest": [Y, Pair(X, 2.0)]}
    out = vmap(lambda t: Pair(t["w"] + t["rest"][0], {"z": t["rest"][1].left * t["rest"][1].right}),
               in_dims=({"w": 0, "rest": [0, Pair(0, None)]},))(tree)  # fmt: skip
    assert type(out) is Pair
    same(out.left, X + Y)
    same(out.right["z"], X * 2)
    state = vmap(lambda s: State(s.mean * 2, s.name), in_dims=(State(0, None),), out_dims=State(0, None))(State(X))
    assert state.name == "state"
    same(state.mean, X * 2)


def test_where_the_batch_comes_out():
    same(vmap(lambda x: x * 2, out_dims=1)(X), (X * 2).T)
    same(vmap(lambda x: x * 2, out_dims=-1)(X), (X * 2).T)
    a, b = vmap(lambda x: (x, {"b": x * 2}), out_dims=(0, {"b": 1}))(X)
    same(a, X)
    same(b["b"], (X * 2).T)
    same(vmap(lambda x: Y)(X), gw.stack([Y] * 3))
    kept = vmap(lambda x: (x, Y, 5), out_dims=(0, None, None))(X)
    assert kept[1] is Y
    assert kept[2] == 5


def test_gradients_go_through_it_and_are_taken_in_it():
    w = gw.ones(4, requires_grad=True)
    vmap(lambda x: (x * w).sum() ** 2)(X).sum().backward()
    same(w.grad, 2 * (X.sum(1, keepdim=True) * X).sum(0))

    def slope(w, x):
        w = w.detach().requires_grad_()
        return gw.autograd.grad((x * w).sum() ** 2, w)[0]

    same(vmap(slope, in_dims=(None, 0))(w, X), 2 * X.sum(1, keepdim=True) * X)


@pytest.mark.parametrize("size", [0, 1])
def test_few_examples(size):
    assert vmap(product)(X[:size], Y[:size]).tolist() == (X * Y).sum(1)[:size].tolist()
    assert vmap(product, chunk_size=2)(X[:size], Y[:size]).shape == (size,)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: vmap(product)(X, Y[:2]), ValueError, r"got sizes \[3, 2\].*: 3 of inputs\[0\], 2 of inputs\[1\]$"),
        (lambda: vmap(lambda t: t, in_dims=({"w": 0, "b": 0},))({"w": X, "b": Y.T}), ValueError,
         r'3 of inputs\[0\]\["w"\], 4 of inputs\[0\]\["b"\]'),
        (lambda: vmap(product, in_dims=[0, 0])(X, Y), ValueError, "expected `in_dims` to be int or a .* tuple"),
        (lambda: vmap(product, in_dims=(0,))(X, Y), ValueError, "in_dims is not compatible with the structure of `inp"),
        (lambda: vmap(lambda t: t, in_dims=([0, 0],))((X, Y)), ValueError, "in_dims is not compatible with the struc"),
        (lambda: vmap(product, in_dims=(0, "a"))(X, Y), ValueError, r"in_dim must be either an integer.*inputs\[1\]"),
        (lambda: vmap(product)(X, 2.0), ValueError, r"cannot vmap over non-Tensor arguments.*inputs\[1\]"),
        (lambda: vmap(lambda x, t: x, in_dims=(0, {"w": 2}))(X, {"w": Y}), ValueError,
         r'dimensionality 2 so expected in_dim to satisfy -2 <= in_dim < 2.*inputs\[1\]\["w"\]'),
        (lambda: vmap(product, in_dims=(None, None))(X, Y), ValueError, "Expected at least one Tensor to vmap over"),
        (lambda: vmap(lambda: X)(), ValueError, "got no inputs"),
        (lambda: vmap(lambda x: 1)(X), ValueError, "must only return Tensors, got type <class 'int'>"),
        (lambda: vmap(lambda x: (x, "a"))(X), ValueError, r"<class 'str'> for outputs\[1\]"),
        (lambda: vmap(lambda x: x, out_dims=None)(X), ValueError, "can not return a BatchedTensor when out_dim is Non"),
        (lambda: vmap(lambda x: x, out_dims="a")(X), ValueError, "`out_dims` must be an int, None or a python collec"),
        (lambda: vmap(lambda x: (x, x), out_dims=(0, 0, 0))(X), ValueError, "out_dims is not compatible"),
        (lambda: vmap(lambda x: x, out_dims=2)(X), IndexError, r"range of \[-2, 1\], but got 2"),
        (lambda: vmap(product, chunk_size=0), ValueError, "chunk_size should be None or greater than 0. .got 0"),
        (lambda: vmap(product, randomness="some"), RuntimeError, "Only allowed values for randomness are"),
    ],
)  # fmt: skip
def test_what_it_refuses(call, error, message):
    with pytest.raises(error, match=message):
        call()
