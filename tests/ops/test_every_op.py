"""What holds for every operation, run on every sample: the systematic part, written once.

The files beside this one, one for each module of `gradwright.ops`, hold what is particular to an operation. The checks
say themselves which sample they fail for.
"""

from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright import backends
from gradwright.backends import strict
from gradwright.ops.declare import Op, Sample, table
from gradwright.verify.gradcheck import gradcheck, gradgradcheck
from gradwright.verify.testing import check_derivatives, check_passes, check_portable, draw
from tests.thorough import some

NUMPY = backends.namespace(np.zeros(()))
OPS = list(table.values())
DIFFERENTIABLE = [op for op in OPS if op.rules]
OF_REALS = ("astype", "to_complex", "view_as_complex")  # their samples have no complex twin


def of_each(ops: list[Op]) -> Any:
    return pytest.mark.parametrize("op", ops, ids=lambda op: op.name)


def outputs(op: Op, arrays: list[Any], static: dict[str, Any]) -> list[Any]:
    out = op(*arrays, **static)
    return list(out) if op.several else [out]


@of_each(OPS)
def test_only_views_share_memory_and_nothing_is_written(op: Op) -> None:
    assert op.samples
    assert op.__doc__
    for sample in op.samples:
        arrays, static = draw(sample)
        before = [a.copy() for a in arrays]
        for o in outputs(op, arrays, static):
            assert op.kind == "view" or not any(np.shares_memory(o, a) for a in arrays), sample
        for a, b in zip(arrays, before, strict=True):
            assert np.array_equal(a, b), f"a formula wrote into its input: {sample}"


@of_each(DIFFERENTIABLE)
def test_derivatives(op: Op) -> None:
    for sample in op.samples:
        check_derivatives(op, sample, order=3)
        check_passes(op, sample)


@of_each([op for op in DIFFERENTIABLE if op.complex and op.name not in OF_REALS])
def test_complex_derivatives(op: Op) -> None:
    for sample in op.samples:
        check_derivatives(op, sample, order=2, dtype="complex128", tolerance=1e-5)


@of_each(OPS)
def test_array_api_strict_and_float32(op: Op) -> None:
    for sample in op.samples:
        check_portable(op, sample, strict.namespace, order=3)
        if op.name != "astype":
            check_portable(op, sample, NUMPY, dtype="float32", order=3)


@pytest.mark.parametrize(("op", "sample"), [
    pytest.param(op, sample, id=f"{op.name}-{i}")
    for op in DIFFERENTIABLE for i, sample in some(enumerate(op.samples), 2)
])  # fmt: skip
def test_gradcheck(op: Op, sample: Sample) -> None:
    """All entries of the first derivative, and projections of those of a loss: `test_derivatives` has them in turn."""
    arrays, static = draw(sample)
    if any(np.iscomplexobj(a) for a in (*arrays, *outputs(op, arrays, static))):
        return
    rules = [n in op.rules for n in op.names_of(len(arrays))]
    xs = [gradwright.tensor(a, requires_grad=r and a.dtype.kind == "f") for a, r in zip(arrays, rules, strict=True)]

    def f(*xs: Any) -> Any:
        out = op(*xs, **static)
        return tuple(out) if op.several else out

    def slope(*xs: Any) -> Any:
        ys, wanted = f(*xs), [x for x in xs if x.requires_grad]
        total = sum((y * y).sum() for y in (ys if op.several else (ys,)))
        return gradwright.autograd.grad(total, wanted, create_graph=True)

    assert gradcheck(f, xs)
    assert gradcheck(slope, xs, fast_mode=True)
    if any(g.requires_grad for g in slope(*xs)):  # not so where the slope is 0 everywhere
        assert gradgradcheck(slope, xs, fast_mode=True)


@of_each([op for op in OPS if op.kind == "linear"])
def test_linear_is_linear(op: Op) -> None:
    for sample in op.samples:
        x, static = draw(sample)
        y, _ = draw(sample, seed=1)
        floats = [(a, b) for a, b in zip(x, y, strict=True) if a.dtype.kind in "fc"]  # it is linear in these together
        places = [a for a in x if a.dtype.kind not in "fc"]
        out = op(*(2 * a + b for a, b in floats), *places, **static)
        expected = 2 * op(*x, **static) + op(*y, **static)
        np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12, err_msg=str(sample))


@of_each([op for op in OPS if op.kind == "elementwise"])
def test_elementwise_acts_entry_by_entry(op: Op) -> None:
    for sample in op.samples:
        arrays, static = draw(sample)
        out = op(*arrays, **static)
        full = np.broadcast_arrays(*arrays)
        assert out.shape == full[0].shape
        for at in np.ndindex(*out.shape):
            np.testing.assert_allclose(op(*(a[at] for a in full), **static), out[at], rtol=1e-13, err_msg=str(sample))
