from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import basic_indices, integer_array_indices

import gradwright

X = np.arange(60.0).reshape(3, 4, 5) / 7
KEYS: dict[str, Any] = {  # functions of the module, so that a key may hold its tensors
    "int": lambda t: 1,
    "negative int": lambda t: -1,
    "ints": lambda t: (1, 2, 3),
    "slice": lambda t: slice(1, 3),
    "step": lambda t: slice(0, 3, 2),
    "open": lambda t: slice(None),
    "past the end": lambda t: slice(1, 99),
    "empty": lambda t: slice(2, 1),
    "none": lambda t: None,
    "dots": lambda t: ...,
    "dots and int": lambda t: (..., 2),
    "all kinds": lambda t: (slice(None), None, -1, ..., slice(1, None, 2)),
    "int and slice": lambda t: (1, slice(0, 2)),
    "0-d tensor": lambda t: t.tensor(1),
    "empty tuple": lambda t: (),
    "tensor": lambda t: t.tensor([2, 0, 2]),
    "negative tensor": lambda t: t.tensor([-1, 0]),
    "matrix": lambda t: t.tensor([[0, 1], [2, 2]]),
    "list": lambda t: [0, 2],
    "distinct matrix": lambda t: t.tensor([[0, 1]]),
    "dots and distinct tensor": lambda t: (..., t.tensor([3, 1])),
    "two tensors": lambda t: (t.tensor([0, 2]), t.tensor([1, 3])),
    "tensors that broadcast": lambda t: (t.tensor([[0], [2]]), t.tensor([1, 3])),
    "tensors apart": lambda t: (t.tensor([0, 2]), slice(None), t.tensor([1, 3])),
    "slice and tensor": lambda t: (slice(1, None), t.tensor([1, 3])),
    "int and tensor": lambda t: (1, t.tensor([1, 3])),
    "int, slice, tensor": lambda t: (1, slice(None), t.tensor([1, 3])),
    "dots and tensor": lambda t: (..., t.tensor([1, 3, 1])),
    "none and tensor": lambda t: (None, t.tensor([1, 2])),
    "empty tensor": lambda t: t.tensor([], dtype=t.int64),
    "empty list": lambda t: [],
    "mask": lambda t: t.tensor([True, False, True]),
    "mask of no entry": lambda t: t.tensor([False, False, False]),
    "mask of two dims": lambda t: t.tensor([[True, False, False, True]] * 3),
    "mask and slice": lambda t: (t.tensor([True, False, True]), slice(1, 2)),
    "slice and mask": lambda t: (slice(None), t.tensor([True, False, False, True])),
    "list of bools": lambda t: [True, False, True],
    "True": lambda t: True,
    "False": lambda t: False,
    "bytes": lambda t: t.tensor([1, 0, 1], dtype=t.uint8),
    "0-d True": lambda t: t.tensor(True),
    "int and mask": lambda t: (1, t.tensor([True, False, False, True]), slice(1, None)),
    "tensor, slice, int": lambda t: (t.tensor([1, 0]), slice(None), -1),
    "int32": lambda t: t.tensor([2, 0], dtype=t.int32),
}

REPEATED = {"tensor", "matrix", "dots and tensor"}
WRITABLE = [k for k in KEYS if k not in ("True", "False", "0-d True", "bytes")]


@pytest.mark.parametrize("name", KEYS)
def test_reading(same: Any, name: str) -> None:
    same(lambda t, x: x[KEYS[name](t)], X, names=False)


@pytest.mark.parametrize("name", ["int", "slice", "tensor", "mask", "two tensors"])
def test_names(same: Any, name: str) -> None:
    same(lambda t, x: x[KEYS[name](t)], X)


@pytest.mark.parametrize("name", WRITABLE)
def test_writing_a_number(same: Any, name: str) -> None:
    def f(t: Any, x: Any) -> Any:
        y = x * 2
        y[KEYS[name](t)] = 0.5
        return y

    same(f, X, names=False)


@pytest.mark.parametrize("name", [k for k in WRITABLE if k not in REPEATED])
def test_writing_a_tensor(same: Any, name: str) -> None:
    def f(t: Any, x: Any, v: Any) -> Any:
        y, key = x * 2, KEYS[name](t)
        shape = y[key].shape
        y[key] = v.expand(shape) if len(shape) else v.reshape(())
        return y

    same(f, X, np.array([0.25]), names=False)


def test_writing_what_broadcasts(same: Any) -> None:
    def f(t: Any, x: Any, v: Any) -> Any:
        y = x * 2
        y[1:, :, t.tensor([0, 3])] = v
        y[0, 1] = v.reshape(1, 1, 2)[..., 0]
        return y

    same(f, X, np.array([0.25, 0.5]), names=False)


def test_writing_whole_numbers(same: Any) -> None:
    def f(t: Any, x: Any) -> Any:
        x[1:] = 2.9
        x[0] = t.tensor(True)
        return x

    same(f, np.array([1, 2, 3]))


def test_of_entries_written_to_one_place_the_last_stays() -> None:
    def f(x: Any, v: Any) -> Any:
        y = x * 1
        y[[0, 2, 0]] = v
        return y

    x, v = (gradwright.tensor(a, requires_grad=True) for a in (np.arange(3.0), np.array([5.0, 6.0, 7.0])))
    assert f(x, v).tolist() == [7.0, 1.0, 6.0]
    assert gradwright.autograd.gradcheck(f, (x, v))
    f(x, v).sum().backward()
    assert v.grad.tolist() == [0.0, 1.0, 1.0]  # PyTorch gives 1 to all


def test_accumulating_at_an_index(same: Any) -> None:
    def f(t: Any, x: Any, v: Any) -> Any:
        y = x * 1
        y[1] += v
        y[:, 0] *= 3
        y[t.tensor([0, 2])] -= 1
        return y

    same(f, X, np.ones((4, 5)), names=False)


@given(basic_indices((3, 4, 5), allow_newaxis=True, allow_ellipsis=True))
@settings(max_examples=60)
def test_any_basic_index(same: Any, key: Any) -> None:
    parts = key if isinstance(key, tuple) else (key,)
    if not any(isinstance(k, slice) and (k.step or 1) < 0 for k in parts):  # which PyTorch refuses
        same(lambda t, x: x[key], X, names=False)


@given(integer_array_indices((3, 4, 5)))
@settings(max_examples=40)
def test_any_integer_tensors(same: Any, key: Any) -> None:
    same(lambda t, x: x[tuple(t.tensor(np.asarray(k)) for k in key)], X, names=False)


@given(st.data())
@settings(max_examples=40)
def test_any_mixture(same: Any, data: Any) -> None:
    part = st.sampled_from(["int", "slice", "tensor", "none"])
    kinds = data.draw(st.lists(part, max_size=4).filter(lambda ks: sum(k != "none" for k in ks) <= 3))
    key: list[Any] = []
    dim = 0
    for k in kinds:
        n = X.shape[min(dim, 2)]
        if k == "int":
            key.append(data.draw(st.integers(-n, n - 1)))
        elif k == "slice":
            key.append(slice(data.draw(st.integers(0, n)), None, data.draw(st.integers(1, 2))))
        elif k == "tensor":
            key.append(np.array([data.draw(st.integers(-n, n - 1)) for _ in range(2)]))
        else:
            key.append(None)
        dim += k != "none"
    same(lambda t, x: x[tuple(t.tensor(k) if isinstance(k, np.ndarray) else k for k in key)], X, names=False)


def test_nonzero(same: Any) -> None:
    same(lambda t, x: [t.nonzero(x), x.nonzero(as_tuple=True)], np.array([[0, 1], [2, 0]]))
    same(lambda t, x: t.nonzero(x), np.array(3.0), order=0)
    same(lambda t, x: t.nonzero(x), np.array(0.0), order=0)
    same(lambda t, x: t.nonzero(x), np.zeros((0, 2)), order=0)


def test_filling_in_place(same: Any) -> None:
    def f(t: Any, x: Any, v: Any) -> Any:
        y = x * 1
        y[0].fill_(2.0)
        y[1].fill_(v)
        y[2].zero_()
        y[0, 1].copy_(v * t.ones(5, dtype=t.float64))
        return y

    same(f, X, np.array(3.0), names=False)


MISTAKES: dict[str, tuple[Any, str]] = {
    "past the end": (lambda t, x: x[3], r"index 3 is out of bounds"),
    "before the start": (lambda t, x: x[-4], r"index -4 is out of bounds"),
    "too many": (lambda t, x: x[0, 0, 0, 0], r"too many indices"),
    "a float": (lambda t, x: x[1.5], r"ind(ex|ices)"),
    "a floating tensor": (lambda t, x: x[t.tensor([1.0])], r"tensors used as indices must be long, int, byte or bool"),
    "tensor past the end": (lambda t, x: x[t.tensor([0, 3])], r"index 3 is out of bounds"),
    "mask too long": (lambda t, x: x[t.tensor([True] * 4)], r"mask|boolean index"),
    "tensors that do not broadcast": (lambda t, x: x[t.tensor([0, 1]), t.tensor([0] * 3)], r"shape mismatch|broadcast"),
    "zero step": (lambda t, x: x[::0], r"step"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake(name: str) -> None:
    f, message = MISTAKES[name]
    with pytest.raises((RuntimeError, IndexError, TypeError, ValueError), match=message):
        f(gradwright, gradwright.tensor(X))


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_as_in_pytorch(same: Any, name: str) -> None:
    same(MISTAKES[name][0], X)


def test_more_than_pytorch_takes() -> None:
    x = gradwright.tensor(X)
    assert np.array_equal(x[::-1].numpy(), X[::-1])
    assert x[:, ::-2]._base is x


def test_what_is_no_index() -> None:
    x = gradwright.tensor(X)
    with pytest.raises(IndexError, match="single ellipsis"):
        x[..., ...]
    with pytest.raises(IndexError, match="are valid indices, but got str"):
        x["a"]


def test_a_value_that_does_not_fit_is_refused_before_anything_is_written(same: Any) -> None:
    def f(t: Any, x: Any) -> Any:
        x[0] = t.ones(3, dtype=t.float64)
        return x

    same(lambda t, x: f(t, x * 1), X)
    y = gradwright.tensor(X)
    with pytest.raises(RuntimeError, match=r"shape mismatch: value tensor of shape \[3\]"):
        f(gradwright, y)
    assert y._version == 0
    assert np.array_equal(y.numpy(), X)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("gather", (0, 1)), ("scatter_add", (0, 1, 2)), ("index_select", (0, 1)), ("nonzero", ())],
)
def test_not_a_tensor(name: str, arguments: Any) -> None:
    f = getattr(gradwright, name)
    with pytest.raises(TypeError, match=rf"{name}\(\): argument 'input' \(position 1\) must be Tensor, not list"):
        f([1.0], *arguments)
    if arguments:
        with pytest.raises(TypeError, match=rf"{name}\(\): argument 'index' \(position 3\) must be Tensor, not int"):
            f(gradwright.ones(2), *arguments)


@pytest.mark.parametrize("wrapped", [lambda i: i, gradwright.from_numpy, gradwright.tensor])
def test_an_index_changed_later_does_not_change_the_gradient(wrapped: Any) -> None:
    i = np.array([0, 1])
    x, k = gradwright.ones(3, requires_grad=True), wrapped(i)
    y = x[k]
    i += 1
    if isinstance(k, gradwright.Tensor):
        k.add_(1)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0, 0.0]


FITS = [(np.uint8, 300), (np.uint8, -1), (np.uint8, -300), (np.uint8, 1.5), (np.uint8, float("nan")), (np.int8, 200),
        (np.float32, 1e300), (np.float32, float("inf")), (np.float32, 1j), (bool, 2), (np.int64, -3.9)]  # fmt: skip


@pytest.mark.parametrize(("dtype", "value"), FITS)
def test_number_that_may_not_fit(same: Any, dtype: Any, value: Any) -> None:
    def put(t: Any, x: Any) -> Any:
        x[0] = value
        return x

    for f in (put, lambda t, x: x.fill_(value), lambda t, x: t.fill(x, value), lambda t, x: x.fill_diagonal_(value)):
        same(lambda t, x, f=f: f(t, x.clone()), np.zeros((2, 2), dtype), order=0)


def test_result_is_in_row_major_order(same: Any) -> None:
    for f in (
        lambda t, x: x[:, [0, 1]],
        lambda t, x: x[..., t.tensor([[0, 1]])],
        lambda t, x: x[:, t.tensor([0, 1]), 1:],
    ):
        same(lambda t, x, f=f: f(t, x).view(-1), X, names=False)


def test_list_of_lists_counts_as_a_tuple(same: Any) -> None:
    for key in ([[0, 1], [1, 2]], [slice(0, 2), [0, 1]], [0, None]):
        with pytest.warns(UserWarning, match="non-tuple sequence"):
            same(lambda t, x, key=key: x[key], X, names=False)


def test_masks_without_dims(same: Any) -> None:
    same(lambda t, x: [x[True], x[t.tensor(False)], x[t.tensor(True)]], np.array(3.0), names=False)
    same(lambda t, x: [x[None, True], x[:, False], x[t.tensor([0, 1]), True]], X, names=False)
    same(lambda t, x: x[t.tensor(1, dtype=t.uint8)], X, names=False)


def test_repeated_places(same: Any) -> None:
    i, v = np.array([0, 2, 0]), np.array([1.0, 2.0, 4.0])
    same(lambda t, x, i, v: [x.put(i, v, accumulate=True), x.index_put((i,), v, accumulate=True)], np.zeros(3), i, v,
         names=False)  # fmt: skip
    source = gradwright.tensor(v, requires_grad=True)
    gradwright.zeros(3, dtype=gradwright.float64).put(gradwright.tensor(i), source).sum().backward()
    assert source.grad.tolist() == [0.0, 1.0, 1.0]


def test_unravel_index(same: Any) -> None:
    same(lambda t, i: t.unravel_index(i, (3, 4, 5)), np.array([0, 59, 23]))


def _none(T):
    return T.tensor([], dtype=T.int64)


NOTHING = {
    "gather": lambda T, x, y: x.gather(0, T.zeros(0, 3, dtype=T.int64)),
    "take_along_dim": lambda T, x, y: x.take_along_dim(T.zeros(0, 3, dtype=T.int64), 0),
    "take": lambda T, x, y: x.take(_none(T)),
    "index_select": lambda T, x, y: x.index_select(0, _none(T)),
    "index_add": lambda T, x, y: x.index_add(0, _none(T), y[:0]),
    "index_copy": lambda T, x, y: x.detach().index_copy(0, _none(T), y[:0]),
    "index_fill": lambda T, x, y: x.index_fill(0, _none(T), y[0, 0]),
    "index_put": lambda T, x, y: x.index_put((_none(T),), y[:0]),
    "index_reduce": lambda T, x, y: x.index_reduce(0, _none(T), y[:0], "prod"),
    "put": lambda T, x, y: x.put(_none(T), y.reshape(-1)[:0]),
    "put, summed": lambda T, x, y: x.detach().put(_none(T), y.reshape(-1)[:0], accumulate=True),
    "masked_select": lambda T, x, y: x.masked_select(x < -9),
    "masked_fill": lambda T, x, y: x.detach().masked_fill(x < -9, y[0, 0]),
    "masked_scatter": lambda T, x, y: x.masked_scatter(x < -9, y),
    "embedding": lambda T, x, y: T.nn.functional.embedding(_none(T), x),
    "x[[]]": lambda T, x, y: x[_none(T)],
    "x[:, []]": lambda T, x, y: x[:, _none(T)],
    "x[mask]": lambda T, x, y: x[x < -9],
    "x[2:2]": lambda T, x, y: x[2:2, 1:],
    "x[[]] =": lambda T, x, y: _written(x.detach().clone(), _none(T), y[:0]),
    "x[:0] =": lambda T, x, y: _written(x.clone(), slice(0, 0), y[:0]),
    "x[mask] =": lambda T, x, y: _written(x.clone(), x < -9, y[0, 0]),
}  # fmt: skip


def _written(x, key, value):
    x[key] = value
    return x


@pytest.mark.parametrize("name", NOTHING)
@pytest.mark.filterwarnings("ignore:index_reduce.. is in beta")
def test_where_nothing_is_chosen_gradients_are_zeros_as_in_pytorch(name):
    torch = pytest.importorskip("torch")
    found = []
    for T in (torch, gradwright):
        x, y = (T.arange(6.0).reshape(2, 3).requires_grad_() for _ in range(2))
        out = NOTHING[name](T, x, y)
        grads = T.autograd.grad(out.sum(), (x, y), allow_unused=True)
        found.append((tuple(out.shape), [None if g is None else g.tolist() for g in grads]))
    assert found[0] == found[1]
    assert any(g is not None for g in found[1][1])
