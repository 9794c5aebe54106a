"""Augmented operators where nothing is recorded: the same values, versions and errors as PyTorch's."""

import operator
import tracemalloc

import numpy as np
import pytest

import gradwright
from gradwright.engine import overwrite

OPERATORS = [operator.iadd, operator.isub, operator.imul, operator.itruediv]
OTHERS = {
    "tensor": lambda T, x: x + 1, "row": lambda T, x: x[0] + 1, "number": lambda T, x: 2.0, "itself": lambda T, x: x,
    "whole number": lambda T, x: 3, "narrower": lambda T, x: x.real.to(T.float16), "constant": lambda T, x: T.tensor(2),
}  # fmt: skip


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("other", OTHERS)
def test_values_and_versions(T, op, dtype, other):
    data = np.arange(1, 7).reshape(2, 3)
    x = T.tensor(data.tolist(), dtype=getattr(T, dtype))
    y = OTHERS[other](T, x)
    want = op(data.astype(dtype), y if isinstance(y, (int, float)) else np.array(y.tolist()).astype(dtype))
    for recorded in (True, False):
        z, before = x.clone(), x._version
        with T.set_grad_enabled(recorded):
            assert op(z, z if y is x else y) is z
        assert z._version == before + 1
        np.testing.assert_allclose(np.array(z.tolist()), want, rtol=1e-6)
    before = x._version
    method = {"iadd": x.add_, "isub": x.sub_, "imul": x.mul_, "itruediv": x.div_}[op.__name__]
    assert method(y) is x
    assert x._version == before + 1
    assert x.dtype == getattr(T, dtype)
    np.testing.assert_allclose(np.array(x.tolist()), want, rtol=1e-6)


def test_a_leaf_may_be_updated_in_no_grad_only(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    y = (x * x).sum()
    with T.no_grad():
        x -= 0.5
    assert x.requires_grad
    assert x.tolist() == [0.5, 1.5]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        x -= 0.5


def test_what_has_a_history_gets_one(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    for change in (lambda z: z.add_(x), lambda z: z.__iadd__(x), lambda z: z.mul_((x * 2)[:]), lambda z: z.copy_(x)):
        z = T.ones(2)
        change(z)
        assert z.requires_grad
        assert T.autograd.grad(z.sum(), x)[0].tolist() in ([1, 1], [2, 2])


def test_copies(T):
    x, leaf = T.zeros(2, 3), T.zeros(3, requires_grad=True)
    y = (leaf * leaf).sum()
    assert x.copy_(T.arange(3.0)) is x
    assert x.tolist() == [[0, 1, 2]] * 2
    x.copy_(T.arange(6.0).reshape(3, 2).t())
    x.copy_(T.arange(6.0).reshape(3, 2).t().double())
    assert x.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert x._version == 3
    with T.no_grad():
        leaf.copy_(x[0])
    assert leaf.tolist() == [0, 2, 4]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        leaf.copy_(x[0])
    with pytest.raises(RuntimeError, match=r"doesn't match the broadcast shape \[1, 2, 3\]"):
        x.copy_(T.ones(1, 2, 3))
    with pytest.raises(RuntimeError):
        x.copy_(T.ones(2))
    assert x._version == 3


def test_an_imaginary_part_is_not_lost_silently():
    """PyTorch warns once in a program."""
    for change in (lambda x, z: x.copy_(z), lambda x, z: x.__setitem__(0, z[0]), lambda x, z: x.fill_(z[0])):
        with pytest.warns(UserWarning, match=r"^Casting complex values to real discards the imaginary part$") as seen:
            change(gradwright.ones(2), gradwright.tensor([1j, 2j]))
        assert seen[0].filename == __file__


def test_what_does_not_fit_is_refused_and_nothing_is_written(T):
    x = T.ones(2, 3)
    with T.no_grad():
        for wrong in (T.ones(4), T.ones(2, 2, 3)):
            with pytest.raises(RuntimeError):
                x += wrong
        whole = T.ones(2, dtype=T.int64)
        with pytest.raises(RuntimeError, match="result type"):
            whole += 0.5
        with pytest.raises(TypeError):
            x += "one"
    assert x.tolist() == [[1.0] * 3] * 2
    assert x._version == 0


def test_views_and_shared_memory(T):
    base = T.zeros(3, 3)
    with T.no_grad():
        row, column = base[1], base[:, 1]
        row += 1.0
        column += 2.0
        base *= 3.0
    assert base.tolist() == [[0, 6, 0], [3, 9, 3], [0, 6, 0]]
    assert base._version == row._version == column._version == 3


def test_overlapping_operands_are_read_before_they_are_written():
    x = gradwright.arange(5.0)
    with gradwright.no_grad():
        base = gradwright.arange(5.0)
        alias = base.detach()
        base += alias
        x[1:] += x[:-1]
    assert base.tolist() == [0, 2, 4, 6, 8]
    assert x.tolist() == [0, 1, 3, 5, 7]


def test_no_warning_and_no_error_of_numpy_comes_through():
    x = gradwright.tensor([1e38, 1.0])
    with np.errstate(all="raise"), gradwright.no_grad():
        x *= 1e10
        x /= 0.0
    assert x.tolist() == [np.inf, np.inf]
    assert x._version == 2


@pytest.mark.parametrize("change", [operator.iadd, lambda x, y: x.copy_(y), lambda x, y: overwrite.limit(x, 1.5)])
def test_no_memory_is_needed_for_the_result(change):
    x, y = gradwright.zeros(1_000_000), gradwright.ones(1_000_000)
    with gradwright.no_grad():
        change(x, y)
        tracemalloc.start()
        change(x, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 100_000
