"""Convolutions without columns, against NumPy's with them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gradwright.backends.windows import Lattice
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.trace.traced import space, traced
from tests.compilation.by_c.test_columns import lattices, operands, same


@st.composite
def in_lines(draw: Any) -> tuple[Lattice, tuple[int, ...]]:
    """A lattice, and a size in which its windows lie side by side along the last axis."""
    lattice, size = draw(lattices())
    run = draw(st.sampled_from([16, 17, 23, 31, 32, 40, 64, 65]))
    reach = lattice.dilation[-1] * (lattice.kernel[-1] - 1)
    last = max(1, run + reach - sum(lattice.padding[-1]))
    stride = (*lattice.stride[:-1], 1)
    return Lattice(lattice.kernel, stride, lattice.dilation, lattice.padding), (*size[:-1], last)


@pytest.mark.usefixtures("compiler")
@settings(max_examples=25, deadline=None, phases=[Phase.explicit, Phase.generate], derandomize=True)
@given(in_lines(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 8), st.integers(1, 2), st.integers(0, 3),
       st.booleans(), st.sampled_from([np.float32, np.float64]))  # fmt: skip
def test_results_and_weights(found: Any, n: int, inner: int, out: int, groups: int, how: int, bias: bool,
                             dtype: Any) -> None:  # fmt: skip
    lattice, size = found
    rows, x, y, b = operands(lattice, size, n, inner, out, groups, how, dtype)

    def f(rows: Any, x: Any, y: Any, b: Any) -> Any:
        weighed = space.weigh_windows(space.reshape(y, (n, groups, out, -1)), x, lattice=lattice)
        return [space.times_windows(rows, x, b if bias else None, lattice=lattice), space.sum(weighed, axis=0)]

    c = same(f, rows, x, y, b)
    for kind in ("tile", "weights"):
        assert (f"static FUSED void {kind}_" in c.source) == (max(lattice.kernel) > 1)


def test_images_are_padded_once_for_all(compiler: None) -> None:
    lattice = Lattice((3, 3), (1, 1), (1, 1), ((1, 1), (1, 1)))
    rng = np.random.default_rng(0)
    rows, x = rng.standard_normal((1, 4, 18)), rng.standard_normal((3, 2, 5, 20))

    def f(rows: Any, x: Any) -> Any:
        y = space.times_windows(rows, x, None, lattice=lattice)
        weighed = space.weigh_windows(space.reshape(y, (3, 1, 4, -1)), x, lattice=lattice)
        return [y, space.sum(weighed, axis=0)]

    c = same(f, rows, x)
    assert sum(node.op == "padded" for record in c.loops for node in record["nodes"]) == 1


def test_what_is_not_finite_stays_in_its_windows(compiler: None) -> None:
    """The last windows of a line are computed with those before them; what these read does not reach them."""
    lattice = Lattice((1, 3), (1, 1), (1, 1), ((0, 0), (0, 0)))
    rng = np.random.default_rng(0)
    rows, x = (rng.standard_normal(s).astype(np.float32) for s in ((1, 2, 6), (2, 2, 3, 25)))
    y = rng.standard_normal((2, 1, 2, 69)).astype(np.float32)
    x[0, 0, 0, 5], x[1, 1, 2, 24] = np.inf, np.nan
    y[:, :, 1, 5] = 0

    def f(rows: Any, x: Any, y: Any) -> Any:
        weighed = space.weigh_windows(y, x, lattice=lattice)
        return [space.times_windows(rows, x, None, lattice=lattice), space.sum(weighed, axis=0)]

    same(f, rows, x, y)


def test_large_sums_are_as_exact_as_those_of_numpy(compiler: None) -> None:
    lattice = Lattice((2, 1), (1, 1), (1, 1), ((0, 0), (0, 0)))
    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((1, 1, 1001, 500)), rng.standard_normal((1, 1, 2, 500_000))

    def f(x: Any, y: Any) -> Any:
        return space.sum(space.weigh_windows(y, x, lattice=lattice), axis=0)

    given = [a.astype(np.float32) for a in (x + 1, y + 1)]
    rows, terms = given[1][0, 0].astype(float), given[0][0, 0].astype(float)
    want = np.stack([rows @ terms[k : k + 1000].ravel() for k in (0, 1)], axis=1)
    (got,) = C(traced(f, *given))(given)
    assert np.abs(got[0] / want - 1).max() < 2e-7
