"""Which reading and adding by index C does."""

from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.backends.generic import HERE
from gradwright.compilation.by_c.gathers import gather_of, spread_of
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.node import Interpreted
from gradwright.compilation.trace.traced import space, traced

X, I = np.ones((4, 5, 6)), np.array([0, 2, -1])
ALL = slice(None)
DONE: dict[str, Any] = {
    "rows": (lambda x, i: space.at(x, i, key=(HERE,)), (X, I)),
    "along an axis": (lambda x, i: space.at(x, i, key=(ALL, HERE)), (X, I)),
    "two indices": (lambda x, i: space.at(x, i, i, key=(HERE, HERE)), (X, I)),
    "a table": (lambda x, i: space.at(x, i, key=(HERE,)), (X, I.reshape(3, 1))),
    "one": (lambda x, i: space.at(x, i, key=(HERE,)), (X, np.array(2))),
    "entries": (lambda x, i: space.take_along_axis(x, i, axis=1), (X, np.zeros((4, 2, 6), int))),
    "fewer entries": (lambda x, i: space.take_along_axis(x, i, axis=1), (X, np.zeros((2, 7, 3), np.uint8))),
    "taken": (lambda x, i: space.take(x, i, axis=0), (X, I)),
    "taken from behind": (lambda x, i: space.take(x, i, axis=-1), (X, I)),
    "a table taken": (lambda x, i: space.take(x, i, axis=1), (X, I.reshape(3, 1).astype(np.uint8) % 5)),
    "added": (lambda x, i, y: space.scatter_add(x, i, y, axis=0), (X, np.zeros((2, 5, 6), int), np.ones((2, 5, 6)))),
    "written": (lambda x, y, i: space.put(x, y, i, key=(HERE,)), (X, np.full((3, 5, 6), 2.0), I)),
    "written twice": (lambda x, y, i: space.put(x, y, i, i, key=(ALL, HERE, HERE)), (X, np.arange(8.0).reshape(4, 2),
                                                                                      np.array([1, 1]))),
    "put": (lambda x, i, y: space.scatter(x, i, y, axis=0), (X, np.zeros((2, 5, 6), int), np.full((2, 5, 6), 3.0))),
    "multiplied": (lambda x, i, y: space.scatter_prod(x, i, y, axis=0), (X, np.zeros((2, 5, 6), int),
                                                                         np.full((2, 5, 6), 3.0))),
    "the largest": (lambda x, i, y: space.scatter_max(x, i, y, axis=0), (X, np.zeros((2, 5, 6), int),
                                                                         np.full((2, 5, 6), 3.0))),
    "added by a key": (lambda x, y, i: space.put(x, y, i, key=(ALL, HERE), accumulate=True),
                       (X, np.ones((4, 3, 6)), I)),
    "gradient": (lambda y, i: space.unindex(y, i, shape=(4, 5, 6), key=(HERE,)), (np.ones((3, 5, 6)), I)),
}
LEFT: dict[str, Any] = {
    "a mask": (lambda x, i: space.at(x, i, key=(HERE,)), (X, np.array([True, False, True, False]))),
    "another key": (lambda x, i: space.at(x, i, key=(HERE, None)), (X, I)),
    "a part": (lambda x, i: space.at(x, i, key=(slice(1, 3), HERE)), (X, I)),
    "two shapes": (lambda x, i, j: space.at(x, i, j, key=(HERE, HERE)), (X, I, I[:, None])),
    "nothing": (lambda x, i: space.at(x, i, key=(HERE,)), (X, I[:0])),
    "integers added": (lambda y, i: space.unindex(y, i, shape=(4,), key=(HERE,)), (I, I)),
    "half": (lambda x, i: space.at(x, i, key=(HERE,)), (X.astype(np.float16), I)),
}


@pytest.mark.parametrize("name", DONE)
def test_what_c_does(name: str) -> None:
    f, arrays = DONE[name]
    (node,) = traced(f, *arrays).outputs
    found = gather_of(node, False)
    assert found is not None
    assert {*found.operands} == {*node.nodes()}
    assert (gather_of(node, True) is None) is (found.kind not in ("take", "put"))


@pytest.mark.parametrize("name", LEFT)
def test_what_is_left_to_numpy(name: str) -> None:
    f, arrays = LEFT[name]
    (node,) = traced(f, *arrays).outputs
    assert gather_of(node, False) is None


KEYS = [(1,), (..., 0), (ALL, 2), (slice(1, 3),), (ALL, slice(None, None, -2), 5), (-1, -1, -1), (None, ...),
        (slice(3, None, -1), None, 2), (..., slice(1, 6, 3)), (slice(0, 4), slice(4, 5), slice(None, None, 2)),
        (2, ..., None, 3)]  # fmt: skip


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "int64", "bool"])
def test_the_gradient_of_a_view_is_a_loop(key: Any, dtype: str, compiler: None) -> None:
    y = np.asarray(np.random.default_rng(0).integers(-5, 6, X[key].shape)).astype(dtype)
    given = np.asarray(y.T.copy().T)  # column by column
    runner = C(traced(lambda y: space.unindex(y, shape=X.shape, key=key), given))
    expected = np.zeros(X.shape, dtype)
    expected[key] = y
    assert [record["kind"] for record in runner.loops] == ["C"]
    np.testing.assert_array_equal(runner([given])[0], expected)


@pytest.mark.parametrize("name", DONE)
def test_what_c_does_is_what_numpy_does(name: str, compiler: None) -> None:
    f, arrays = DONE[name]
    program = traced(f, *arrays)
    runner = C(program)
    assert [record["kind"] for record in runner.loops] == ["C"]
    np.testing.assert_array_equal(runner(arrays)[0], Interpreted(program)(arrays)[0])


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_a_view_is_written_in_a_loop(key: Any, compiler: None) -> None:
    y = np.random.default_rng(0).standard_normal(X[key].shape)
    x = np.asarray(np.random.default_rng(1).standard_normal(X.shape[::-1]).T)
    runner = C(traced(lambda x, y: space.put(x, y, key=key), x, y), exact=True)
    expected = x.copy()
    expected[key] = y
    assert [record["kind"] for record in runner.loops][-1] == "C"
    np.testing.assert_array_equal(runner([x, y])[0], expected)


def test_what_a_chain_of_views_shows_is_written_in_a_loop(compiler: None) -> None:
    def step(x: Any, y: Any) -> Any:
        x = x.clone()
        x.T[1:].diagonal().copy_(y)
        return x

    made = gradwright.compile(step, backend="c")
    rng = np.random.default_rng(0)
    for _ in range(4):
        x, y = gradwright.tensor(rng.standard_normal((4, 5))), gradwright.tensor(rng.standard_normal(4))
        np.testing.assert_array_equal(made(x, y).numpy(), step(x, y).numpy())
    assert all(row.where == "C" for program in made.explain().programs for row in program.rows)


def test_what_numpy_spreads() -> None:
    half, nothing = np.ones(6, np.float16), np.ones((0, 5, 6))
    for y, key in ((np.ones(()), (slice(0, 2),)), (nothing, (slice(2, 2),)), (half, (0, 0))):
        (node,) = traced(lambda y, key=key: space.unindex(y, shape=X.shape, key=key), y).outputs
        assert spread_of(node) is None
