"""The C text is to be read."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gradwright.compilation.by_c.runner import C
from gradwright.compilation.trace.traced import space, traced

X = np.ones((3, 3))


def test_it_says_what_it_does_and_where_that_is_written(compiler: None) -> None:
    runner = C(traced(lambda x: space.matmul(space.exp(x), x), X))
    assert "// 3 x 3: %1 exp" in runner.source
    assert f"{Path(__file__).name}:16" in runner.source
    assert "matmul" in runner.source
    assert "erf(" not in runner.source


def test_calls_stand_between_stretches(compiler: None) -> None:
    runner = C(traced(lambda x: space.exp(space.sort(space.sin(x))), X))
    found = [(r["kind"], r["name"], r["entries"]) for r in runner.loops]
    assert found == [("C", "sin", 9), ("NumPy", "sort", 0), ("C", "exp", 9)]
    assert "long run_1(" in runner.source
    assert "long run_2(" not in runner.source
