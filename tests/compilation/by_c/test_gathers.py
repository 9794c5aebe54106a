"""Which reading and adding by index C does."""

from typing import Any

import numpy as np
import pytest

from gradwright.backends.generic import HERE
from gradwright.compilation.by_c.gathers import gather_of, spread_of
from gradwright.compilation.by_c.runner import C
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
    assert found.operands == tuple(node.nodes()) or found.kind == "add"
    assert (gather_of(node, True) is None) is (found.kind != "take")


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


def test_what_numpy_spreads() -> None:
    half, nothing = np.ones(6, np.float16), np.ones((0, 5, 6))
    for y, key in ((np.ones(()), (slice(0, 2),)), (nothing, (slice(2, 2),)), (half, (0, 0))):
        (node,) = traced(lambda y, key=key: space.unindex(y, shape=X.shape, key=key), y).outputs
        assert spread_of(node) is None
