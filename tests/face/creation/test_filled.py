"""Tensors of a size: filled, evenly spaced, like another; their gradients, and what is refused."""

import warnings

import numpy as np
import pytest

import gradwright
import gradwright as gw


def described(t):
    return str(t.dtype), tuple(t.shape), t.tolist(), t.requires_grad


CALLS = {
    "zeros": lambda T: T.zeros(2, 3),
    "zeros tuple": lambda T: T.zeros((2, 3)),
    "zeros list": lambda T: T.zeros([2, 3]),
    "zeros size": lambda T: T.zeros(T.ones(2, 3).shape),
    "zeros 0-d": lambda T: T.zeros(()),
    "zeros none": lambda T: T.zeros(0),
    "zeros of a tensor": lambda T: T.zeros(T.tensor(2)),
    "ones": lambda T: T.ones(2, dtype=T.int64),
    "ones float": lambda T: T.ones(2, dtype=float),
    "ones grad": lambda T: T.ones(2, requires_grad=True),
    "full": lambda T: T.full((2, 2), 3),
    "full float": lambda T: T.full((2,), 0.1, dtype=T.float64),
    "full bool": lambda T: T.full((2,), True),
    "full complex": lambda T: T.full([1], 1j),
    "full tensor": lambda T: T.full((2,), T.tensor(2.5)),
    "full 0-d": lambda T: T.full((), 1.5),
    "full of doubles": lambda T: T.full((2,), T.tensor(0.1, dtype=T.float64)),
    "full of ints": lambda T: T.full((2,), T.tensor(3, dtype=T.int32)),
    "eye": lambda T: T.eye(2),
    "eye wide": lambda T: T.eye(2, 3, dtype=T.int64),
    "zeros_like": lambda T: T.zeros_like(T.ones(2, dtype=T.int64)),
    "ones_like": lambda T: T.ones_like(T.zeros(2, 2), dtype=T.float64),
    "full_like": lambda T: T.full_like(T.ones(2, dtype=T.int64), 3.7),
    "full_like double": lambda T: T.full_like(T.ones(2, dtype=T.float64), 0.1),
    "like grad": lambda T: T.zeros_like(T.ones(2, requires_grad=True)),
    "like with grad": lambda T: T.zeros_like(T.ones(2), requires_grad=True),
    "new_zeros": lambda T: T.ones(2, dtype=T.int64).new_zeros(2, 3),
    "new_ones": lambda T: T.ones(2).new_ones((2,), dtype=T.float64),
    "new_tensor": lambda T: T.ones(2, dtype=T.float64).new_tensor([0.1]),
    # evenly spaced
    "arange": lambda T: T.arange(5),
    "arange float": lambda T: T.arange(3.0),
    "arange from": lambda T: T.arange(2, 5),
    "arange step": lambda T: T.arange(0, 1, 0.3),
    "arange down": lambda T: T.arange(5, 0, -2),
    "arange none": lambda T: T.arange(0),
    "arange of a tensor": lambda T: T.arange(T.tensor(3)),
    "arange dtype": lambda T: T.arange(0, 1, 0.1, dtype=T.float64),
    "arange keywords": lambda T: T.arange(start=1, end=4, step=2),
    "linspace": lambda T: T.linspace(0, 1, 5),
    "linspace down": lambda T: T.linspace(3, -2, 4),
    "linspace one": lambda T: T.linspace(0, 1, 1),
    "linspace none": lambda T: T.linspace(0, 1, 0),
    "linspace int": lambda T: T.linspace(0, 10, 5, dtype=T.int64),
    "linspace complex": lambda T: T.linspace(0, 1, 5, dtype=T.complex64),
    "linspace half": lambda T: T.linspace(-1, 2, 7, dtype=T.float16),
    "linspace of tensors": lambda T: T.linspace(T.tensor(0.5), T.tensor(3), 6),
    "logspace": lambda T: T.logspace(-1, 2, 4),
    "logspace one": lambda T: T.logspace(2, 3, 1, base=2),
    "logspace int": lambda T: T.logspace(0, 3, 4, base=2, dtype=T.int64),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_dtypes_and_shapes_are_pytorchs(torch, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = described(CALLS[name](torch))
        assert described(CALLS[name](gradwright)) == theirs


def test_linspace_hits_both_ends(T):
    for n in (2, 7, 1000, 2000):
        x = T.linspace(-3.3, 3.3, n, dtype=T.float64)
        assert (x[0].item(), x[-1].item()) == (-3.3, 3.3)
        np.testing.assert_allclose(x.numpy(), np.linspace(-3.3, 3.3, n), rtol=1e-13, atol=1e-14)


# ---- tensors that require grad ---------------------------------------------------------------------------

RECORDED = {
    "full": lambda a, b: gw.full((2, 3), a, dtype=gw.float64) * b,
    "full 0-d": lambda a, b: gw.full((), a * b, dtype=gw.float64),
    "full of one element": lambda a, b: gw.full((2,), (a * b).reshape(1, 1), dtype=gw.float64),
    "full complex": lambda a, b: gw.full((2,), gw.complex(a, b), dtype=gw.complex128).abs(),
    "full_like": lambda a, b: gw.full_like(gw.zeros(2, dtype=gw.float64), a) * b,
    "new_full": lambda a, b: b.new_full((2,), a) * b,
    "scalar_tensor": lambda a, b: gw.scalar_tensor(a, dtype=gw.float64) * b,
    "linspace": lambda a, b: gw.linspace(a, b, 6, dtype=gw.float64),
    "linspace odd": lambda a, b: gw.linspace(b, a, 5, dtype=gw.float64),
    "linspace one": lambda a, b: gw.linspace(a, b, 1, dtype=gw.float64),
    "linspace none": lambda a, b: gw.linspace(a, b, 0, dtype=gw.float64).sum() + a,
    "linspace from a number": lambda a, b: gw.linspace(0, b, 4, dtype=gw.float64) * a,
    "logspace": lambda a, b: gw.logspace(a, b, 4, base=3, dtype=gw.float64),
}


@pytest.mark.parametrize("name", RECORDED)
def test_what_is_made_of_tensors_that_require_grad_has_their_gradient(name):
    ends = [gw.tensor(v, dtype=gw.float64, requires_grad=True) for v in (0.3, 1.7)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert gw.autograd.gradcheck(RECORDED[name], ends)
        assert gw.autograd.gradgradcheck(RECORDED[name], ends)
        with gw.no_grad():
            assert not RECORDED[name](*ends).requires_grad


def test_it_stays_what_it_is_of_numbers():
    a = gw.tensor(0.3, requires_grad=True)
    for make in (lambda v: gw.full((2,), v), lambda v: gw.linspace(v, 2, 5), lambda v: gw.logspace(v, 2, 5),
                 gw.scalar_tensor, lambda v: gw.linspace(v, 2, 5, dtype=gw.int64)):  # fmt: skip
        want, got = make(a.item()), make(a)
        assert (got.dtype, got.tolist()) == (want.dtype, want.tolist())
    own = gw.full((2,), a)
    own[0] = 5.0  # its memory is its own
    assert own.tolist()[1] == a.item() == gw.full((2,), a).tolist()[0]


def test_sizes_of_tensors(T):
    assert T.Tensor(2, 3).shape == (2, 3)
    assert T.Tensor(T.ones(4, 5).shape).shape == (4, 5)
    assert T.Tensor(2, 3).dtype == T.float32
    assert T.empty(2, 3, dtype=T.int8).shape == (2, 3)
    assert T.empty_like(T.ones(2, dtype=T.int8)).dtype == T.int8


REFUSED = {
    "int ones": (lambda T: T.ones(2, dtype=T.int32, requires_grad=True), RuntimeError),
    "negative": (lambda T: T.zeros(-1), RuntimeError),
    "negative rand": (lambda T: T.rand(2, -1), RuntimeError),
    "negative eye": (lambda T: T.eye(-1), RuntimeError),
    "negative randperm": (lambda T: T.randperm(-1), RuntimeError),
    "float size": (lambda T: T.zeros(2.0), TypeError),
    "text size": (lambda T: T.zeros((2, "a")), TypeError),
    "arange step": (lambda T: T.arange(0, 5, 0), RuntimeError),
    "arange sign": (lambda T: T.arange(0, 5, -1), RuntimeError),
    "arange empty": (lambda T: T.arange(5, 0), RuntimeError),
    "linspace steps": (lambda T: T.linspace(0, 1, -1), RuntimeError),
    "int rand": (lambda T: T.rand(2, dtype=T.int64), NotImplementedError),
    "int randn": (lambda T: T.randn(2, dtype=T.int64), NotImplementedError),
    "int normal_": (lambda T: T.zeros(2, dtype=T.int64).normal_(), NotImplementedError),
    "uniform_": (lambda T: T.ones(2).uniform_(3, 1), RuntimeError),
    "normal_": (lambda T: T.ones(2).normal_(0, -1), RuntimeError),
    "randint": (lambda T: T.randint(5, 2, (2,)), RuntimeError),
    "like a list": (lambda T: T.zeros_like([1]), TypeError),
    "like nothing": (lambda T: T.full_like(T.ones(2)), TypeError),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(T, name):
    call, error = REFUSED[name]
    with pytest.raises(error):
        call(T)


@pytest.mark.parametrize(("call", "message"), [
    (lambda T: T.zeros(2, -3), r"zeros\(\): Trying to create tensor with negative dimension -3: \[2, -3\]"),
    (lambda T: T.zeros(2.0), r"zeros\(\): argument 'size' must be ints or a tuple of ints, but got float"),
    (lambda T: T.rand(2, dtype=T.int64), r"rand\(\): not implemented for torch.int64; expected a floating-point dtype"),
    (lambda T: T.ones(2, dtype="nonsense"), r"dtype: expected one of bool, .* but got 'nonsense'"),
    (lambda T: T.randint(5, 2, (2,)), r"randint\(\): expects 'low' to be less than 'high', but got low=5 >= high=2"),
])  # fmt: skip
def test_the_message_names_the_function_and_what_it_got(call, message):
    with pytest.raises((TypeError, ValueError, RuntimeError), match=message):
        call(gradwright)


def test_bounds_and_sizes_by_name():
    assert gw.arange(end=3).tolist() == [0, 1, 2]
    assert gw.zeros(1).new_ones(size=(2, 1)).tolist() == [[1.0], [1.0]]
    assert gw.full((2,), np.float64(1.5)).dtype is gw.float32
    assert gw.ones(2, dtype=gw.int64).type(gw.Tensor).dtype is gw.float32
    with pytest.raises(TypeError):
        gw.arange()
