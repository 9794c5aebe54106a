"""The checks of test_every_op for the operations that are not in the table, on the matrices they are for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.backends import namespace, strict
from gradwright.op import Op, Sample
from gradwright.ops import decompose as d
from gradwright.verify.testing import check_derivatives, check_portable

NUMPY = namespace(np.zeros(()))


def leaf(x: Any) -> Any:
    return gradwright.tensor(x, requires_grad=True)


def positive(x: Any) -> Any:
    return x @ x.mT.conj() + gradwright.eye(x.shape[-1], dtype=x.dtype)


def hermitian(x: Any) -> Any:
    return x + x.mT.conj()


def size(x: Any) -> Any:
    return (x * x.conj()).real if x.is_complex() else x * x


CASES: dict[str, Callable[[Any], Any]] = {
    "cholesky": lambda x: d.cholesky(positive(x)),
    "cholesky upper": lambda x: d.cholesky(positive(x), upper=True),
    "eigh": lambda x: [(y := d.eigh(hermitian(x)))[0], size(y[1])],
    "eigh upper": lambda x: d.eigh(hermitian(x), uplo="U")[0],
    "eigvalsh": lambda x: d.eigvalsh(hermitian(x)),
    "eig": lambda x: [(y := d.eig(x))[0].real, y[0].imag ** 2, size(y[1])],
    "eigvals": lambda x: size(d.eigvals(x)),
    "svd": lambda x: [(y := d.svd(x))[1], size(y[0]), size(y[2])],
    "svdvals": d.svdvals,
    "lu_factor": lambda x: d.lu_factor(x)[0],
    "qr": lambda x: d.qr(x),
}
SQUARE = [c for c in CASES if c not in ("svd", "svdvals", "lu_factor", "qr")]


@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 2), (3, 2), (2, 3)], ids=str)
@pytest.mark.parametrize("kind", ["float64", "complex128"])
@pytest.mark.parametrize("name", CASES)
def test_derivatives(name: str, kind: str, shape: tuple[int, ...]) -> None:
    if shape[-1] != shape[-2] and (name in SQUARE or (name == "qr" and shape == (2, 3))):
        pytest.skip("not for this shape")
    parts = [leaf(np.random.standard_normal(shape)) for _ in range(2 if kind == "complex128" else 1)]

    def f(*parts: Any) -> Any:
        y = CASES[name](gradwright.complex(*parts) if len(parts) > 1 else parts[0])
        ys = y if isinstance(y, list) else [y]
        return tuple(gradwright.view_as_real(y) if y.is_complex() else y for y in ys)

    assert gradwright.autograd.gradcheck(f, parts)
    assert gradwright.autograd.gradgradcheck(f, parts, atol=1e-4)


REAL = [(o, s) for o in (d.svd, d.lu_factor) for s in o.samples]


@pytest.mark.parametrize(("op", "sample"), REAL)
def test_real_derivatives_to_third_order(op: Op, sample: Sample) -> None:
    check_derivatives(op, sample, order=3)
    check_portable(op, sample, strict.namespace, order=3)
    check_portable(op, sample, NUMPY, dtype="float32", order=3)


@pytest.mark.parametrize("f", [d.svdvals, lambda x: d.svd(x)[1]])
def test_equal_singular_values(f: Any) -> None:
    """Of a loss of the values alone there is a derivative: here the nuclear norm of 2 I, whose slope is I."""
    x = leaf(2 * np.eye(3))
    f(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.eye(3), atol=1e-12)


@pytest.mark.parametrize("f", [d.eigvalsh, lambda x: d.eigh(x)[0]])
def test_equal_eigenvalues(f: Any) -> None:
    x = leaf(2 * np.eye(3))
    (f(x) ** 2).sum().backward(create_graph=True)
    np.testing.assert_allclose(x.grad.detach().numpy(), 4 * np.eye(3), atol=1e-12)


def test_vectors_of_equal_eigenvalues_have_no_derivative() -> None:
    x = leaf(np.eye(2))
    d.eigh(x)[1][0, 1].backward()
    assert not np.isfinite(x.grad.numpy()).all()


def test_complete_qr_of_a_tall_matrix_has_no_derivative() -> None:
    with pytest.raises(RuntimeError, match="mode='complete' and nrows > ncols"):
        d.qr(leaf(np.random.standard_normal((3, 2))), mode="complete")[0].sum().backward()
