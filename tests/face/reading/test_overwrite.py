"""Augmented operators where nothing is recorded: the same values, versions and errors as PyTorch's."""

import operator
import tracemalloc

import numpy as np
import pytest

import gradwright
from gradwright.face.reading import overwrite

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


VALUES = {
    "number": lambda T: 2.5, "whole number": lambda T: 3, "truth": lambda T: True, "large": lambda T: 1e30,
    "infinite": lambda T: float("inf"), "NumPy's": lambda T: np.float64(0.5), "row": lambda T: T.tensor([4.0, 5.0]),
    "entry": lambda T: T.tensor(6.0), "view": lambda T: T.arange(6.0).reshape(2, 3)[1, 1:],
    "column": lambda T: T.tensor([[7.0], [8.0]])[:, 0], "double": lambda T: T.ones(2, dtype=T.float64),
    "wide": lambda T: T.ones(1, 1, 2), "whole numbers": lambda T: T.tensor([1, 2]),
}  # fmt: skip


@pytest.mark.parametrize("history", [True, False])
@pytest.mark.parametrize("value", VALUES)
def test_parts(T, value, history):
    leaf = T.ones(3, 2, requires_grad=history)
    x = leaf * 1
    written = VALUES[value](T)
    for mode in (T.enable_grad, T.no_grad):
        with mode():
            x[1] = written
            x[:, 1] = 9
            x[-1, :] = written
    assert x._version == 6
    row = np.array(written.tolist() if isinstance(written, T.Tensor) else written, np.float32).reshape(-1).tolist()
    row = row * (3 - len(row))
    assert x.tolist() == [[1, 9], [row[0], 9], row]
    assert x.requires_grad == history
    if history:
        assert type(x.grad_fn).__name__ == "CopySlices"
        x.sum().backward()
        assert leaf.grad.tolist() == [[1, 0], [0, 0], [0, 0]]


def test_parts_that_are_refused_are_not_written(T):
    leaf = T.ones(2, 3, requires_grad=True)
    x = leaf * 1
    node = x.grad_fn
    for key, value, error in ((2, 1.0, IndexError), (0, T.ones(2), RuntimeError), (0, T.ones(2, 1, 3), RuntimeError),
                              (0, 1e300, RuntimeError), ((0, 0, 0), 1.0, IndexError), (0, "a", TypeError)):  # fmt: skip
        with pytest.raises(error):
            x[key] = value
    assert x.tolist() == [[1] * 3] * 2
    assert (x._version, x.grad_fn) == (0, node)
    with pytest.raises(RuntimeError, match="a view of a leaf Variable that requires grad"):
        leaf[0] = 1.0
    with T.no_grad():
        leaf[0] = 2.0
    assert leaf.is_leaf
    assert leaf.tolist() == [[2] * 3, [1] * 3]
    assert leaf._version == 1


def test_a_part_of_what_is_saved_views_itself_or_keeps_its_gradient(T):
    leaf = T.ones(2, 2, requires_grad=True)
    x = leaf * 1
    y = (x * x).sum()
    x[0] = 5.0
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()
    base = leaf * 1
    view = base[0]
    view[1] = 3.0
    base[1] = view.detach()
    (base * base).sum().backward()
    assert base.tolist() == [[1, 3], [1, 3]]
    assert leaf.grad.tolist() == [[2, 0], [0, 0]]
    x = leaf * 1
    x.retain_grad()
    x[0] = 5.0
    (x * x).sum().backward()
    assert x.grad.tolist() == [[10, 10], [2, 2]]
    with T.inference_mode():
        x = T.ones(2)
        x[0] = 2.0
    with pytest.raises(RuntimeError, match="outside InferenceMode"):
        x[0] = 1.0
    shown = T.ones(2).expand(2, 2)
    for repeated in (shown, shown.detach()):
        with pytest.raises(RuntimeError, match="single memory location"):
            repeated[:] = T.zeros(2, 2)


def test_a_part_says_where_it_was_written():
    leaf = gradwright.ones(2, requires_grad=True)
    x = leaf * 1
    y = x * x
    x[0] = 5.0
    with pytest.raises(RuntimeError, match=r"changed at .*test_overwrite.py.*x\[0\] = 5"):
        y.sum().backward()


def test_parts_of_memory_that_a_user_holds_too():
    x = gradwright.ones(2)
    held = x.numpy()
    leaf = gradwright.ones(2, requires_grad=True)
    y = (leaf * x).sum()
    x[0] = 5.0
    assert held.tolist() == [5, 1]
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


@pytest.mark.parametrize("op", OPERATORS)
@pytest.mark.parametrize("recorded", [True, False])
def test_another_device_is_an_error(op, recorded):
    pytest.importorskip("jax", reason="another device is JAX's: pip install jax")
    x, y = gradwright.ones(2), gradwright.full((2,), 3.0, device="jax:0")
    with gradwright.set_grad_enabled(recorded):
        for a, b in ((x, y), (y, x)):
            with pytest.raises(RuntimeError, match=r"found two, (NumPy and jax|jax and NumPy)"):
                op(a, b)
        assert x._version == y._version == 0
        assert x.copy_(y).tolist() == [3, 3]
        assert y.copy_(x + 1).tolist() == [4, 4]


def test_what_data_gives_is_written_the_short_way_and_its_tensor_is_told():
    x = gradwright.ones(3, requires_grad=True)
    y = (x * x).sum()
    data = x.data
    assert overwrite.add(data, 1.0)
    assert (x.tolist(), data._version, x._version) == ([2.0] * 3, 1, 0)
    with pytest.warns(UserWarning, match=r"written through \.data"):
        y.backward()
