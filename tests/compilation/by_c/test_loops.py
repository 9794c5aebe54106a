"""Loops: what lies across, threads."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_c.runner import C
from gradwright.compilation.interpreted import Interpreted
from gradwright.compilation.trace.traced import space, traced


@pytest.mark.parametrize("shape", [(64, 2048), (33, 70), (16, 16), (5, 40, 37), (2, 300, 500)])
def test_what_lies_across_is_read_tile_by_tile(compiler: None, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    axes = tuple(range(x.ndim))

    def f(x: Any) -> list[Any]:
        turned = space.permute_dims(x, axes[::-1])
        y = space.permute_dims(x, (*axes[:-2], axes[-1], axes[-2]))
        whole = space.reshape(turned, (-1,))
        return [turned + 1.0, y * 2.0, whole, y + y[..., ::-1, :], turned - space.astype(turned, np.float64),
                space.batch_last(x * 2.0) - 1.0]

    program = traced(f, x)
    ours = C(program)
    assert "tile" in ours.source
    for got, want in zip(ours([x]), Interpreted(program)([x]), strict=True):
        np.testing.assert_array_equal(got, want)


SUMS = """
import numpy as np
from gradwright.compilation.by_c import C
from gradwright.compilation.trace.traced import space, traced
x = np.random.default_rng(0).standard_normal((1000, 777)).astype(np.float32)
f = lambda x: [space.sum(space.exp(x)), space.sum(x * x, axis=0), space.sum(x, axis=1), space.sum(x.T * 2.0, axis=1)]
runner = C(traced(f, x))
assert "parallel" in runner.source
print(hash(b"".join(a.tobytes() for _ in range(20) for a in runner([x]))))
"""


def test_sums_are_the_same_for_any_number_of_threads(compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    said = set()
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    for number in ("1", "2", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", number)
        said.add(subprocess.run([sys.executable, "-c", SUMS], capture_output=True, check=True, text=True).stdout)
    assert len(said) == 1


FORKS = """
import os, numpy as np
from gradwright.compilation.by_c import C
from gradwright.compilation.trace.traced import space, traced
x = np.ones(1_000_000)
runner = C(traced(lambda x: space.sum(space.exp(x)), x))
(want,) = runner([x])
for _ in range(20):
    child = os.fork()
    if not child:
        os._exit(0 if runner([x])[0] == want else 1)
    assert runner([x])[0] == want
    assert os.waitpid(child, 0)[1] == 0
"""


def test_a_forked_child_has_threads_of_its_own(compiler: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKS], check=True, timeout=120)
