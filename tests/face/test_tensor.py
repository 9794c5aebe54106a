"""Tensor: what it is, what Python makes of it, its attributes, and the errors they give."""

import copy
import operator
import warnings

import numpy as np
import pytest

import gradwright

# ---- what it is ------------------------------------------------------------------------------------------


def test_attributes(T):
    x = T.ones(2, 3, dtype=T.float64)
    assert tuple(x.shape) == tuple(x.size()) == (2, 3)
    assert (x.size(0), x.size(-1)) == (2, 3)
    assert x.ndim == x.dim() == 2
    assert x.numel() == x.nelement() == 6
    assert x.element_size() == 8
    assert x.dtype == T.float64
    assert str(x.device) == "cpu"
    assert x.is_floating_point()
    assert not x.is_complex()
    assert not T.ones(2, dtype=T.int64).is_floating_point()
    assert T.ones(2, dtype=T.complex64).is_complex()
    assert x.stride() == (3, 1)
    assert x.stride(0) == 3
    assert x.t().stride() == (1, 3)


def test_contiguous(T):
    x = T.arange(6.0).reshape(2, 3)
    assert x.is_contiguous()
    assert x.contiguous() is x
    t = x.t()
    assert not t.is_contiguous()
    c = t.contiguous()
    assert c.is_contiguous()
    assert c.view(-1).tolist() == [0, 3, 1, 4, 2, 5]
    assert not c._is_view()


def test_contiguous_is_differentiated(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    (x.t().contiguous().view(-1) * T.tensor([1.0, 2.0, 3.0, 4.0])).sum().backward()
    assert x.grad.tolist() == [[1, 3], [2, 4]]


@pytest.mark.parametrize(("dtype", "name"), [
    ("float32", "torch.FloatTensor"), ("float64", "torch.DoubleTensor"), ("int64", "torch.LongTensor"),
    ("int32", "torch.IntTensor"), ("bool", "torch.BoolTensor"), ("uint8", "torch.ByteTensor"),
    ("float16", "torch.HalfTensor"), ("complex64", "torch.ComplexFloatTensor"),
])  # fmt: skip
def test_legacy_types(T, dtype, name):
    x = T.ones(1, dtype=getattr(T, dtype))
    assert x.type() == name
    assert x.type(T.complex128).dtype == T.complex128


# ---- out of the tensor -----------------------------------------------------------------------------------


def test_item(T):
    for data, kind in ((2.5, float), (2, int), (True, bool), (1 + 2j, complex), ([[7]], int)):
        value = T.tensor(data).item()
        assert type(value) is kind
        assert value == np.array(data).item()
    for n, shape in ((2, (2,)), (0, (0,)), (6, (2, 3))):
        with pytest.raises(RuntimeError, match=f"a Tensor with {n} elements cannot be converted to Scalar"):
            T.ones(shape).item()


def test_tolist(T):
    assert T.arange(6).reshape(2, 3).tolist() == [[0, 1, 2], [3, 4, 5]]
    assert T.tensor(1.5).tolist() == 1.5
    assert T.ones(0).tolist() == []
    assert T.ones(2, requires_grad=True).tolist() == [1, 1]


def test_numpy_shares_memory(T):
    x = T.zeros(2, 3)
    array = x.numpy()
    array[0, 0] = 5
    assert x[0, 0].item() == 5
    assert T.ones(2, 3).t().numpy().strides == (4, 12)
    assert T.tensor(1.5).numpy().shape == ()


def test_numpy_of_what_requires_grad(T):
    x = T.ones(2, requires_grad=True)
    message = r"Can't call numpy\(\) on Tensor that requires grad. Use tensor.detach\(\).numpy\(\) instead."
    for convert in (lambda t: t.numpy(), np.asarray, lambda t: (t * 2).numpy()):
        with pytest.raises(RuntimeError, match=message):
            convert(x)
    assert x.numpy(force=True).tolist() == x.detach().numpy().tolist() == [1, 1]


def test_asarray(T):
    x = T.arange(3.0)
    assert np.asarray(x).dtype == np.float32
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert np.asarray(x, dtype=np.int64).tolist() == [0, 1, 2]
    assert not np.shares_memory(np.array(x), x.numpy())
    assert np.stack([x, x]).shape == (2, 3)


def test_conversion_to_python_numbers(T):
    assert float(T.tensor([2])) == 2.0
    assert int(T.tensor(2.7)) == 2
    assert complex(T.tensor(2.0)) == 2 + 0j
    with pytest.warns(UserWarning, match="Converting a tensor with requires_grad=True to a scalar"):
        assert float(T.tensor(1.5, requires_grad=True)) == 1.5
    for convert in (float, int):
        with pytest.raises((RuntimeError, ValueError), match=r"a Tensor with 2 elements|only one element tensors"):
            convert(T.ones(2))


def test_truth(T):
    assert bool(T.tensor([1.5]))
    assert not T.tensor(0)
    assert not T.tensor([[False]])
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with more than one value is ambiguous"):
        bool(T.ones(2))
    with pytest.raises(RuntimeError, match="Boolean value of Tensor with no values is ambiguous"):
        bool(T.ones(0))


def test_as_an_index(T):
    assert [10, 20, 30][T.tensor(1)] == 20
    assert list(range(3))[T.tensor([2])] == 2
    assert operator.index(T.tensor(7)) == 7
    for wrong in (T.tensor(1.0), T.tensor([1, 2])):
        with pytest.raises(TypeError, match="only integer tensors of a single element can be converted to an index"):
            operator.index(wrong)


def test_length_and_iteration(T):
    x = T.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    assert len(x) == 2
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    a, b = x
    (a * b).sum().backward()
    assert x.grad.tolist() == [[3, 4], [1, 2]]
    with pytest.raises(TypeError, match=r"len\(\) of a 0-d tensor"):
        len(T.tensor(1))
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(T.tensor(1))


def test_membership(T):
    x = T.tensor([1.0, 2.0])
    assert 2 in x
    assert 3.0 not in x
    assert T.tensor(1.0) in x
    with pytest.raises(RuntimeError, match=r"Tensor.__contains__ only supports Tensor or scalar"):
        assert "a" in x


def test_hash_and_equality(T):
    x, y = T.ones(2), T.ones(2)
    assert len({x, y, x}) == 2
    assert (x == y).tolist() == [True, True]
    assert (x == 1).dtype == T.bool
    assert {x: 1}[x] == 1
    assert x != None  # noqa: E711 - left to Python, for which they differ


def test_copies(T):
    x = T.tensor([1.0, 2.0], requires_grad=True)
    assert x.clone().requires_grad
    assert x.clone().tolist() == [1, 2]
    assert copy.copy(x.detach()).tolist() == [1, 2]


# ---- printing --------------------------------------------------------------------------------------------

PRINTED = {
    "plain": lambda T: T.tensor([1.0, 2.5]),
    "leaf": lambda T: T.tensor([1.0], requires_grad=True),
    "double leaf": lambda T: T.ones(2, dtype=T.float64, requires_grad=True),
    "result": lambda T: T.ones(2, requires_grad=True) * 2,
    "view": lambda T: T.ones(2, 2, requires_grad=True).t()[0],
    "long": lambda T: T.full((2, 9), 1.23456, dtype=T.float64, requires_grad=True).exp(),
    "one of several": lambda T: T.ones(2, requires_grad=True).unbind()[1],
    "int": lambda T: T.tensor([1, 2]),
    "bool": lambda T: T.tensor([True]),
    "empty": lambda T: T.ones(0, 3),
    "number": lambda T: T.tensor(2.5, requires_grad=True).sin(),
}


@pytest.mark.parametrize("name", PRINTED)
def test_repr_is_pytorchs(torch, name):
    x = PRINTED[name](gradwright)
    assert repr(x) == str(x) == repr(PRINTED[name](torch))


def test_repr_in_no_grad_still_shows_the_history(T):
    x = T.ones(1, requires_grad=True) * 2
    with T.no_grad():
        assert repr(x) == "tensor([2.], grad_fn=<MulBackward0>)"


def test_format(T):
    z, x = T.tensor(2.5), T.ones(2)
    assert f"{z}" == "2.5"
    assert f"{z:.3f}" == "2.500"
    assert f"{T.tensor(3, dtype=T.int64):03d}" == "003"
    assert f"{T.tensor(2.5, requires_grad=True) * 2:6.2f}" == "  5.00"
    assert f"{x}" == "tensor([1., 1.])"
    with pytest.raises(TypeError, match=r"unsupported format string passed to Tensor.__format__"):
        f"{x:.3f}"


# ---- history ---------------------------------------------------------------------------------------------


def test_requires_grad(T):
    x = T.ones(2)
    assert not x.requires_grad
    assert x.requires_grad_() is x
    x.requires_grad = False
    assert not x.requires_grad
    x.requires_grad_(True).requires_grad_(True)
    y = x * 2
    assert y.requires_grad_() is y
    message = "you can only change requires_grad flags of leaf variables."
    with pytest.raises(RuntimeError, match=message):
        y.requires_grad = False
    with pytest.raises(RuntimeError, match=message):
        y.requires_grad_(False)
    assert y.requires_grad


def test_integers_cannot_require_grad(T):
    message = "[Oo]nly Tensors of floating point (and complex )?dtype can require gradients"
    for dtype in (T.int64, T.bool):
        x = T.ones(2, dtype=dtype)
        with pytest.raises(RuntimeError, match=message):
            x.requires_grad = True
        with pytest.raises(RuntimeError, match=message):
            x.requires_grad_()
        assert not x.requires_grad
        assert not x.requires_grad_(False).requires_grad


def test_the_grad_that_is_assigned_must_fit(T):
    x = T.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"attempting to assign a gradient of size '\[1\]' to a tensor of size '\[2"):
        x.grad = T.ones(1)
    with pytest.raises(TypeError, match=r"assigned grad expected to be a Tensor or None but got grad of type .*int"):
        x.grad = 1
    with pytest.raises(RuntimeError, match="attempting to assign a gradient with dtype"):
        x.grad = T.ones(2, dtype=T.float64)
    assert x.grad is None
    x.grad = g = T.ones(2)
    assert x.grad is g
    x.grad = None
    assert x.grad is None


def test_detach(T):
    x = T.ones(2, requires_grad=True)
    y = x * 2
    d = y.detach()
    assert not d.requires_grad
    assert d.is_leaf
    assert y.requires_grad
    assert y.detach_() is y
    assert y.is_leaf
    assert not y.requires_grad
    assert x.detach().grad is None


def test_assigning_data_must_be_a_tensor(T):
    with pytest.raises(TypeError, match="Variable data has to be a tensor, but got int"):
        T.ones(2).data = 1


def test_a_frozen_leaf_and_its_thawed_self(T):
    x = T.ones(2, requires_grad=True)
    x.requires_grad_(False)
    assert not (x * 2).requires_grad
    x.requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


# ---- operators -------------------------------------------------------------------------------------------

BINARY = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow,
          operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]  # fmt: skip


@pytest.mark.parametrize("f", BINARY, ids=lambda f: f.__name__)
def test_operators_and_their_reflections(torch, f):
    def values(T):
        x, y, n = T.tensor([1.0, 2.0, 3.5]), T.tensor([[2.0], [0.5]]), T.tensor([4, 5, 6])
        results = [f(x, y), f(x, 2), f(2, x), f(x, 1.5), f(1.5, x), f(x, n), f(n, x), f(n, 2), f(2, n), f(n, 1.5)]
        return [(str(r.dtype), r.tolist()) for r in results]

    ours, theirs = values(gradwright), values(torch)
    assert [d for d, _ in ours] == [d for d, _ in theirs]
    for (_, a), (_, b) in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


@pytest.mark.parametrize("f", [operator.and_, operator.or_, operator.xor], ids=lambda f: f.__name__)
def test_bitwise_operators(T, f):
    for a, b in (([True, False, True], [True, True, False]), ([5, 6, 7], [3, 2, 1])):
        expected = [f(p, q) for p, q in zip(a, b, strict=True)]
        assert f(T.tensor(a), T.tensor(b)).tolist() == expected
    assert f(T.tensor([5, 6]), 3).tolist() == f(3, T.tensor([5, 6])).tolist() == [f(5, 3), f(6, 3)]


def test_unary_operators(T):
    x = T.tensor([-1.5, 2.0])
    assert (-x).tolist() == [1.5, -2]
    assert (+x).tolist() == [-1.5, 2]
    assert abs(x).tolist() == [1.5, 2]
    assert (~T.tensor([True, False])).tolist() == [False, True]
    assert (~T.tensor([0, 5])).tolist() == [-1, -6]
    with pytest.raises((TypeError, RuntimeError), match="invert"):
        ~x


def test_matmul_operator(T):
    m, v = T.arange(6.0).reshape(2, 3), T.arange(3.0)
    assert (m @ v).tolist() == [5, 14]
    assert (m @ m.t()).tolist() == [[5, 14], [14, 50]]
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        m @ m


@pytest.mark.parametrize("f", [operator.add, operator.mul, operator.mod], ids=lambda f: f.__name__)
def test_other_operands_are_left_to_python(T, f):
    class Other:
        def __radd__(self, other):
            return "mine"

        __rmul__ = __rmod__ = __radd__

    assert f(T.ones(2), Other()) == "mine"
    with pytest.raises(TypeError):
        f(T.ones(2), object())
    with pytest.raises(TypeError):
        f(object(), T.ones(2))


def test_augmented_assignment_is_in_place(T):
    x = T.tensor([4.0, 9.0])
    y = x
    x += 1
    x -= 2
    x *= 3
    x /= 3
    x **= 2
    assert y is x
    assert y.tolist() == [9, 64]
    assert x._version == 5


def test_integer_division_cannot_be_in_place(T):
    n = T.tensor([4, 5])
    with pytest.raises(RuntimeError, match="result type Float can't be cast to the desired output type Long"):
        n /= 2
    assert n.tolist() == [4, 5]


# ---- indexing --------------------------------------------------------------------------------------------

KEYS = {
    "int": 1, "negative": -1, "pair": (1, 2), "slice": slice(1, None), "step": slice(None, None, 2),
    "column": (slice(None), 1), "ellipsis": (..., 0), "none": (None, 0, None), "nothing": (), "all": ...,
    "list": [1, 0, 1], "two lists": ([0, 1], [2, 0]), "list and slice": ([1], slice(0, 2)),
    "numpy int": np.int64(1), "numpy array": np.array([1, 0]), "past the end": slice(1, 9), "true": True,
    "bools": [True, False], "empty": slice(0, 0),
}  # fmt: skip


@pytest.mark.parametrize("name", KEYS)
def test_indexing(T, name):
    array = np.arange(6.0).reshape(2, 3)
    x = T.tensor(array, requires_grad=True)
    y = x[KEYS[name]]
    assert y.tolist() == array[KEYS[name]].tolist()
    (y * y).sum().backward()
    expected = np.zeros((2, 3))
    np.add.at(expected, KEYS[name], 2 * array[KEYS[name]])
    assert x.grad.tolist() == expected.tolist()


def test_indexing_by_tensors(T):
    x = T.arange(6.0).reshape(2, 3)
    assert x[T.tensor([1, 0])].tolist() == [[3, 4, 5], [0, 1, 2]]
    assert x[T.tensor(1)].tolist() == [3, 4, 5]
    assert x[T.tensor([0, 1]), T.tensor([2, 0])].tolist() == [2, 3]
    assert x[x > 2].tolist() == [3, 4, 5]
    assert x[T.tensor([False, True])].tolist() == [[3, 4, 5]]
    assert x[:, T.tensor([0, 0])].tolist() == [[0, 0], [3, 3]]


@pytest.mark.parametrize("key", [2, -3, (0, 3), (0, 0, 0), [0, 5], 1.5, ([0, 1], [0, 1, 2])])
def test_indices_out_of_range(T, key):
    with pytest.raises(IndexError):
        T.arange(6.0).reshape(2, 3)[key]


def test_an_index_tensor_must_be_integer_or_bool(T):
    x = T.arange(3.0)
    with pytest.raises(IndexError, match="tensors used as indices must be long, int, byte or bool tensors"):
        x[T.tensor([0.5])]
    with pytest.raises(IndexError):
        x[T.tensor([True, False])]


# ---- the array namespace ---------------------------------------------------------------------------------


def test_the_array_namespace():
    xp = gradwright.ones(2).__array_namespace__()
    assert xp is gradwright.xp
    assert xp.sin(gradwright.zeros(2)).tolist() == [0, 0]


def test_a_copied_leaf_has_a_gradient_of_its_own():
    a = gradwright.tensor([1.0, 2.0], requires_grad=True)
    deep, shallow = copy.deepcopy(a), copy.copy(a)
    (3 * deep + 2 * shallow).sum().backward()
    assert a.grad is None
    assert deep.grad.tolist() == [3.0, 3.0]
    assert shallow.grad.tolist() == [2.0, 2.0]
    assert copy.deepcopy(deep).grad.tolist() == [3.0, 3.0]
    deep.data.zero_()
    assert a.tolist() == [1.0, 2.0]


def test_only_leaves_can_be_deep_copied():
    with pytest.raises(RuntimeError, match="support the deepcopy protocol"):
        copy.deepcopy(gradwright.ones(2, requires_grad=True) * 2)


def test_augmented_operators_write_in_place():
    mask = alias = gradwright.tensor([True, False])
    mask &= gradwright.tensor([False, False])
    assert alias.tolist() == [False, False]
    whole = alias = gradwright.tensor([7, 8])
    whole //= 2
    whole %= 3
    assert alias.tolist() == [0, 1]


def test_data_and_grad_that_do_not_fit_are_refused(T):
    x = T.ones(3, requires_grad=True)
    with pytest.raises(RuntimeError, match="data set to a tensor that requires gradients must be floating point"):
        x.data = T.ones(3, dtype=T.int64)
    with pytest.raises(RuntimeError, match="can't assign Variable as its own grad"):
        x.grad = x
    (x * 2).sum().backward()
    x.data = T.ones(2)
    with pytest.raises(RuntimeError, match=r"size of tensor|its \.grad holds one of shape \[3\]"):
        (x * 2).sum().backward()
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_a_leaf_that_shows_other_memory_gets_gradients_of_its_shape(T):
    x = T.ones(3, requires_grad=True)
    with T.no_grad():
        x.set_(T.ones(2))
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_what_was_made_of_a_leaf_before_it_was_set_leads_elsewhere(T):
    x = T.ones(3, requires_grad=True)
    x.register_hook(lambda g: g * 10)
    y = x * 5
    with T.no_grad():
        x.set_(T.full((3,), 2.0))
    assert T.autograd.grad(y.sum(), x, allow_unused=True, retain_graph=True) == (None,)
    assert T.autograd.grad((x * x).sum(), x)[0].tolist() == [40] * 3
    y.sum().backward()
    assert x.grad.tolist() == [50] * 3


def test_reading_the_gradient_of_what_keeps_none_warns(T):
    x = T.ones(2, requires_grad=True)
    y, z = x * 2, x * 3
    z.retain_grad()
    with pytest.warns(UserWarning, match="not a leaf Tensor is being accessed"):
        assert y.grad is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert x.grad is None
        assert z.grad is None
        assert (x * 2).detach().grad is None
        y.sum().backward(inputs=[y])
        assert y.grad.tolist() == [1, 1]


@pytest.mark.parametrize("value", ["False", 1, None])
def test_requires_grad_is_a_bool(T, value):
    x = T.ones(2)
    with pytest.raises(RuntimeError, match=r"^requires_grad must be a bool"):
        x.requires_grad = value
    with pytest.raises(TypeError, match=r"^requires_grad_\(\): argument 'requires_grad' .*must be bool, not "):
        x.requires_grad_(value)
    if value is not None:
        for make in (lambda: T.ones(2, requires_grad=value), lambda: T.tensor(1.0, requires_grad=value)):
            with pytest.raises(TypeError, match="must be bool, not "):
                make()
    assert not x.requires_grad


def test_a_number_of_several_is_an_error_and_no_warning_before_it():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
            float(gradwright.ones(3, requires_grad=True))


@pytest.mark.parametrize("convert", [float, int, complex, "%.2f".__mod__, "%d".__mod__])
@pytest.mark.parametrize("shape", [(3,), (0,), (2, 1)])
def test_several_are_no_number(T, convert, shape):
    with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
        convert(T.ones(shape))
