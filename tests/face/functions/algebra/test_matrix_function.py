"""Functions of Hermitian matrices: values beside SciPy, derivatives at repeated eigenvalues, and what is refused."""

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright as gw
from gradwright.backends.strict import namespace as strict
from gradwright.engine.base import wrap
from tests.thorough import some

L = gw.linalg
SPECTRA = [[1.0, 1.0, 2.0], [2.0, 2.0, 2.0], [1.0, 1.0 + 1e-9, 1.001], [0.1, 1.0, 1.0], [0.5, 1.0, 2.0]]
KINDS = ["float64", "complex128"]


def matrix(values: Any, kind: str = "float64", seed: int = 0) -> Any:
    generator = np.random.default_rng(seed)
    n = len(values)
    a = generator.standard_normal((n, n)) + (1j * generator.standard_normal((n, n)) if kind == "complex128" else 0)
    q = np.linalg.qr(a)[0]
    return (q * np.array(values)) @ q.conj().T


def leaf(x: Any) -> Any:
    return gw.tensor(x, requires_grad=True)


def hermitian(x: Any) -> Any:
    return (x + x.mH) / 2


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "exp": lambda x: L.matrix_function(x, gw.exp),
    "log": L.matrix_log,
    "sqrt": L.matrix_sqrt,
    "power": lambda x: L.matrix_power(x, -0.3),
    "sine": lambda x: L.matrix_function(x, lambda v: gw.sin(3 * v)),
    "soft": lambda x: L.matrix_function(x, lambda v: v / (1 + v * v)),
}
SCIPY: dict[str, Callable[[Any, Any], Any]] = {
    "exp": lambda s, x: s.expm(x),
    "log": lambda s, x: s.logm(x),
    "sqrt": lambda s, x: s.sqrtm(x),
    "power": lambda s, x: s.fractional_matrix_power(x, -0.3),
    "sine": lambda s, x: s.sinm(3 * x),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", SPECTRA, ids=str)
@pytest.mark.parametrize("name", SCIPY)
def test_values_are_scipys(name: str, values: list[float], kind: str) -> None:
    s = pytest.importorskip("scipy.linalg")
    x = matrix(values, kind)
    np.testing.assert_allclose(FUNCTIONS[name](gw.tensor(x)).numpy(), SCIPY[name](s, x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("name", "values", "kind"), some(product(FUNCTIONS, SPECTRA, KINDS), 3), ids=str)
def test_derivatives(name: str, values: list[float], kind: str) -> None:
    def f(x: Any) -> Any:
        y = FUNCTIONS[name](hermitian(x))
        return gw.view_as_real(y) if y.is_complex() else y

    x = leaf(matrix(values, kind))
    assert gw.autograd.gradcheck(f, (x,))
    assert gw.autograd.gradgradcheck(f, (x,), atol=1e-4)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 5), power=st.integers(1, 5))
def test_powers_are_products(seed: int, n: int, power: int) -> None:
    """First and second derivatives, where anything may be repeated, of what needs no eigenvalues."""
    generator = np.random.default_rng(seed)
    x = leaf(matrix(generator.choice([-1.0, 0.0, 0.5, 0.5 + 1e-12, 2.0], n), seed=seed))
    a, b = (gw.tensor(generator.standard_normal((n, n))) for _ in range(2))
    found = []
    for f in (lambda x: L.matrix_function(x, lambda v: v**power), lambda x: L.matrix_power(x, power)):
        (g,) = gw.autograd.grad((f(hermitian(x)) * a).sum(), x, create_graph=True)
        (h,) = gw.autograd.grad((g * b).sum() + 0 * x.sum(), x)
        found.append((g.detach().numpy(), h.numpy()))
    for mine, other in zip(*found, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("power", [0.5, 0.3])
@pytest.mark.parametrize("kind", KINDS)
@given(
    values=st.lists(st.sampled_from([0.25, 1.0, 1.0 + 1e-9, 4.0]), min_size=0, max_size=3),
    zeros=st.integers(0, 2),
    read=st.sampled_from(["everything", "some", "the regular block"]),
    seed=st.integers(0, 10**6),
)
def test_a_singular_matrix(
    values: list[float], zeros: int, read: str, seed: int, kind: str, power: float
) -> None:
    """The limit of q (f[l_i, l_j] * q^H w q) q^H as zeros come from above: infinite only where it grows without end."""
    values, n, generator = [0.0] * zeros + values, zeros + len(values), np.random.default_rng(seed)
    q = np.eye(n) + (0j if kind == "complex128" else 0)
    q[zeros:, zeros:] = np.linalg.qr(matrix(np.arange(n - zeros), kind, seed))[0]
    w = generator.standard_normal((n, n)) * (generator.random((n, n)) < 0.5 if read == "some" else 1)
    if read == "the regular block":
        w[:zeros] = w[:, :zeros] = 0
    x = leaf((q * values) @ q.conj().T)
    y = (L.matrix_sqrt if power == 0.5 else lambda x: L.matrix_power(x, power))(x)
    ((y.real if y.is_complex() else y) * gw.tensor(w)).sum().backward()
    w, l = (w + w.T) / 2, np.array(values)
    gap = l[:, None] - l
    equal = np.abs(gap) < 1e-6
    with np.errstate(divide="ignore"):
        slopes = np.where(equal, power * l[:, None] ** (power - 1), (l[:, None] ** power - l**power) / (gap + equal))
    endless = np.isinf(slopes)
    slopes[endless] = 0
    due = q @ (slopes * (q.conj().T @ w @ q)) @ q.conj().T
    endless &= w != 0
    found = x.grad.numpy()
    assert not np.isfinite(found[endless]).any()
    np.testing.assert_allclose(found[~endless], due[~endless], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("library", [np, strict])
def test_a_regular_block_has_its_second_derivative_beside_a_zero(library: Any) -> None:
    small = matrix([1.0, 1.0, 2.0])
    large = np.zeros((4, 4))
    large[1:, 1:] = small
    found = []
    for array in (small, large):
        t = wrap(library.asarray(array))
        t.requires_grad = True
        (g,) = gw.autograd.grad((L.matrix_sqrt(t)[-3:, -3:] ** 2).sum(), t, create_graph=True)
        (h,) = gw.autograd.grad((g[-3:, -3:] ** 2).sum(), t)
        found.append([np.asarray(r.detach().array)[-3:, -3:] for r in (g, h)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-9)


def test_a_batch_of_which_one_matrix_is_degenerate() -> None:
    x = np.stack([np.eye(3), matrix([1.0, 2.0, 3.0]), np.zeros((3, 3))])
    whole, parts = leaf(x), [leaf(m) for m in x]
    (L.matrix_function(whole, gw.cos) ** 2).sum().backward()
    for part, g in zip(parts, whole.grad, strict=True):
        (L.matrix_function(part, gw.cos) ** 2).sum().backward()
        np.testing.assert_allclose(part.grad.numpy(), g.numpy(), atol=1e-14)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_over_another_library_and_in_single_precision(name: str) -> None:
    x = matrix(SPECTRA[0])
    found = []
    for array in (x, strict.asarray(x), x.astype(np.float32)):
        t = wrap(array)
        t.requires_grad = True
        y = FUNCTIONS[name](t)
        (g,) = gw.autograd.grad((y * y).sum(), t, create_graph=True)
        (h,) = gw.autograd.grad((g * g).sum(), t)
        assert {y.dtype, g.dtype, h.dtype} == {t.dtype}
        found.append([np.asarray(r.detach().array) for r in (y, g, h)])
    for there, single, wanted in zip(found[1], found[2], found[0], strict=True):
        np.testing.assert_allclose(there, wanted, rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(single, wanted, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("shape", [(0, 0), (0, 2, 2), (1, 1), (2, 0, 0)])
def test_small_shapes(shape: tuple[int, ...]) -> None:
    x = leaf(np.zeros(shape))
    L.matrix_function(x, gw.exp).sum().backward()
    assert x.grad.shape == shape
    assert bool((x.grad == 1).all())


def test_a_vector_of_a_simple_value_beside_equal_ones() -> None:
    """By the projector on its space, as the documentation says, to second order."""
    x = leaf(matrix([1.0, 1.0, 3.0]))
    v = L.eigh(x)[1].detach()[:, 2:]

    def vector(x: Any) -> Any:
        p = L.matrix_function(hermitian(x), lambda v: (1 + gw.sign(v - 2)) / 2) @ v
        return p / p.norm()

    np.testing.assert_allclose(vector(x).detach().numpy(), v.numpy(), atol=1e-14)
    assert gw.autograd.gradcheck(vector, (x,))
    assert gw.autograd.gradgradcheck(vector, (x,))


def test_nuclear_norm_to_second_order() -> None:
    """tr (x^H x)^(1/2), at a multiple of a rotation."""
    x = leaf(2 * np.linalg.qr(np.random.default_rng(0).standard_normal((3, 3)))[0])

    def norm(x: Any) -> Any:
        return L.matrix_sqrt(x.mH @ x).trace()

    (g,) = gw.autograd.grad(norm(x), x)
    np.testing.assert_allclose(g.numpy(), x.detach().numpy() / 2, atol=1e-12)
    assert gw.autograd.gradcheck(norm, (x,))
    assert gw.autograd.gradgradcheck(norm, (x,))


def other(v: Any) -> Any:
    return v * W


W = gw.tensor(2.0, dtype=gw.float64, requires_grad=True)
REFUSED: dict[str, tuple[Any, Any, str]] = {
    "not Hermitian": ([[1.0, 2.0], [3.0, 4.0]], gw.exp, r"argument 'A' of shape \[2, 2\] is not Hermitian.*\.mH\) / 2"),
    "infinite": (np.diag([0.0, 1.0]), gw.log, "not finite at the eigenvalue 0"),
    "outside": (np.diag([2.0, -3.0]), gw.sqrt, "not finite at the eigenvalue -3"),
    "another leaf": (np.eye(2), other, "another tensor that requires grad"),
    "NumPy": (np.eye(2), lambda v: gw.tensor(np.sin(v.detach().numpy())), "without history"),
    "detached": (np.eye(2), lambda v: v.detach() ** 2, "without history"),
    "of all": (np.eye(2), lambda v: v / v.sum(), "a function of one number"),
    "summed": (np.eye(2), lambda v: v.sum(), r"returned shape \[\] for \[2\]"),
    "complex": (np.eye(2), lambda v: gw.complex(v, v), r"returned a tensor of torch.complex128"),
    "a number": (np.eye(2), lambda v: 1.0, "returned float"),
    "not square": (np.ones((2, 3)), gw.exp, "square"),
}


@pytest.mark.parametrize(("x", "f", "message"), REFUSED.values(), ids=REFUSED)
def test_refused(x: Any, f: Any, message: str) -> None:
    with pytest.raises(RuntimeError, match=message):
        L.matrix_function(leaf(x), f)


def test_what_f_raises_arrives() -> None:
    with pytest.raises(AttributeError, match="no_such"):
        L.matrix_function(leaf(np.eye(2)), lambda v: v.no_such())


@pytest.mark.parametrize("context", [gw.no_grad, gw.inference_mode, gw.autograd.detect_anomaly])
def test_in_any_mode(context: Any) -> None:
    with context():
        y = L.matrix_function(leaf(np.eye(2)), gw.exp)
        if y.requires_grad:
            y.sum().backward()
    np.testing.assert_allclose(y.detach().numpy(), np.e * np.eye(2))


def test_asymmetry_of_rounding_is_taken() -> None:
    x = np.linalg.inv(matrix([1.0, 1.0, 1e3])) + 1e-13 * np.arange(9.0).reshape(3, 3)
    assert L.matrix_sqrt(gw.tensor(x)).shape == (3, 3)


def test_the_projector_that_the_error_of_equal_values_advises() -> None:
    x = gw.diag(gw.tensor([1.0, 1.0, 3.0], dtype=gw.float64)).requires_grad_()
    w = gw.tensor([[0.3, -1.0, 2.0], [0.7, 0.1, -0.4], [1.5, 0.2, 0.9]], dtype=gw.float64)
    v = gw.linalg.eigh(x)[1]
    with pytest.raises(gw.linalg.LinAlgError, match=r"projector .* lambda t: \(1 \+ sign\(c - t\)\) / 2"):
        ((v[:, :2] @ v[:, :2].mT) * w).sum().backward()
    projector = gw.linalg.matrix_function(x, lambda t: (1 + gw.sign(2 - t)) / 2)
    (slope,) = gw.autograd.grad((projector * w).sum(), x)
    for i in range(3):
        for j in range(3):
            ends = []
            for h in (1e-6, -1e-6):
                y = x.detach().numpy().copy()
                y[i, j] += h / 2
                y[j, i] += h / 2
                u = np.linalg.eigh(y)[1][:, :2]
                ends.append(float((u @ u.T * w.numpy()).sum()))
            assert slope[i, j].item() == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-6)
