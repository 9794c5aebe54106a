"""Linear algebra of balls: values against NumPy, slopes against calculus."""

import numpy as np
import pytest

from gradwright.errors import NotProvedError
from gradwright.verify.proof import algebra
from gradwright.verify.proof.balls import Balls, balls, entries_of
from gradwright.verify.proof.series import working
from tests.verify.proof.test_balls import middles

A = np.random.default_rng(0).normal(size=(2, 3, 3)) + 2 * np.eye(3)
B = np.random.default_rng(1).normal(size=(2, 3, 2))
E = np.random.default_rng(2).normal(size=(2, 3, 3))
SPD = A @ np.swapaxes(A, -1, -2)


@pytest.fixture(autouse=True)
def _precision():
    with working(bits=120):
        yield


@pytest.mark.parametrize(("made", "wanted"), [
    (lambda: algebra.matmul(balls(A), balls(B)), A @ B),
    (lambda: algebra.inv(balls(A)), np.linalg.inv(A)),
    (lambda: algebra.det(balls(A)), np.linalg.det(A)),
    (lambda: algebra.solve(balls(A), balls(B)), np.linalg.solve(A, B)),
    (lambda: algebra.solve(balls(A[0]), balls(B[0, :, 0])), np.linalg.solve(A[0], B[0, :, 0])),
    (lambda: algebra.solve_triangular(balls(A), balls(B), upper=True), np.linalg.solve(np.triu(A), B)),
    (lambda: algebra.solve_triangular(balls(A), balls(B), upper=False, unitriangular=True),
     np.linalg.solve(np.tril(A, -1) + np.eye(3), B)),
    (lambda: algebra.cholesky(balls(SPD)), np.linalg.cholesky(SPD)),
    (lambda: algebra.cholesky(balls(SPD), upper=True), np.swapaxes(np.linalg.cholesky(SPD), -1, -2)),
    (lambda: algebra.cofactor(balls(A)), np.linalg.det(A)[:, None, None] * np.swapaxes(np.linalg.inv(A), -1, -2)),
    (lambda: algebra.slogdet(balls(A))[1], np.linalg.slogdet(A)[1]),
    (lambda: algebra.slogdet(balls(-A))[0], np.linalg.slogdet(-A)[0]),
    (lambda: algebra.tensordot(balls(A[0]), balls(B[0]), axes=1), A[0] @ B[0]),
    (lambda: algebra.vecdot(balls(A), balls(A)), (A * A).sum(-1)),
    (lambda: algebra.outer(balls(A[0, 0]), balls(A[0, 1])), np.outer(A[0, 0], A[0, 1])),
    (lambda: algebra.diagonal(balls(A), offset=1), np.diagonal(A, 1, -2, -1)),
])  # fmt: skip
def test_values_are_numpys(made, wanted):
    np.testing.assert_allclose(middles(made()), wanted, rtol=1e-10, atol=1e-12)


def test_the_slope_of_an_inverse():
    x = Balls(entries_of(A), entries_of(E))
    inverse = np.linalg.inv(A)
    np.testing.assert_allclose(middles(algebra.inv(x), "slope"), -inverse @ E @ inverse, rtol=1e-9)


def test_what_has_no_balls():
    with pytest.raises(NotProvedError):
        algebra.slogdet(balls(A + 0j))
    with pytest.raises(NotProvedError):
        algebra.cholesky(balls(SPD + 0j))


X = np.random.default_rng(0).normal(size=(3, 4, 5))
Z = X + 1j * np.random.default_rng(1).normal(size=(3, 4, 5))


@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize(("name", "x", "options"), [
    ("fft", Z, {"axis": 1}), ("ifft", Z, {"axis": -1}), ("rfft", X, {"axis": 1}), ("rfft", X, {"axis": 2}),
    ("irfft", Z, {"axis": 2, "n": 8}), ("irfft", Z, {"axis": 2, "n": 9}),
    ("fftn", Z, {"axes": (0, 2)}), ("ifftn", Z, {"axes": (0, 1)}), ("rfftn", X, {"axes": (0, 2)}),
    ("irfftn", Z, {"axes": (1, 2), "s": (4, 8)}),
])  # fmt: skip
def test_transforms_are_numpys(name, x, options, norm):
    found = getattr(algebra, name)(balls(x), **options, norm=norm)
    wanted = getattr(np.fft, name)(x, **options, norm=norm)
    complex_ = [(found.real, wanted.real), (found.imag, wanted.imag)]
    for a, b in complex_ if wanted.dtype.kind == "c" else [(found, wanted)]:
        np.testing.assert_allclose(middles(a), b, rtol=1e-12, atol=1e-12)
