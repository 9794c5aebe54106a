"""What holds for every operation, run on every sample: the systematic part, written once.

The files beside this one, one for each module of `gradwright.ops`, hold what is particular to an operation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradwright.op import Op, Sample, table

import gradwright
from gradwright import backends
from gradwright.backends import strict
from gradwright.verify.gradcheck import gradcheck, gradgradcheck
from gradwright.verify.testing import check_derivatives, check_passes, check_portable, draw

NUMPY = backends.namespace(np.zeros(()))
SAMPLES = [pytest.param(op, s, id=f"{op.name}-{i}") for op in table.values() for i, s in enumerate(op.samples)]
DIFFERENTIABLE = [p for p in SAMPLES if p.values[0].rules]
OF_REALS = ("astype", "to_complex", "view_as_complex")  # their samples have no complex twin
COMPLEX = [p for p in DIFFERENTIABLE if p.values[0].complex and p.values[0].name not in OF_REALS]


def is_real(op: Op, sample: Sample) -> bool:
    """Whether neither the arrays nor the outputs of a sample are complex."""
    arrays, static = draw(sample)
    out = op(*arrays, **static)
    return not any(np.iscomplexobj(a) for a in (*arrays, *(out if op.several else [out])))


REAL = [p for p in DIFFERENTIABLE if is_real(*p.values)]


@pytest.mark.parametrize("op", table.values(), ids=lambda op: op.name)
def test_has_samples_and_a_docstring(op: Op) -> None:
    assert op.samples
    assert op.__doc__


@pytest.mark.parametrize(("op", "sample"), DIFFERENTIABLE)
def test_derivatives(op: Op, sample: Sample) -> None:
    check_derivatives(op, sample, order=3)


@pytest.mark.parametrize(("op", "sample"), COMPLEX)
def test_complex_derivatives(op: Op, sample: Sample) -> None:
    check_derivatives(op, sample, order=2, dtype="complex128", tolerance=1e-5)


@pytest.mark.parametrize(("op", "sample"), REAL)
def test_gradcheck(op: Op, sample: Sample) -> None:
    arrays, static = draw(sample)
    rules = [n in op.rules for n in (op.inputs * len(arrays) if op.variadic else op.inputs)]
    xs = [gradwright.tensor(a, requires_grad=r and a.dtype.kind == "f") for a, r in zip(arrays, rules, strict=False)]

    def f(*xs: Any) -> Any:
        out = op(*xs, **static)
        return tuple(out) if op.several else out

    def slope(*xs: Any) -> Any:
        ys, wanted = f(*xs), [x for x in xs if x.requires_grad]
        total = sum((y * y).sum() for y in (ys if op.several else (ys,)))
        return gradwright.autograd.grad(total, wanted, create_graph=True)

    assert gradcheck(f, xs)
    assert gradcheck(slope, xs)
    if any(g.requires_grad for g in slope(*xs)):  # not so where the slope is 0 everywhere
        assert gradgradcheck(slope, xs)


@pytest.mark.parametrize(("op", "sample"), DIFFERENTIABLE)
def test_ordinary_and_recorded_passes_agree(op: Op, sample: Sample) -> None:
    check_passes(op, sample)


@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_array_api_strict(op: Op, sample: Sample) -> None:
    check_portable(op, sample, strict.namespace, order=3)


@pytest.mark.parametrize(("op", "sample"), [p for p in SAMPLES if p.values[0].name != "astype"])
def test_float32_stays_float32(op: Op, sample: Sample) -> None:
    check_portable(op, sample, NUMPY, dtype="float32", order=3)


@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_only_views_share_memory(op: Op, sample: Sample) -> None:
    arrays, static = draw(sample)
    before = [a.copy() for a in arrays]
    out = op(*arrays, **static)
    for o in out if op.several else [out]:
        assert op.kind == "view" or not any(np.shares_memory(o, a) for a in arrays)
    for a, b in zip(arrays, before, strict=True):
        assert np.array_equal(a, b), "a formula wrote into its input"


@pytest.mark.parametrize(("op", "sample"), [p for p in SAMPLES if p.values[0].kind == "linear"])
def test_linear_is_linear(op: Op, sample: Sample) -> None:
    x, static = draw(sample)
    y, _ = draw(sample, seed=1)
    floats = [(a, b) for a, b in zip(x, y, strict=True) if a.dtype.kind in "fc"]  # it is linear in these together
    places = [a for a in x if a.dtype.kind not in "fc"]
    out = op(*(2 * a + b for a, b in floats), *places, **static)
    np.testing.assert_allclose(out, 2 * op(*x, **static) + op(*y, **static), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("op", "sample"), [p for p in SAMPLES if p.values[0].kind == "elementwise"])
def test_elementwise_acts_entry_by_entry(op: Op, sample: Sample) -> None:
    arrays, static = draw(sample)
    out = op(*arrays, **static)
    full = np.broadcast_arrays(*arrays)
    assert out.shape == full[0].shape
    for at in np.ndindex(*out.shape):
        np.testing.assert_allclose(op(*(a[at] for a in full), **static), out[at], rtol=1e-13)
