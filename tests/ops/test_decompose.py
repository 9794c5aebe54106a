"""The checks of test_every_op for the operations that are not in the table, on the matrices they are for."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright.backends import namespace, strict
from gradwright.errors import GradientWarning, LinAlgError, StrictError
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


def rotated(values: Any, shape: tuple[int, int] = (3, 3), kind: str = "float64") -> Any:
    """A matrix with these singular values; Hermitian, with these eigenvalues, if square."""
    generator = np.random.default_rng(0)
    draw = [generator.standard_normal((n, n)) for n in shape]
    if kind == "complex128":
        draw = [a + 1j * generator.standard_normal(a.shape) for a in draw]
    u, v = (np.linalg.qr(a)[0] for a in draw)
    v = u if shape[0] == shape[1] else v
    k = min(shape)
    return (u[:, :k] * np.array(values)) @ v[:, :k].conj().T


def made(f: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function f of the matrix, made of its eigenvalues and vectors."""

    def of(x: Any) -> Any:
        values, v = gradwright.linalg.eigh(x)
        return (v @ gradwright.diag_embed(f(values)).to(v.dtype) @ v.mH).sum()

    return of


VECTORS: dict[str, Callable[[Any], Any]] = {
    "v v": made(lambda v: v * v),
    "zero cotangent": made(lambda v: v * v - 1),
    "identity": made(lambda v: v),
    "column": lambda x: d.eigh(x)[1][..., 0, 1],
    "eig": lambda x: size(d.eig(x)[1]).sum(),
    "svd": lambda x: ((y := d.svd(x))[0] * y[1][..., None, :] ** 3 @ y[2]),
    "left": lambda x: d.svd(x)[0][..., 0, 1],
    "right": lambda x: d.svd(x)[2][..., 1, 0],
    "times zero": lambda x: 0 * d.eigh(x)[1].sum(),
}
DEGENERATE: dict[str, Any] = {
    "one": np.eye(3),
    "turned": rotated([1.0, 1.0, 2.0]),
    "at rounding": np.diag([1.0, 1.0 + 4e-16, 2.0]),
    "zero": np.zeros((3, 3)),
    "batch": np.stack([np.diag([1.0, 2.0, 3.0]), np.eye(3)]),
    "float32": rotated([1.0, 1.0, 2.0]).astype(np.float32),
}


@pytest.mark.parametrize("x", DEGENERATE.values(), ids=DEGENERATE)
@pytest.mark.parametrize("loss", VECTORS.values(), ids=VECTORS)
def test_vectors_of_equal_values_have_no_derivative(loss: Any, x: Any) -> None:
    with pytest.raises(LinAlgError, match=r"are equal up to rounding .*matrix_function"):
        loss(leaf(x)).sum().backward()


SMOOTH: dict[str, Callable[[Any], Any]] = {
    "trace of squares": lambda x: (d.eigvalsh(x) ** 2).sum(),
    "log det": lambda x: d.eigh(x)[0].log().sum(),
    "vectors detached": lambda x: ((y := d.eigh(x))[0] * size(y[1].detach()).sum(-2)).exp().sum(),
    "nuclear": lambda x: d.svdvals(x).sum(),
    "nuclear by svd": lambda x: d.svd(x, full_matrices=True)[1].sum(),
    "nuclear norm": lambda x: gradwright.linalg.matrix_norm(x, "nuc"),
    "Schatten": lambda x: (d.svdvals(x) ** 4).sum(),
    "eigvals": lambda x: size(d.eigvals(x)).sum(),
    "eig": lambda x: (d.eig(x)[0] ** 3).real.sum(),
    "log determinant": lambda x: gradwright.linalg.slogdet(x)[1],
    "pseudo-inverse": lambda x: gradwright.linalg.pinv(x),
    "least squares": lambda x: gradwright.linalg.lstsq(x, gradwright.ones_like(x)).solution,
}


@pytest.mark.parametrize("kind", ["float64", "complex128"])
@pytest.mark.parametrize("values", [[1.0, 1.0, 2.0], [2.0, 2.0, 2.0]], ids=str)
@pytest.mark.parametrize("name", SMOOTH)
def test_what_is_smooth_at_equal_values(name: str, values: list[float], kind: str) -> None:
    def f(x: Any) -> Any:
        y = SMOOTH[name](x @ x.mH)  # so that x may move freely
        return gradwright.view_as_real(y) if y.is_complex() else y

    assert gradwright.autograd.gradcheck(f, (leaf(rotated(values, kind=kind)),), atol=1e-4)


def test_second_derivatives_of_values_come_for_the_vectors() -> None:
    """Which are not determined there: the gradients of sum(l) and of sum(l**2) - sum(l), say, are the same at 1."""
    for f in (d.eigvalsh, d.svdvals, lambda x: d.eigh(x)[0], lambda x: d.svd(x)[1], lambda x: d.eigvals(x).real):
        x = leaf(np.eye(2))
        (g,) = gradwright.autograd.grad((f(x) ** 2).sum(), x, create_graph=True)
        np.testing.assert_allclose(g.detach().numpy(), 2 * np.eye(2), atol=1e-12)
        with pytest.raises(LinAlgError, match="equal up to rounding"):
            g.sum().backward()


def test_a_cotangent_of_vectors_that_a_recorded_pass_brings() -> None:
    x = leaf(np.eye(2))
    values, vectors = d.eigh(x)
    w = gradwright.tensor(1.0, requires_grad=True, dtype=gradwright.float64)
    (g,) = gradwright.autograd.grad((w * vectors.sum()), w, create_graph=True)
    with pytest.raises(LinAlgError, match="equal up to rounding"):
        (g + values.sum()).backward()


@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_vectors_of_other_values(kind: str) -> None:
    """Beside equal values, of which none is used: in a low rank, and beside a repeated value."""

    def first(x: Any) -> Any:
        u, s, vh = d.svd(x)
        return size(((u[..., :2] * s[..., :2]) @ vh[..., :2, :]).sum())

    def last(x: Any) -> Any:
        return size(d.eigh(hermitian(x))[1][..., 2]) + size(d.eigh(hermitian(x))[1].mT[..., 2, :])

    assert gradwright.autograd.gradcheck(last, (leaf(rotated([1.0, 1.0, 3.0], kind=kind)),))
    for shape in [(4, 4), (5, 4), (4, 5)]:
        x = rotated([3.0, 2.0, 0.0, 0.0], shape, kind)
        y = rotated([3.0, 2.0, 1e-9, 0.0], shape, kind)
        found = []
        for m in (x, y):
            t = leaf(m)
            first(t).backward()
            found.append(t.grad.numpy())
        np.testing.assert_allclose(*found, atol=1e-7)


@pytest.mark.parametrize("shape", [(4, 2), (3, 2), (2, 4), (2, 3)], ids=str)
@pytest.mark.parametrize("kind", ["float64", "complex128"])
def test_vectors_past_the_shorter_side(kind: str, shape: tuple[int, int]) -> None:
    """What they span has a derivative; each by itself has none, if there are several."""

    def span(x: Any) -> Any:
        u, s, vh = d.svd(x, full_matrices=True)
        w = u[..., s.shape[-1] :] if shape[0] > shape[1] else vh[..., s.shape[-1] :, :].mH
        return gradwright.view_as_real(y) if (y := w @ w.mH).is_complex() else y

    x = leaf(rotated([1.0, 2.0], shape, kind))
    assert gradwright.autograd.gradcheck(span, (x,))
    assert gradwright.autograd.gradgradcheck(span, (x,))
    if max(shape) - min(shape) > 1:
        u, _, vh = d.svd(x, full_matrices=True)
        with pytest.raises(LinAlgError, match="full_matrices"):
            (u if shape[0] > shape[1] else vh)[-1, -1].abs().backward()


def test_a_zero_among_the_singular_values_of_a_tall_matrix() -> None:
    """Its left vector is any of those past the shorter side; its right one is determined."""
    x = leaf(rotated([1.0, 0.0], (4, 2)))
    with pytest.raises(LinAlgError, match="singular values 1 and 2"):
        d.svd(x)[0][0, 1].backward()
    size(d.svd(x)[2]).sum(-1)[0].backward()
    assert np.isfinite(x.grad.numpy()).all()
    with pytest.raises(LinAlgError, match="singular values 1 and 2"):
        d.svd(x, full_matrices=True)[0][0, 3].backward()


@pytest.mark.parametrize("reentrant", [True, False])
def test_values_from_a_checkpoint_that_returns_vectors_too(reentrant: bool) -> None:
    x = leaf(np.eye(2))
    values, _ = gradwright.utils.checkpoint.checkpoint(lambda x: tuple(d.eigh(x)), x, use_reentrant=reentrant)
    (values**2).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * np.eye(2))


@pytest.mark.parametrize("f", [d.eigvalsh, d.svdvals, lambda x: d.eigh(x)[0], lambda x: d.eigvals(x).real])
def test_equal_values_weighed_differently_are_a_kink(f: Any) -> None:
    x = leaf(np.eye(2))
    with pytest.warns(GradientWarning, match="weighs them differently"):
        (f(x) * gradwright.tensor([1.0, 2.0], dtype=x.dtype)).sum().backward()
    np.testing.assert_allclose(np.linalg.eigvalsh(x.grad.numpy()), [1.0, 2.0])  # of some basis
    with gradwright.autograd.strict(True), pytest.raises(StrictError, match="weighs them differently"):
        f(x)[0].backward()


def test_a_defective_matrix() -> None:
    """tr(x**2) has the gradient 2 x^T, which no vectors give: there are too few."""
    x = leaf([[1.0, 1.0], [0.0, 1.0]])
    with pytest.raises(LinAlgError, match="defective"):
        (d.eigvals(x) ** 2).real.sum().backward()
    x = leaf(np.diag([1.0, 1.0, 2.0]))
    (d.eigvals(x) ** 2).real.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 2 * x.detach().numpy())


def test_complete_qr_of_a_tall_matrix_has_no_derivative() -> None:
    with pytest.raises(RuntimeError, match="mode='complete' and nrows > ncols"):
        d.qr(leaf(np.random.standard_normal((3, 2))), mode="complete")[0].sum().backward()


VECTORS: dict[str, Callable[[Any, Any], Any]] = {
    "eigh": lambda T, x: T.linalg.eigh(x @ x.mH)[1],
    "eig": lambda T, x: T.linalg.eig(x[:3])[1],
    "left": lambda T, x: T.linalg.svd(x, full_matrices=False)[0],
    "right": lambda T, x: T.linalg.svd(x, full_matrices=False)[2],
}
TURN: dict[str, Callable[[Any], Any]] = {
    "real parts": lambda v: v.real.sum(),
    "phases side by side": lambda v: v.sum().abs(),
}
STAY: dict[str, Callable[[Any], Any]] = {
    "sizes": lambda v: (v.abs() ** 3).sum(),
    "a projector": lambda v: (v[:, :2] @ v[:, :2].mH).imag[0, 1] if v.shape[0] > 3 else v.abs().sum(),
}


def vectors_of(T: Any, name: str) -> Any:
    rng = np.random.default_rng(3)
    x = T.tensor(rng.standard_normal((4, 3)) + 1j * rng.standard_normal((4, 3)), requires_grad=True)
    return x, VECTORS[name](T, x)


@pytest.mark.parametrize("loss", TURN)
@pytest.mark.parametrize("name", VECTORS)
def test_a_loss_that_depends_on_phases_has_no_derivative(T: Any, name: str, loss: str) -> None:
    _, v = vectors_of(T, name)
    with pytest.raises(RuntimeError, match=r"multiplication by e\^{i phi}|phase of complex vector"):
        TURN[loss](v).backward()


@pytest.mark.parametrize("loss", STAY)
@pytest.mark.parametrize("name", VECTORS)
def test_a_loss_that_phases_leave_as_it_is(torch: Any, name: str, loss: str) -> None:
    (ours, v), (theirs, w) = vectors_of(gradwright, name), vectors_of(torch, name)
    STAY[loss](v).backward()
    STAY[loss](w).backward()
    np.testing.assert_allclose(ours.grad.numpy(), theirs.grad.numpy(), atol=1e-10)


OF_VALUES: dict[str, Callable[[Any, Any], Any]] = {
    "their sum": lambda T, x: T.linalg.eigvals(x).sum().abs() ** 2,
    "their sum, by eig": lambda T, x: T.linalg.eig(x)[0].sum().abs() ** 2,
    "their squares": lambda T, x: (T.linalg.eigvals(x) ** 2).sum().real,
    "their product": lambda T, x: T.linalg.eigvals(x).prod().abs(),
}


@pytest.mark.parametrize("loss", OF_VALUES)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_eigenvalues_have_a_second_derivative_without_phases(torch: Any, n: int, loss: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        matrix = rng.standard_normal((n, n)) + 1j * rng.standard_normal((n, n))
        for x in (matrix, np.triu(matrix)):
            found = []
            for T in (gradwright, torch):
                leaf_x = T.tensor(x, requires_grad=True)
                (slope,) = T.autograd.grad(OF_VALUES[loss](T, leaf_x), leaf_x, create_graph=True)
                found.append(T.autograd.grad((slope.abs() ** 2).sum(), leaf_x)[0].numpy())
            np.testing.assert_allclose(*found, rtol=1e-7, atol=1e-7)
