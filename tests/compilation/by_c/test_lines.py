"""Which lines C does."""

import numpy as np

from gradwright.compilation.by_c.lines import line_of
from gradwright.compilation.trace.traced import space, traced


def test_a_vector_has_one_axis() -> None:
    x = np.ones(3)
    for f in (space.cumulative_sum, space.cumulative_prod, space.sort):
        found = line_of(traced(f, x).outputs[0], False)
        assert found is not None
        assert found.axis == 0


def test_what_is_left_to_numpy() -> None:
    x = np.ones((2, 5000))
    for f in (lambda x: space.argsort(x, axis=1), lambda x: space.argsort(x, axis=1, stable=True),
              lambda x: space.sort(x, axis=1), lambda x: space.argtop(x, k=3, axis=1, largest=True),
              lambda x: space.cumulative_sum(x[:0], axis=1),
              lambda x: space.argmax(space.astype(x, np.float16), axis=0)):  # fmt: skip
        assert line_of(traced(f, x).outputs[0], False) is None
