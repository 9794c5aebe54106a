"""Text in which sizes are variables, run on other sizes than it was made of."""

import ctypes
import shutil

import numpy as np
import pytest

from gradwright.compilation.by_c import ahead
from gradwright.compilation.by_c.build import COMPILERS, load
from gradwright.compilation.by_c.source import whole
from gradwright.compilation.by_c.symbols import FLOOR, Symbols
from gradwright.compilation.trace.traced import space as xp

needs_compiler = pytest.mark.skipif(not any(map(shutil.which, COMPILERS)), reason="no C compiler")
ROWS, ENTRIES = 13, 521


def sample(dtype=np.float64):
    return np.random.default_rng(0).random((ROWS, ENTRIES)).astype(dtype)


FORMULAS = [
    lambda x: xp.max(x, axis=1, keepdims=True) - x,
    lambda x: (x - xp.sum(x, axis=1, keepdims=True) / ENTRIES) * xp.sqrt(x + 3 / 2**17),
    lambda x: xp.expand_dims(xp.sum(x * x, axis=1), axis=0) + xp.zeros_like(x[:1, :1]),
]


@needs_compiler
@pytest.mark.parametrize("k", range(len(FORMULAS)))
@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (5, 2000)])
def test_it_runs_on_other_sizes(k, shape):
    text = ahead.written("kernel", FORMULAS[k], [sample()], Symbols((ROWS, ENTRIES), (3 / 2**17,)))
    library = load(FLOOR + whole(text, None, frozenset()).replace("static long kernel", "long kernel"))
    x = np.random.default_rng(1).random(shape)
    n = (ctypes.c_long * 3)(*shape, shape[0])
    numbers = (ctypes.c_double * 1)(0.25)
    expected = [
        lambda: x.max(1, keepdims=True) - x,
        lambda: (x - x.mean(1, keepdims=True)) * np.sqrt(x + 0.25),
        lambda: (x * x).sum(1)[None],
    ][k]()
    out = np.empty(expected.shape)
    own = np.empty(library.kernel_own(n) + 64, np.uint8)
    start = own.ctypes.data + -own.ctypes.data % 64
    given = (ctypes.c_void_p * 2)(x.ctypes.data, out.ctypes.data)
    assert library.kernel(given, n, numbers, ctypes.c_void_p(start)) == 0
    np.testing.assert_allclose(out, expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(("formula", "said"), [
    (lambda x: x if xp.any(x > 0.5) else -x, "depends on values"),
    (lambda x: x + np.arange(float(ENTRIES)), "a constant array"),
    (lambda x: x * 0.3, r"what is 0\.3"),
    (lambda x: xp.matmul(x, xp.permute_dims(x, (1, 0))), "C does not do all of it"),
])  # fmt: skip
def test_what_cannot_be_written_so_is_told(formula, said):
    with pytest.raises(ValueError, match=said):
        ahead.written("kernel", formula, [sample()], Symbols((ROWS, ENTRIES)))
