import numpy as np
import pytest
import scipy.special

import gradwright as gw
from gradwright import autograd
from gradwright.face.interop.numpy import _PLAIN, FUNCTIONS

A = np.linspace(0.3, 1.7, 6).reshape(2, 3)


def tensor(array=A):
    return gw.tensor(array, requires_grad=True)


@pytest.mark.parametrize(
    "f",
    [
        np.sin, np.exp, np.log, np.tanh, np.sqrt, np.square, np.arctan, np.absolute, np.negative, np.expm1, np.log1p,
        np.reciprocal, np.cbrt if hasattr(gw, "cbrt") else np.cosh, np.deg2rad, scipy.special.erf, scipy.special.expit,
        scipy.special.gammaln,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_ufuncs_are_recorded(f):
    x = tensor()
    y = f(x)
    assert isinstance(y, gw.Tensor)
    np.testing.assert_allclose(y.detach().numpy(), f(A), rtol=1e-12)
    assert autograd.gradcheck(f, (x,))


@pytest.mark.parametrize(
    "f", [np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.hypot, np.arctan2, np.logaddexp],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_ufuncs_of_two_arguments_take_arrays_and_numbers_beside(f):
    for pair in ((tensor(), A[::-1] + 0.1), (A[0] + 1, tensor()), (tensor(), np.float64(2.5)), (tensor(), 3)):
        out = f(*pair)
        plain = [p.detach().numpy() if isinstance(p, gw.Tensor) else p for p in pair]
        np.testing.assert_allclose(out.detach().numpy(), f(*plain), rtol=1e-12)
        assert out.requires_grad


def test_arrays_on_the_left_of_operators():
    x = tensor()
    for out in (A * x, A - x, np.float64(2) / x, A @ x.T, A**x, x > A):
        assert isinstance(out, gw.Tensor)
    np.testing.assert_allclose((A @ x.T).detach().numpy(), A @ A.T)


def test_a_numpy_number_does_not_widen():
    x = gw.tensor([1.0, 2.0])
    assert (np.float64(2) * x).dtype is gw.float32
    assert np.multiply(x, np.float64(2)).dtype is gw.float32


CALLS = {
    "concatenate": lambda n, t: n.concatenate([t, A], axis=1),
    "concatenate, flat": lambda n, t: n.concatenate([t, A], axis=None),
    "stack": lambda n, t: n.stack([t, A, t]),
    "sum": lambda n, t: n.sum(t, axis=0, keepdims=True),
    "mean": lambda n, t: n.mean(t, axis=(0, 1)),
    "std": lambda n, t: n.std(t, axis=1),
    "var": lambda n, t: n.var(t, ddof=1),
    "max": lambda n, t: n.max(t, axis=1),
    "prod": lambda n, t: n.prod(t),
    "cumsum": lambda n, t: n.cumsum(t),
    "cumprod": lambda n, t: n.cumprod(t, axis=1),
    "where": lambda n, t: n.where(A > 1, t, A),
    "transpose": lambda n, t: n.transpose(t),
    "reshape": lambda n, t: n.reshape(t, (3, 2)),
    "squeeze": lambda n, t: n.squeeze(t[:1]),
    "expand_dims": lambda n, t: n.expand_dims(t, 1),
    "moveaxis": lambda n, t: n.moveaxis(t, 0, 1),
    "flip": lambda n, t: n.flip(t),
    "roll": lambda n, t: n.roll(t, 1),
    "tril": lambda n, t: n.tril(t),
    "diagonal": lambda n, t: n.diagonal(t),
    "clip": lambda n, t: n.clip(t, 0.5, 1.0),
    "round": lambda n, t: n.round(t, 1),
    "sort": lambda n, t: n.sort(t),
    "dot": lambda n, t: n.dot(t, A.T),
    "inner": lambda n, t: n.inner(t, A),
    "outer": lambda n, t: n.outer(t, A),
    "tensordot": lambda n, t: n.tensordot(t, A, axes=2),
    "kron": lambda n, t: n.kron(t, A),
    "einsum": lambda n, t: n.einsum("ij,kj->ik", t, A),
    "linalg.norm": lambda n, t: n.linalg.norm(t, axis=1),
    "linalg.inv": lambda n, t: n.linalg.inv(t[:, :2]),
    "linalg.det": lambda n, t: n.linalg.det(t[:, :2]),
    "linalg.solve": lambda n, t: n.linalg.solve(t[:, :2], A),
    "fft.fft": lambda n, t: n.abs(n.fft.fft(t)),
    "add.reduce": lambda n, t: n.add.reduce(t, axis=1),
    "multiply.accumulate": lambda n, t: n.multiply.accumulate(t, axis=1),
    "nan_to_num": lambda n, t: n.nan_to_num(t),
    **{f"{name} over no axis": lambda n, t, name=name: getattr(n, name)(t, axis=())
       for name in ("sum", "prod", "mean", "max", "min", "nansum", "nanmean", "ptp")},
    "var over no axis": lambda n, t: n.var(t, axis=()),
    "dot, number": lambda n, t: n.dot(t, 2.0),
    "dot, number at left": lambda n, t: n.dot(2.0, t),
    "expand_dims, several": lambda n, t: n.expand_dims(t, (0, -2)),
    "sort, flat": lambda n, t: n.sort(t[::-1], axis=None),
    "roll, several": lambda n, t: n.roll(t, 1, axis=(0, 1)),
    "roll, several shifts": lambda n, t: n.roll(t, (1, 2), axis=1),
    "where, plain condition": lambda n, t: n.where(True, t, 1),
    "where, whole condition": lambda n, t: n.where([0, 2, 1], t, 1),
    "take": lambda n, t: n.take(t, [[0, -1]], axis=1),
    "take, flat": lambda n, t: n.take(t, 4),
    "take_along_axis": lambda n, t: n.take_along_axis(t, np.array([[-1], [0]]), axis=1),
    "repeat": lambda n, t: n.repeat(t, 2),
    "repeat, each": lambda n, t: n.repeat(t, [1, 0, 2], axis=1),
    "tile": lambda n, t: n.tile(t, (2, 1, 2)),
    "diff": lambda n, t: n.diff(t, 2, axis=1),
    "trace": lambda n, t: n.trace(t, 1),
    "vstack": lambda n, t: n.vstack([t, A]),
    "hstack": lambda n, t: n.hstack((t, A)),
    "dstack": lambda n, t: n.dstack([A, t]),
    "column_stack": lambda n, t: n.column_stack([t, A[:, 0]]),
    "split": lambda n, t: n.split(t, 3, axis=1)[1],
    "split, at": lambda n, t: n.split(t, [1, 2], axis=1)[2],
    "array_split": lambda n, t: n.array_split(t, 2, axis=1)[0],
    "hsplit": lambda n, t: n.hsplit(t, 3)[2],
    "meshgrid": lambda n, t: n.meshgrid(t[0], A[:, 0])[0],
    "median": lambda n, t: n.median(t, axis=1),
    "median, even": lambda n, t: n.median(t, keepdims=True),
    "atleast_3d": lambda n, t: n.atleast_3d(t),
    "broadcast_arrays": lambda n, t: n.broadcast_arrays(t, 1.0, t[0])[2],
    "unique": lambda n, t: n.unique(t[::-1]),
    "cross": lambda n, t: n.cross(t, A[0]),
    "ptp": lambda n, t: n.ptp(t, axis=1),
    "linalg.svdvals": lambda n, t: n.linalg.svdvals(t),
    "linalg.eigvalsh": lambda n, t: n.linalg.eigvalsh(t @ t.T),
}

PLAIN = {
    "zeros_like": lambda n, t: n.zeros_like(t),
    "ones_like, other dtype": lambda n, t: n.ones_like(t, dtype=np.int32),
    "full_like": lambda n, t: n.full_like(t, 3),
    "count_nonzero": lambda n, t: n.count_nonzero(t, axis=0),
    "argwhere": lambda n, t: n.argwhere(t),
    "nonzero": lambda n, t: n.nonzero(t)[1],
    "where": lambda n, t: n.where(t)[0],
    "argmax": lambda n, t: n.argmax(t, axis=1),
    "argsort, flat": lambda n, t: n.argsort(t, axis=None),
    "isclose": lambda n, t: n.isclose(t, 1.0),
    "isin": lambda n, t: n.isin(t, [1, 2]),
    "any over no axis": lambda n, t: n.any(t, axis=()),
}


@pytest.mark.parametrize("name", CALLS)
def test_functions_are_recorded(name):
    x = tensor()
    out = CALLS[name](np, x)
    assert isinstance(out, gw.Tensor)
    np.testing.assert_allclose(out.detach().numpy(), CALLS[name](np, A), rtol=1e-12, atol=1e-12)
    assert autograd.gradcheck(lambda t: CALLS[name](np, t), (x,))


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.parametrize("array", [np.array([[np.nan, 0.0, -2.0], [np.inf, 1.0, 1.0]]), np.array([[1, 0], [2, 1]]),
                                   np.array([[True, False]])], ids=["float", "int", "bool"])  # fmt: skip
def test_functions_without_derivative_are_numpys(name, array):
    out, want = PLAIN[name](np, gw.tensor(array)), PLAIN[name](np, array)
    assert isinstance(out, gw.Tensor)
    assert not out.requires_grad
    np.testing.assert_array_equal(out.numpy(), want)
    assert out.numpy().dtype == want.dtype


def test_numbers_and_nan():
    t = gw.tensor([1.0, np.nan, 2.0, np.nan])
    assert np.unique(t).tolist()[:2] == [1.0, 2.0]
    assert np.unique(t).shape == (3,)
    assert np.isnan(np.median(t).item())
    assert np.median(gw.tensor([np.inf, np.inf])).item() == np.inf
    assert np.count_nonzero(t) == 4
    assert np.allclose(gw.tensor([1, 2]), [1.0, 2.0]) is True


def test_what_is_refused_says_so():
    x = tensor()
    with pytest.raises(ValueError, match="equal division"):
        np.split(x, 2, axis=1)
    with pytest.raises(TypeError, match=r"numpy\.take: indices must be whole"):
        np.take(x, [True, False])
    with pytest.raises(TypeError, match=r"numpy\.full_like: the fill value is a Tensor"):
        np.full_like(x, x[0, 0])
    with pytest.raises(ValueError, match="repeated axis"):
        np.expand_dims(x, (0, 0))


@pytest.mark.parametrize(
    "f",
    [np.interp, np.unwrap, np.histogram, np.polyfit, np.apply_along_axis, np.gradient, np.convolve],
    ids=lambda f: f.__name__,
)
def test_what_is_not_defined_is_refused_and_never_detached(f):
    x = tensor(A[0])
    with pytest.raises(TypeError, match=r"numpy\.\w+: not defined for Tensors.*detach\(\)\.numpy\(\)"):
        f(*{"interp": (x, A[0], A[0]), "polyfit": (x, A[0], 1), "apply_along_axis": (np.sum, 0, x),
            "convolve": (x, A[0])}.get(f.__name__, (x,)))  # fmt: skip
    with pytest.raises(TypeError, match="not defined for Tensors"):
        np.spacing(x)
    with pytest.raises(TypeError, match="unexpected keyword argument 'where'"):
        np.sum(x, where=A[0] > 1)


@pytest.mark.filterwarnings("ignore:__array__ implementation")  # PyTorch's has no copy=
def test_without_gradients_what_is_not_defined_is_numpys_as_with_pytorch():
    torch = pytest.importorskip("torch")
    for library in gw, torch:
        row, column = np.unravel_index(library.tensor([1, 5]), (2, 3))
        assert type(row) is np.ndarray
        assert (row.tolist(), column.tolist()) == ([0, 1], [1, 2])
        x = library.tensor(A[0])
        np.testing.assert_array_equal(np.convolve(x, A[0]), np.convolve(A[0], A[0]))
        assert type(np.interp(x, A[0], A[0])) is np.ndarray
        np.testing.assert_array_equal(np.histogram(a=x)[0], np.histogram(A[0])[0])


def test_results_are_not_written_into_numpy_arrays():
    with pytest.raises(TypeError, match="out= is a NumPy array"):
        np.sin(tensor(), out=np.empty((2, 3)))
    array = A.copy()
    with pytest.raises(TypeError, match="out= is a NumPy array"):
        array += tensor()
    into = gw.zeros(2, 3, dtype=gw.float64)
    assert np.sin(gw.tensor(A), out=into) is into
    np.testing.assert_allclose(into.numpy(), np.sin(A))


def test_every_entry_is_a_function_of_numpy():
    for name in {*FUNCTIONS, *_PLAIN}:
        home = np
        for part in name.split("."):
            assert hasattr(home, part), name
            home = getattr(home, part)


def test_take_along_axis_counts_from_the_end() -> None:
    x, index = np.arange(6.0).reshape(2, 3), np.array([[-1], [-3]])
    t = gw.tensor(x, requires_grad=True)
    out = np.take_along_axis(t, index, 1)
    np.testing.assert_array_equal(out.detach().numpy(), np.take_along_axis(x, index, 1))
    out.sum().backward()
    assert t.grad.tolist() == [[0, 0, 1], [1, 0, 0]]
    flat = np.take_along_axis(t, np.array([-2]), None)
    assert flat.tolist() == [4.0]


TAKEN = {
    "times": lambda w, a: w * a,
    "reflected": lambda w, a: a * w,
    "matmul": lambda w, a: a @ w,
    "over": lambda w, a: w / a,
    "under": lambda w, a: a / w,
    "power": lambda w, a: w**a,
    "exponent": lambda w, a: a**w,
    "function": lambda w, a: gw.mul(w, a),
    "in place": lambda w, a: (w * 1).mul_(a),
    "ufunc": lambda w, a: np.multiply(a, w),
    "maximum": lambda w, a: np.maximum(w, a),
    "dot": lambda w, a: np.dot(a, w),
    "einsum": lambda w, a: np.einsum("ij,jk->ik", w, a),
    "tensordot": lambda w, a: np.tensordot(a, w, 1),
    "where": lambda w, a: np.where(a.view(bool)[:, ::8], w, a),
    "taken": lambda w, a: np.take_along_axis(w, a.view(np.int64) % 2, 1),
    "stacked": lambda w, a: np.stack([w, a]) * w,
    "of a view": lambda w, a: w.reshape(4).reshape(2, 2) * a[::-1],
}


@pytest.mark.parametrize("name", TAKEN)
@pytest.mark.parametrize("recorded", [False, True])
def test_an_array_that_is_written_after_it_was_used(name, recorded):
    """The graph has the values that it had."""
    found = []
    for written in (False, True):
        w = gw.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=gw.float64, requires_grad=True)
        a = np.array([[1.0, 2.0], [0.5, 3.0]])
        y = TAKEN[name](w, a)
        if written:
            a[...] = 7.0
        found.append(autograd.grad(y.square().sum(), w, create_graph=recorded)[0].tolist())
    assert found[0] == found[1]
