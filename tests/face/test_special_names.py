from typing import Any

import numpy as np
import pytest
from scipy import special as scipy

import gradwright
from gradwright import special

X = np.array([0.1, 0.5, 1.0, 2.5, 7.0])
SCIPY = {
    "airy_ai": lambda x: scipy.airy(x)[0], "bessel_j0": scipy.j0, "bessel_j1": scipy.j1, "bessel_y0": scipy.y0,
    "bessel_y1": scipy.y1, "entr": scipy.entr, "erfcx": scipy.erfcx, "gammaln": scipy.gammaln, "i0e": scipy.i0e,
    "i1": scipy.i1, "i1e": scipy.i1e, "log_ndtr": scipy.log_ndtr, "modified_bessel_i0": scipy.i0,
    "modified_bessel_i1": scipy.i1, "modified_bessel_k0": scipy.k0, "modified_bessel_k1": scipy.k1,
    "ndtr": scipy.ndtr, "psi": scipy.psi, "scaled_modified_bessel_k0": scipy.k0e,
    "scaled_modified_bessel_k1": scipy.k1e, "spherical_bessel_j0": lambda x: scipy.spherical_jn(0, x),
    "expit": scipy.expit, "exp2": scipy.exp2, "round": scipy.round,
}  # fmt: skip
POLYNOMIALS = [
    f"{shifted}chebyshev_polynomial_{letter}" for shifted in ("", "shifted_") for letter in "tuvw"
] + ["hermite_polynomial_h", "hermite_polynomial_he", "laguerre_polynomial_l", "legendre_polynomial_p"]


def test_has_every_name_of_torch_special(torch: Any) -> None:
    assert set(torch.special.__all__) <= set(special.__all__)


@pytest.mark.parametrize("name", SCIPY)
def test_values(name: str) -> None:
    np.testing.assert_allclose(getattr(special, name)(gradwright.tensor(X)).numpy(), SCIPY[name](X), rtol=1e-13)


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials(torch: Any, name: str) -> None:
    x, n = np.linspace(-1.5, 1.5, 7)[:, None], np.array([0, 1, 2, 5, -1])
    for call in (
        lambda t, f: f(t.tensor(x), t.tensor(n)),
        lambda t, f: f(t.tensor(x.astype(np.float32)), 3),
        lambda t, f: f(2, t.tensor(n)),
        lambda t, f: f(t.tensor(n), 2.7),
    ):
        ours, theirs = call(gradwright, getattr(special, name)), call(torch, getattr(torch.special, name))
        assert str(ours.dtype) == str(theirs.dtype)
        rtol = 1e-5 if ours.dtype.itemsize == 4 else 1e-12
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol, 1e-12)
    leaf = gradwright.tensor(x, requires_grad=True)
    assert gradwright.autograd.gradcheck(lambda x: getattr(special, name)(x, gradwright.tensor(n)), leaf)


def test_bessel_functions_have_derivatives() -> None:
    x = gradwright.tensor(X, requires_grad=True)
    for name in [n for n in special.__all__ if "bessel" in n or n == "airy_ai"]:
        f = getattr(special, name)
        assert gradwright.autograd.gradcheck(f, x)
        assert gradwright.autograd.gradgradcheck(f, x)


@pytest.mark.parametrize("name", ["erfcx", "ndtri", "log_ndtr", "bessel_j0", "modified_bessel_k1", "airy_ai"])
def test_half_precision_is_refused_as_by_pytorch(name: str) -> None:
    with pytest.raises(NotImplementedError, match="Half"):
        getattr(special, name)(gradwright.ones(1, dtype=gradwright.float16))


def test_polynomials_refuse() -> None:
    with pytest.raises(NotImplementedError, match="float16"):
        special.chebyshev_polynomial_t(gradwright.ones(1, dtype=gradwright.float16), 2)
    with pytest.raises(TypeError, match="must be Tensor"):
        special.chebyshev_polynomial_t(2, 2)
    with pytest.raises(TypeError, match="must be Tensors or numbers"):
        special.chebyshev_polynomial_t(gradwright.ones(1), "2")


def test_zeta_is_differentiable_in_its_second_argument() -> None:
    x = gradwright.tensor([2.5], dtype=gradwright.float64, requires_grad=True)
    assert gradwright.autograd.gradcheck(lambda q: special.zeta(3.0, q), x)
    with pytest.raises(NotImplementedError, match="zeta"):
        special.zeta(x, 1.5).backward()
