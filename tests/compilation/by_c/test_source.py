"""The C text is to be read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright as gw
from gradwright.backends.generic import HERE
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.trace.traced import space, traced

ALL = slice(None)


def run(f: Any, *arrays: Any, exact: bool = False) -> Any:
    runner = C(traced(f, *arrays), exact=exact, arrays=arrays)
    assert "static int gather_" in runner.source
    runner(arrays)
    (found,) = runner(arrays)
    return found


def same(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.tobytes() == np.ascontiguousarray(expected).tobytes()


def of(draw: Any, shape: tuple[int, ...], dtype: str) -> Any:
    """Numbers that lie in order, or do not."""
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    x = (rng.standard_normal(shape[::-1]) * 50).astype(dtype)
    how = draw(st.sampled_from(["in order", "turned", "backwards", "every other", "broadcast"]))
    if how == "turned":
        return x.T
    x = np.ascontiguousarray(x.T)
    if how == "backwards":
        return x[::-1]
    if how == "every other":
        return np.repeat(x, 2, axis=-1)[..., ::2]
    return np.broadcast_to(x[:1], shape) if how == "broadcast" else x


@st.composite
def cases(draw: Any) -> Any:
    shape = tuple(draw(st.lists(st.integers(1, 4), min_size=1, max_size=3)))
    x = of(draw, shape, draw(st.sampled_from(["float32", "float64", "int16", "bool"])))
    axis = draw(st.integers(0, len(shape) - 1))
    kind = draw(st.sampled_from(["int64", "int32", "uint8"]))
    low = 0 if kind == "uint8" else -shape[axis]
    rng = np.random.default_rng(draw(st.integers(0, 99)))

    def index(size: tuple[int, ...], low: int) -> Any:
        found = rng.integers(low, shape[axis], size).astype(kind)
        return np.broadcast_to(found[:1], size) if draw(st.booleans()) and size else found

    any_shape = tuple(draw(st.lists(st.integers(1, 4), max_size=2)))
    along = tuple(n if k == axis else draw(st.integers(1, shape[k])) for k, n in enumerate(shape))
    return x, axis, index(any_shape, low), index(along, 0)


@settings(max_examples=8, deadline=None)
@given(cases())
def test_reading(compiler: None, case: Any) -> None:
    x, axis, where, along = case
    for exact in (False, True):
        found = run(lambda x, i: space.at(x, i, key=(ALL,) * axis + (HERE,)), x, where, exact=exact)
        same(found, np.take(x, where, axis=axis))
    same(run(lambda x, i: space.take(x, i, axis=axis - x.ndim), x, where), np.take(x, where, axis=axis))
    within = x[tuple(ALL if k == axis else slice(n) for k, n in enumerate(along.shape))]
    same(run(lambda x, i: space.take_along_axis(x, i, axis=axis), x, along), np.take_along_axis(within, along, axis))


@settings(max_examples=8, deadline=None)
@given(cases())
def test_adding(compiler: None, case: Any) -> None:
    x, axis, where, along = case
    x = x.astype(np.float32)
    src = np.random.default_rng(0).standard_normal(along.shape).astype(np.float32)
    expected = np.array(x)
    grid = np.ogrid[tuple(slice(n) for n in along.shape)]
    np.add.at(expected, tuple(along if k == axis else at for k, at in enumerate(grid)), src)
    same(run(lambda x, i, y: space.scatter_add(x, i, y, axis=axis), x, along, src), expected)
    src = np.random.default_rng(0).standard_normal((*x.shape[:axis], *where.shape, *x.shape[axis + 1 :]))
    expected, key = np.zeros(x.shape), (ALL,) * axis + (HERE,)
    np.add.at(expected, (*(ALL,) * axis, where), src)
    same(run(lambda y, i: space.unindex(y, i, shape=x.shape, key=key), src, where), expected)


def test_several_indices(compiler: None) -> None:
    x, i, j = np.arange(60.0).reshape(3, 4, 5), np.array([[0, 2], [-1, 1]]), np.array([[3, -4], [0, 3]])
    same(run(lambda x, i, j: space.at(x, i, j, key=(HERE, HERE)), x, i, j), x[i, j])
    expected = np.zeros((3, 4, 5))
    np.add.at(expected, (i, j), x[i, j])
    y = x[i, j]
    same(run(lambda y, i, j: space.unindex(y, i, j, shape=(3, 4, 5), key=(HERE, HERE)), y, i, j), expected)


@pytest.mark.parametrize("wrong", [4, -5])
def test_an_index_out_of_range_is_numpys_error_and_nothing_is_written(compiler: None, wrong: int) -> None:
    x, i, w = np.arange(4.0), np.array([0, 3]), np.ones(2)
    program = traced(lambda x, i, w: [w * 2, space.at(x, i, key=(HERE,)) + w], x, i, w)
    program.writes[0] = 2
    runner = C(program)
    assert runner([x, i, w])[1].tolist() == [1, 4]
    assert w.tolist() == [2, 2]
    i[1] = wrong
    for runner.timed in (False, True):
        with pytest.raises(IndexError, match="out of"):
            runner([x, i, w])
        assert w.tolist() == [2, 2]


def test_labels_out_of_range_are_told_as_in_an_eager_run(compiler: None) -> None:
    f = gw.nn.functional.cross_entropy
    step = gw.compile(lambda x, y: f(x, y), backend="c")
    x, y = gw.randn(4, 3), gw.tensor([0, 1, 2, 0])
    for _ in range(4):
        assert abs(step(x, y) - f(x, y)) < 1e-6
    y[2] = 3
    with pytest.raises(IndexError) as eager:
        f(x, y)
    with pytest.raises(IndexError) as compiled:
        step(x, y)
    assert str(compiled.value) == str(eager.value)


def test_an_embedding_and_its_gradient(compiler: None) -> None:
    w = gw.randn(10, 4, dtype=gw.float64, requires_grad=True)

    def step(i: Any) -> Any:
        (g,) = gw.autograd.grad((gw.nn.functional.embedding(i, w, padding_idx=2) ** 2).sum(), w)
        with gw.no_grad():
            w.sub_(0.1 * g)
        return g

    compiled = gw.compile(step, backend="c", check="always")
    rng = np.random.default_rng(0)
    for _ in range(6):
        compiled(gw.tensor(rng.integers(0, 10, (3, 5))))
    assert not compiled.programs.reason
    kinds = [row.where for row in compiled.explain().programs[0].rows]
    assert "NumPy" not in kinds


X = np.ones((3, 3))


def test_it_says_what_it_does_and_where_that_is_written(compiler: None) -> None:
    f = lambda x: space.matmul(space.exp(x), x)
    runner = C(traced(f, X))
    assert "// 3 x 3: %1 exp" in runner.source
    assert f"{Path(__file__).name}:{f.__code__.co_firstlineno}" in runner.source
    assert "matmul" in runner.source
    assert "erf(" not in runner.source


def test_calls_stand_between_stretches(compiler: None) -> None:
    runner = C(traced(lambda x: space.exp(space.roll(space.sin(x), 1)), X))
    found = [(r["kind"], r["name"], r["entries"]) for r in runner.loops]
    assert found == [("C", "sin", 9), ("NumPy", "roll", 0), ("C", "exp", 9)]
    assert "long run_1(" in runner.source
    assert "long run_2(" not in runner.source
