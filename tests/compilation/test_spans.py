"""Written memory is asked to lie apart from all other; NumPy is the judge of what may share memory."""

import numpy as np

from gradwright.compilation.spans import Disjoint


def views(rng, memory):
    """Pieces of some memory, of every kind of strides, some of them empty."""
    start, stop = sorted(rng.integers(0, memory.size + 1, 2))
    piece = memory[start : stop : int(rng.integers(1, 4))]
    return piece[::-1] if rng.integers(2) else piece.reshape(-1, 2) if piece.size % 2 == 0 else piece


def shared(arrays, written):
    return any(np.may_share_memory(arrays[k], a) for k in written for j, a in enumerate(arrays) if j != k)


def test_all_that_is_written_lies_apart():
    rng = np.random.default_rng(0)
    memory, said = np.zeros(40), []
    for _ in range(2000):
        arrays = [views(rng, memory) for _ in range(int(rng.integers(1, 6)))]
        written = {k for k in range(len(arrays)) if rng.integers(3) == 0}
        said.append(Disjoint(range(len(arrays)), written).of_all(arrays))
        assert said[-1] is not shared(arrays, written)
    assert 400 < sum(said) < 1600


def test_arguments_are_compared_with_what_was_sorted_before():
    rng = np.random.default_rng(1)
    memory, said = np.zeros(60), []
    for _ in range(2000):
        arrays = [memory[6 * k : 6 * k + int(rng.integers(7))] for k in range(6)]
        written = {k for k in range(8) if rng.integers(4) == 0}
        arrays += [np.zeros(2), np.zeros(3)]
        disjoint = Disjoint(range(8), written, given=(6, 7))
        assert disjoint.of_all(arrays)
        arrays[6:] = views(rng, memory), views(rng, memory)
        said.append(disjoint.of_given(arrays))
        assert said[-1] is not shared(arrays, written)
    assert 400 < sum(said) < 1600
