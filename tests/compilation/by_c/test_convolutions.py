"""Convolutions without columns, against NumPy's with them."""

from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gradwright.backends.windows import Lattice
from gradwright.compilation.by_c import windows
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.node import Interpreted
from gradwright.compilation.trace.traced import space, traced


@st.composite
def lattices(draw: Any) -> tuple[Lattice, tuple[int, ...]]:
    """A lattice, and a size in which it has windows."""
    n = draw(st.integers(1, 3))
    axes, size = [], []
    for _ in range(n):
        kernel, stride, dilation = (draw(st.integers(1, 3)) for _ in range(3))
        before = draw(st.integers(0, 3))
        after = draw(st.integers(-1, 3))
        axes.append((kernel, stride, dilation, (before, after)))
        least = max(1, dilation * (kernel - 1) + 1 - before - after)
        size.append(least + draw(st.integers(0, 6)))
    return Lattice(*(tuple(a[k] for a in axes) for k in range(4))), tuple(size)


def same(f: Any, *arrays: Any) -> C:
    """Assert that C does what NumPy does."""
    program = traced(f, *arrays)
    c = C(program)
    for got, want in zip(c(list(arrays)), Interpreted(program)(list(arrays)), strict=True):
        scale = max(1.0, float(np.abs(want).max(initial=0)))
        tolerance = 2e-5 if got.dtype == np.float32 else 1e-12
        np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * scale)
    return c


def laid(x: Any, how: int) -> Any:
    """The same numbers, with their axes in another order in memory, or apart."""
    if how == 1:
        return np.asfortranarray(x)
    if how == 2:
        wide = np.zeros((*x.shape[:-1], 2 * x.shape[-1]), x.dtype)
        wide[..., ::2] = x
        return wide[..., ::2]
    if how == 3:
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 0, -1)), -1, 0)
    return x


def operands(lattice: Lattice, size: Any, n: int, inner: int, out: int, groups: int, how: int, dtype: Any) -> Any:
    """Rows, images, results and a bias, in float32 or float64 and in some layout."""
    rng = np.random.default_rng(0)
    height, count = inner * int(np.prod(lattice.kernel)), lattice.count(size)
    shapes = ((groups, out, height), (n, groups * inner, *size), (n, groups * out, *count), (groups * out,))
    return (laid(rng.standard_normal(s).astype(dtype), how if len(s) > 1 else 0) for s in shapes)


@pytest.mark.usefixtures("compiler")
@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.generate], derandomize=True)
@given(lattices(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 2), st.integers(0, 3),
       st.booleans(), st.sampled_from([np.float32, np.float64]), st.sampled_from([1, 400, 1 << 18]))  # fmt: skip
def test_convolution_and_its_adjoints(found: Any, n: int, inner: int, out: int, groups: int, how: int, bias: bool,
                                      dtype: Any, block: int) -> None:  # fmt: skip
    lattice, size = found
    rows, x, y, b = operands(lattice, size, n, inner, out, groups, how, dtype)

    def f(rows: Any, x: Any, y: Any, b: Any) -> Any:
        weighed = space.weigh_windows(space.reshape(y, (n, groups, out, -1)), x, lattice=lattice)
        again = space.weigh_windows(space.reshape(y, (n, groups, out, -1)), x + 1.0, lattice=lattice)
        return [
            space.times_windows(rows, x, b if bias else None, lattice=lattice),
            space.spread_windows(rows, y, size=size, lattice=lattice), weighed, space.sum(again, axis=0),
        ]  # fmt: skip

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(windows, "_BLOCK", block)
        c = same(f, rows, x, y, b)
    assert "NumPy" not in {r["kind"] for r in c.loops}
    assert n == 1 or sum(r["name"] == "weigh_windows" for r in c.loops) == 1


@pytest.mark.usefixtures("compiler")
@settings(max_examples=15, deadline=None, phases=[Phase.explicit, Phase.generate], derandomize=True)
@given(lattices(), st.integers(0, 3), st.sampled_from([np.float32, np.float64, np.int64, np.uint8]), st.booleans())
def test_windows_and_back(found: Any, how: int, dtype: Any, exact: bool) -> None:
    lattice, size = found
    x = laid(np.random.default_rng(0).integers(0, 100, (2, 3, *size)).astype(dtype), how)

    def f(x: Any) -> Any:
        seen = space.windows(x, lattice=lattice)
        return [space.fold_windows(seen + x.dtype.type(1), size=size, lattice=lattice), seen[..., 0] + seen[..., -1]]

    same(f, x)
    program = traced(f, x)
    for got, want in zip(C(program, exact)([x]), Interpreted(program)([x]), strict=True):
        np.testing.assert_array_equal(got, want)


def test_python_sees_padded_windows(compiler: None) -> None:
    x = np.arange(12.0).reshape(1, 3, 4)
    lattice = Lattice((3,), (2,), (1,), ((1, 2),))
    same(lambda x: space.sort(space.windows(x * 2.0, lattice=lattice), axis=-1), x)


@pytest.mark.parametrize("dtype", [np.int64, np.complex128, np.float16])
def test_what_blas_does_not_take_stays_with_numpy(compiler: None, dtype: Any) -> None:
    lattice = Lattice((2,), (1,), (1,), ((0, 0),))
    rows, x = np.ones((1, 2, 6), dtype), np.ones((2, 3, 5), dtype)
    c = same(lambda rows, x: space.times_windows(rows, x, None, lattice=lattice), rows, x)
    assert {r["kind"] for r in c.loops} == {"NumPy"}


def test_a_window_of_one_entry_is_no_window(compiler: None) -> None:
    lattice = Lattice((1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)))
    rng = np.random.default_rng(0)
    rows, x = rng.standard_normal((1, 4, 3)), rng.standard_normal((2, 3, 5, 6))
    c = same(lambda rows, x: [space.times_windows(rows, x, None, lattice=lattice),
                              space.spread_windows(space.permute_dims(rows, (0, 2, 1)), x, size=(5, 6),
                                                   lattice=lattice)], rows, x)  # fmt: skip
    assert "columns_" not in c.source


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
