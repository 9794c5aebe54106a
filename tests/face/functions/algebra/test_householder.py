from typing import Any

import numpy as np
import pytest

import gradwright


@pytest.mark.parametrize("shape", [(5, 3), (4, 4), (2, 5, 2)], ids=str)
def test_reflections_make_the_factors(shape: tuple[int, ...]) -> None:
    x = gradwright.randn(*shape, dtype=gradwright.complex128)
    packed, tau = gradwright.geqrf(x)
    q = gradwright.orgqr(packed, tau)
    np.testing.assert_allclose((q @ gradwright.triu(packed)[..., : shape[-1], :]).numpy(), x.numpy(), atol=1e-12)
    np.testing.assert_allclose(
        gradwright.ormqr(packed, tau, x, transpose=True).tril(-1).numpy(), 0 * x.numpy(), atol=1e-12
    )


def test_as_in_pytorch(same: Any) -> None:
    x, tau = np.random.standard_normal((4, 3)), np.random.standard_normal(3)
    same(lambda t, x, tau: t.linalg.householder_product(x, tau), x, tau, names=False)
    same(lambda t, x, tau: t.linalg.householder_product(x, tau), x, np.array([0.5, 0.0, 1.0]), names=False)


def test_geqrf_says_that_it_has_no_derivative() -> None:
    with pytest.raises(NotImplementedError, match=r"use linalg.qr"):
        gradwright.geqrf(gradwright.eye(2).requires_grad_())
