"""What tests of programs ask: which there are, which operations are left, and whether two give the same."""

from typing import Any

import numpy as np

from gradwright.compilation.entry import Entry
from gradwright.compilation.node import Interpreted, Program
from tests.compilation.random_programs import bits


def entries(step: Any) -> list[Entry]:
    """The entries of a compiled function, those of all its modes."""
    return [entry for found in step.programs.entries.values() for entry in found]


def ops_of(program: Program) -> list[str]:
    """The operations of a program in their order, without inputs and constants."""
    return [n.op for n in program.nodes if n.op not in ("input", "constant")]


def same_bits(a: Program, b: Program, *arrays: Any) -> None:
    """Assert that two programs give the same, to the bit."""
    for x, y in zip(Interpreted(a)(arrays), Interpreted(b)(arrays), strict=True):
        assert bits(x) == bits(y)


def same_but_rounded(a: Program, b: Program, *arrays: Any) -> None:
    """Assert that two programs give the same, but for a few units in the last place."""
    for x, y in zip(Interpreted(a)(arrays), Interpreted(b)(arrays), strict=True):
        assert x.dtype == y.dtype
        np.testing.assert_allclose(y, x, rtol=8 * np.finfo(x.dtype).eps, atol=0)


def sample_arrays(sample: Any) -> list[Any]:
    """Arrays for a sample of an operation."""
    rng = np.random.default_rng(0)
    found = []
    for a in sample.arrays:
        x = np.array(a.values) if a.values is not None else rng.uniform(a.low, a.high, a.shape)
        found.append(x + 1j * rng.uniform(a.low, a.high, a.shape) if a.complex and a.values is None else x)
    return found
