"""Loops: what lies across, threads."""

import itertools
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradwright.compilation.by_c.loops import BLOCK
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.node import CHECK, Interpreted, Node, Program
from gradwright.compilation.trace.traced import space, traced
from tests.thorough import some

SHAPES = [(3, 4, 5), (2, 1, 9000), (700, 2, 3), (40, 50, 60), (1, 1, 1), (2, 0, 3), (200, 1000),
          (1000, 200), (3 * BLOCK + 1,)]  # fmt: skip


@pytest.mark.parametrize(("shape", "dtype"), [
    (shape, dtype) for k, shape in enumerate(SHAPES)
    for dtype in some(["float32", "float64", "int32", "uint8", "bool"], 3, k)
])  # fmt: skip
def test_reductions(compiler: None, shape: tuple[int, ...], dtype: str) -> None:
    x = (np.random.default_rng(0).standard_normal(shape) * 3).astype(dtype)
    axes = range(len(shape))
    choices: list[Any] = [None, *(c for k in axes for c in itertools.combinations(axes, k + 1))]

    def f(x: Any) -> list[Any]:
        found = []
        for axis in choices:
            names = ["sum", "any", "all", "max", "min"] if x.size else ["sum", "any", "all", "prod"]
            found += [getattr(space, name)(x, axis=axis, keepdims=name == "sum") for name in names]
        return found

    program = traced(f, x)
    for got, want in zip(C(program)([x]), Interpreted(program)([x]), strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        if x.dtype.kind == "f" and got.dtype.kind == "f":
            near = 1e-5 if dtype == "float32" else 1e-12
            np.testing.assert_allclose(got, want, rtol=near, atol=100 * near)
        else:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("at", [0, 17, 5000, 8191])
def test_a_nan_is_the_largest_and_the_smallest(compiler: None, at: int) -> None:
    x = np.zeros((2, 8192), np.float32)
    x[1, at] = np.nan
    program = traced(lambda x: [space.max(x), space.min(x), space.max(x, axis=1), space.min(x, axis=0)], x)
    for got, want in zip(C(program)([x]), Interpreted(program)([x]), strict=True):
        np.testing.assert_array_equal(got, want)


def test_a_long_sum_keeps_its_digits(compiler: None) -> None:
    x = np.full(10_000_000, 0.1, np.float32)
    (got,) = C(traced(lambda x: space.sum(x), x))([x])
    assert abs(float(got) / (1e7 * float(np.float32(0.1))) - 1) < 1e-5


@pytest.mark.parametrize("shape", [(100_000, 3), (50, 2000, 7), (30_000, 70), (300, 3 * BLOCK + 5)])
def test_sums_of_many_lines_keep_their_digits(compiler: None, shape: tuple[int, ...]) -> None:
    x = (np.random.default_rng(0).random(shape) + 0.5).astype(np.float32)
    axes = tuple(range(x.ndim - 1))
    (got,) = C(traced(lambda x: space.sum(x, axis=axes), x))([x])
    np.testing.assert_allclose(got, x.sum(axes, dtype=float), rtol=3e-7)


ONE = np.float64(1)


def times_fused(f: Callable[..., Any], *arrays: Any, exact: bool = False) -> int:
    """How many products are fused, of a function whose results are NumPy's but for rounding."""
    program = traced(f, *arrays)
    c = C(program, exact)
    for got, want in zip(c(list(arrays)), Interpreted(program)(list(arrays)), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-13 if got.dtype == np.float64 else 1e-5)
    return c.source.count("= fused")


X, Y, Z = np.random.default_rng(0).uniform(0.5, 2, (3, 7, 50))


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize(("n", "f"), [
    (1, lambda x, y, z: space.sum(x * y)),
    (1, lambda x, y, z: space.sum(x * y, axis=0)),
    (2, lambda x, y, z: space.sum(space.square(x * y - z[0, 0]))),
    (2, lambda x, y, z: space.sum(space.square(z[0, 0] - x * y), axis=1)),
    (1, lambda x, y, z: space.sum(x * y + 2.0) * z),
    (1, lambda x, y, z: space.sum(x * y - (-2.0)) - 3.0),
    (2, lambda x, y, z: space.sum(space.square(-2.0 - x * y)) / 7.0),
    (1, lambda x, y, z: space.sum(space.square(x * y - z))),  # but for the inner one: z may be x y
    (1, lambda x, y, z: [space.sum(x * y + z[0, 0]), space.max(z)]),
])  # fmt: skip
def test_what_ends_in_sums_is_fused(n: int, f: Callable[..., Any]) -> None:
    assert times_fused(f, X, Y, Z) == n
    assert times_fused(f, *(a.astype(np.float32) for a in (X, Y, Z))) == n
    assert times_fused(f, X, Y, Z, exact=True) == 0


@pytest.mark.usefixtures("compiler")
@pytest.mark.parametrize("f", [
    lambda x, y, z: x * y + z,  # a result
    lambda x, y, z: space.sum(space.sqrt(z + x * y)),  # a root
    lambda x, y, z: space.sum(ONE / (x * y + z)),
    lambda x, y, z: space.sum(space.where(x * y + z > ONE, x, y)),
    lambda x, y, z: space.sum(space.abs(x * y + z)),
    lambda x, y, z: [space.sum(x * y + z), x * y],
    lambda x, y, z: space.max(x * y + z),
    lambda x, y, z: space.sqrt(space.sum(space.square(x * y - z[0, 0]))),  # a root of the sum
    lambda x, y, z: x / space.sum(x * y),
    lambda x, y, z: space.where(space.sum(x * y) > ONE, x, y),
])  # fmt: skip
def test_all_else_is_not(f: Callable[..., Any]) -> None:
    assert times_fused(f, X, Y, Z) == 0


def test_the_root_of_a_perfect_fit_is_zero(compiler: None) -> None:
    x = np.random.default_rng(0).uniform(0.5, 2, (2, 1000)).astype(np.float32)
    y = x[0] * x[1]
    (got,) = C(traced(lambda x, w, y: space.sqrt(space.sum(space.square(x * w - y))), *x, y))([*x, y])
    assert got == 0


def test_a_difference_of_equal_products_is_zero(compiler: None) -> None:
    x = np.random.default_rng(0).uniform(0.5, 2, 1000).astype(np.float32)

    def f(x: Any, y: Any, z: Any) -> Any:
        return [space.sum(x * z - y * z), space.sum(space.square(x) - space.square(y))]

    (a, b) = C(traced(f, x, x.copy(), x + np.float32(1)))([x, x.copy(), x + np.float32(1)])
    assert (a, b) == (0, 0)


def test_values_on_which_python_decides_are_those_of_numpy(compiler: None) -> None:
    """A check compares floats to the last bit."""
    x, y = (np.random.default_rng(k).standard_normal(1000).astype(np.float32) for k in (0, 1))
    program = traced(lambda x, y: [space.sum(x * y)], x, y)
    total = program.outputs[0]
    checked = Program([*program.nodes, Node(CHECK, (total, np.asarray(total.value)), {}, None)], program.inputs,
                      program.outputs, program.writes)  # fmt: skip
    (got,) = C(checked)([x, y])
    assert got == total.value


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
