"""Memory for rules that work entry by entry: runs, pieces and chunks."""

import numpy as np
import pytest

from gradwright import native
from gradwright.backends import fused
from gradwright.backends.fused import Memory, is_numpy, sharing
from gradwright.backends.in_place import InPlace
from gradwright.base.cpython.at_once import at_once

STEP = InPlace(lambda xp, p, g, m, lr: {"p": p - lr * g, "m": m + g}, ("p", "g", "m"), ("lr",))


def memory(arrays, **numbers):
    made = Memory(arrays, ("m",), numbers, np.dtype("float32"))
    made.buffers["m"][:] = 0
    return made


def test_sharing():
    whole = np.zeros(10)
    parts = [whole[5:], np.zeros(3), whole[:5], whole[4:6], np.zeros(0), whole[8:]]
    assert sharing(parts) == {0, 2, 3, 5}
    assert sharing([whole[:5], whole[5:]]) == set()


def test_is_numpy():
    assert is_numpy(np.ones(2))
    assert is_numpy(np.float32(1))
    assert not is_numpy([1.0])


def test_views():
    made = memory([np.ones((2, 3), "complex64"), np.ones((), "complex64")], step=3.0)
    views = dict(made.views(0))
    assert views["step"] == 3
    assert (views["m"].shape, views["m"].dtype) == ((2, 3), np.complex64)
    views["m"][...] = 1j
    assert made.buffers["m"].tolist() == [0.0, 1.0] * 6 + [0.0, 0.0]


def test_runs():
    made = memory([np.ones(1) for _ in range(6)], step=0.0)
    at_once(made.remembering(range(3, 5), {"step": 1.0}))
    assert list(made.runs([5, 0, 1, 3, 4])) == [
        (range(2), {"step": 0.0}), (range(3, 5), {"step": 1.0}), (range(5, 6), {"step": 0.0})
    ]  # fmt: skip


def test_runs_of_one_that_occurs_twice():
    made = memory([np.ones(1) for _ in range(2)], step=0.0)
    found = []
    for run, now in made.runs([0, 0, 1]):
        found.append((run, now["step"]))
        at_once(made.remembering(run, {"step": now["step"] + 1}))
    assert found == [(range(2), 0.0), (range(1), 1.0)]


def test_runs_end_where_memory_is_shared():
    whole = np.ones(4)
    made = memory([whole[:3], whole[2:], np.ones(1)])
    assert [run for run, _ in made.runs([0, 1, 2])] == [range(1), range(1, 3)]
    made.place(1, np.ones(2))
    assert [run for run, _ in made.runs([0, 1, 2])] == [range(3)]


@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16"])
def test_update(monkeypatch, dtype, by_rows):
    monkeypatch.setattr(fused, "_CHUNK", 64)
    shapes = [(3,), (), (0,), (2, 4), (100,), (7,)]
    arrays = [np.full(shape, 2.0, dtype) for shape in shapes]
    arrays.append(np.full((5, 4), 2.0, dtype) if by_rows else np.full((5, 4), 2.0, dtype).T)
    made = memory(arrays)
    assert made.fits(0, arrays[0])
    assert not made.fits(0, arrays[1])
    for _ in range(2):
        grads = [np.full(a.shape, k, dtype) for k, a in enumerate(arrays)]
        calls = made.updates(range(len(arrays)), grads, STEP, [0.25])
        assert (len(calls) == 1) == (native.core is not None and by_rows and dtype in ("float32", "float64"))
        at_once(calls)
    for k, a in enumerate(arrays):
        assert (a == 2 - 0.5 * k).all()
        assert (dict(made.views(k))["m"] == 2 * k).all()


@pytest.mark.skipif(native.core is None, reason=f"core: {native.state()}")
def test_gradients_as_they_come():
    """In another order, spread, shifted against the array in one memory, of no axes; and many, which threads share."""
    whole = np.arange(13.0)
    arrays = [np.ones((3, 4)), np.ones((2, 2)), whole[:12], np.ones(()), np.ones(200_001)]
    grads = [np.arange(12.0).reshape(4, 3).T, np.broadcast_to(3.0, (2, 2)), whole[1:], np.float64(5),
             np.arange(200_001.0)]  # fmt: skip
    expected = [a - 0.25 * g for a, g in zip(arrays, grads, strict=True)]
    made = memory(arrays)
    (call,) = made.updates(range(5), grads, STEP, [0.25])
    at_once([call])
    for a, b in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="a gradient of another size or dtype"):
        at_once(made.updates(range(5), [*grads[:4], np.float32(5)], STEP, [0.25]))
    for a, b in zip(arrays, expected, strict=True):
        np.testing.assert_array_equal(a, b)  # nothing is written if one does not fit


def test_pieces_do_not_pile_up():
    made = memory([np.ones(1) for _ in range(4)])
    for first in range(4):
        for stop in range(first + 1, 5):
            at_once(made.updates(range(first, stop), [np.ones(1)] * (stop - first), STEP, [0.0]))
    assert len(made._pieces) <= 5
