"""Memory for rules that work entry by entry: runs, pieces and chunks."""

import numpy as np
import pytest

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


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "float16"])
def test_update(monkeypatch, dtype):
    monkeypatch.setattr(fused, "_CHUNK", 64)
    shapes = [(3,), (), (0,), (2, 4), (100,), (7,)]
    arrays = [np.full(shape, 2.0, dtype) for shape in shapes]
    arrays.append(np.full((5, 4), 2.0, dtype).T)
    made = memory(arrays)
    assert made.fits(0, arrays[0])
    assert not made.fits(0, arrays[1])
    for _ in range(2):
        grads = [np.full(a.shape, k, dtype) for k, a in enumerate(arrays)]
        at_once(made.updates(range(len(arrays)), grads, STEP, [0.25]))
    for k, a in enumerate(arrays):
        assert (a == 2 - 0.5 * k).all()
        assert (dict(made.views(k))["m"] == 2 * k).all()


def test_pieces_do_not_pile_up():
    made = memory([np.ones(1) for _ in range(4)])
    for first in range(4):
        for stop in range(first + 1, 5):
            at_once(made.updates(range(first, stop), [np.ones(1)] * (stop - first), STEP, [0.0]))
    assert len(made._pieces) <= 5
