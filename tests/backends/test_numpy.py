from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import mutually_broadcastable_shapes

import gradwright as gw
from gradwright import backends
from gradwright.backends import numpy as numpy_backend

xp = numpy_backend.namespace


def test_is_the_namespace_of_arrays_and_scalars() -> None:
    class Own(np.ndarray):
        pass

    for value in (np.zeros(2), np.float32(1), np.zeros(2).view(Own), np.bool_(True)):
        assert backends.namespace(value) is xp


def test_a_stranger_has_no_namespace() -> None:
    with pytest.raises(TypeError, match="expected an array or a Tensor, got list"):
        backends.namespace([1.0])


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
@pytest.mark.parametrize("axis", [None, 0, (0, 1), ()], ids=str)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_are_numpys(name: str, axis: Any, keepdims: bool) -> None:
    x = np.random.standard_normal((2, 3))
    out = getattr(xp, name)(x, axis=axis, keepdims=keepdims)
    np.testing.assert_array_equal(out, getattr(np, name)(x, axis=axis, keepdims=keepdims))


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(200, 64), (3, 50, 70), (64, 512)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_extreme_values_of_many_rows_are_numpys(name: str, dtype: str, shape: Any, keepdims: bool) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(dtype).round(1)  # with equal entries
    x.reshape(-1)[[5, 777, 4000]] = np.nan, np.inf, -np.inf
    got = getattr(numpy_backend.namespace, name)(x, axis=-1, keepdims=keepdims)
    np.testing.assert_array_equal(got, getattr(np, name)(x, axis=-1, keepdims=keepdims))
    assert got.dtype == dtype


@given(
    mutually_broadcastable_shapes(num_shapes=1, base_shape=(2, 3, 0), max_dims=4, max_side=3, min_side=0), st.booleans()
)
def test_broadcast_to_is_numpys(shapes: Any, transposed: bool) -> None:
    (shape,) = shapes.input_shapes
    x = np.zeros(shape[::-1]).T if transposed else np.zeros(shape)
    out = xp.broadcast_to(x, shapes.result_shape)
    wanted = np.broadcast_to(x, shapes.result_shape)
    assert out.shape == wanted.shape
    assert out.strides == wanted.strides or out.size <= 1 or 1 in out.shape
    assert not out.flags.writeable


@pytest.mark.parametrize(("have", "want"), [((3,), (4,)), ((2, 3), (3,)), ((2,), (2, 3)), ((0,), (2,))])
def test_broadcast_to_what_does_not_fit(have: Any, want: Any) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - NumPy's message, of which there are several
        xp.broadcast_to(np.zeros(have), want)


def test_broadcasting_reads_the_same_memory() -> None:
    x = np.arange(3.0)
    assert np.shares_memory(xp.broadcast_to(x, (2, 3)), x)
    assert np.array_equal(xp.broadcast_to(x[:, None], (3, 2)), np.broadcast_to(x[:, None], (3, 2)))
    assert xp.broadcast_to(np.float32(2), (2, 2)).tolist() == [[2.0, 2.0], [2.0, 2.0]]


@pytest.mark.parametrize("axis", [0, 1, 2, -1, -3])
def test_expand_dims(axis: int) -> None:
    x = np.zeros((2, 3))
    assert xp.expand_dims(x, axis=axis).shape == np.expand_dims(x, axis).shape
    assert np.shares_memory(xp.expand_dims(x, axis=axis), x)


def test_a_diagonal_may_be_written() -> None:
    x = np.zeros((2, 2))
    xp.linalg.diagonal(x)[...] = 1
    assert np.array_equal(x, np.eye(2))
    x.flags.writeable = False
    assert not xp.linalg.diagonal(x).flags.writeable


@pytest.mark.parametrize(
    ("shape", "axis"),
    [((100_000, 3), 0), ((3, 100_000), 1), ((2, 70_000, 3), 1), ((300, 300, 2), (0, 1)), ((5000, 7), None),
     ((255, 4), 0), ((40, 5, 30, 20), (0, 2, 3))],
)
@pytest.mark.parametrize("layout", ["C", "F", "sliced"])
def test_long_sums_keep_their_digits(shape, axis, layout):
    x = np.full(shape, 0.1, np.float32)
    x = {"C": x, "F": np.asfortranarray(x), "sliced": np.repeat(x, 2, -1)[..., ::2]}[layout]
    for keepdims in (False, True):
        out = numpy_backend.namespace.sum(x, axis=axis, keepdims=keepdims)
        exact = x.sum(axis, np.float64, keepdims=keepdims)
        assert out.dtype == np.float32
        np.testing.assert_allclose(out, exact, rtol=5e-6)


def test_a_sum_of_random_numbers_over_any_axis():
    x = np.random.standard_normal((5, 6001, 4))
    for axis in (0, 1, 2, (0, 1), (1, 2), None):
        np.testing.assert_allclose(numpy_backend.namespace.sum(x, axis=axis), np.sum(x, axis), rtol=1e-10, atol=1e-10)


LAID = {
    "row-major": lambda T: T.arange(12.0).reshape(3, 4),
    "transposed": lambda T: T.arange(12.0).reshape(3, 4).t(),
    "rows expanded": lambda T: T.arange(4.0).reshape(1, 4).expand(3, 4),
    "columns expanded": lambda T: T.arange(3.0).reshape(3, 1).expand(3, 4),
    "outer dims expanded": lambda T: T.arange(3.0).reshape(1, 3, 1).expand(2, 3, 4),
    "expanded and turned": lambda T: T.arange(8.0).reshape(2, 1, 4).expand(2, 3, 4).permute(2, 0, 1),
    "channels last, expanded": lambda T: T.arange(60.0).reshape(1, 4, 5, 3).permute(0, 3, 1, 2).expand(2, 3, 4, 5),
    "all expanded": lambda T: T.ones(()).expand(2, 3),
    "every other": lambda T: T.arange(24.0).reshape(4, 6)[::2, ::3].t(),
}


@pytest.mark.parametrize("laid", LAID)
def test_converted_tensors_lie_in_memory_as_in_pytorch(laid):
    torch = pytest.importorskip("torch")
    mine, theirs = LAID[laid](gw), LAID[laid](torch)
    compiled = gw.compile(lambda x: (x.double(), x.to(gw.int64) + 1, x.double() * 2), backend="plan")
    for _ in range(3):  # traced, compared, and run as a program
        results = compiled(mine)
    found = [*results, mine.bool(), mine.to(gw.float64, copy=True)]
    expected = [theirs.double(), theirs.to(torch.int64) + 1, theirs.double() * 2, theirs.bool(), theirs.double()]
    for a, b in zip(found, expected, strict=True):
        assert a.stride() == b.stride()
        assert a.tolist() == b.tolist()


@pytest.mark.parametrize("laid", LAID)
def test_joined_tensors_lie_in_memory_as_in_pytorch(laid):
    torch = pytest.importorskip("torch")
    for join in (lambda T, x: T.cat([x, x]), lambda T, x: T.cat([x, x], -1), lambda T, x: T.stack([x, x]),
                 lambda T, x: T.stack([x, x], -1)):  # fmt: skip
        a, b = join(gw, LAID[laid](gw)), join(torch, LAID[laid](torch))
        assert a.stride() == b.stride()
        assert a.tolist() == b.tolist()


def test_a_converted_tensor_can_be_viewed():
    assert gw.arange(4).expand(3, 4).to(gw.float32).view(-1).shape == (12,)
