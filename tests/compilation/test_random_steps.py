"""Random programs of writes, views, indexing and ordinary operations do compiled what they do eagerly, in four calls.

`make test` compiles a few, for NumPy and in C; `make soak` 20,000 for NumPy and 2,000 in C, the same ones each time.
"""

import os
import warnings

import pytest

from tests.engine.random_programs.compiled import difference
from tests.engine.test_random_programs_at_once import drawn

COUNT = 2 * int(os.environ.get("SOAK", "100" if os.environ.get("CI") else "50")) // 5
PIECE = min(COUNT, 500)
PIECES = COUNT // PIECE
PROGRAMS = drawn(COUNT)
CASES = [*(("plan", range(k * PIECE, (k + 1) * PIECE)) for k in range(PIECES)),
         *(("c", range(k * PIECE, k * PIECE + PIECE // 10)) for k in range(PIECES))]  # fmt: skip


@pytest.mark.parametrize(("backend", "numbers"), CASES)
def test_programs_do_compiled_what_they_do_eagerly(backend, numbers):
    reasons: dict[str, int] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for k in numbers:
            found = difference(PROGRAMS[k], reasons, backend=backend)
            assert found is None, f"program {k}: {found}"
    assert len(numbers) < 40 or reasons[""] > len(numbers) // 5, f"few are compiled: {reasons}"
