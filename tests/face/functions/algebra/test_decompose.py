from typing import Any

import numpy as np
import pytest

import gradwright

linalg = gradwright.linalg


@pytest.mark.parametrize(
    "call",
    ["eigh(x)", "eig(x)", "svd(x)", "qr(x)", "lu(x)", "lu_factor(x)", "lu_factor_ex(x)", "slogdet(x)", "inv_ex(x)",
     "cholesky_ex(x)", "solve_ex(x, x)", "lstsq(x, x)"],
)  # fmt: skip
def test_printed_as_in_pytorch(torch: Any, call: str) -> None:
    ours, theirs = (eval(f"linalg.{call}", {"linalg": t.linalg, "x": t.eye(2)}) for t in (gradwright, torch))  # noqa: S307
    assert type(ours)._fields == type(theirs).__match_args__
    assert repr(ours).partition("(")[0] == repr(theirs).partition("(")[0]


def test_factors_make_the_matrix_again() -> None:
    x = gradwright.randn(2, 5, 3, dtype=gradwright.float64)
    for factors in (linalg.lu(x), linalg.qr(x), linalg.qr(x, "complete")):
        product = factors[0]
        for f in factors[1:]:
            product = product @ f
        np.testing.assert_allclose(product.numpy(), x.numpy(), atol=1e-12)
    for full in (False, True):
        u, s, vh = linalg.svd(x, full)
        np.testing.assert_allclose((u[..., :3] * s.unsqueeze(-2) @ vh).numpy(), x.numpy(), atol=1e-12)


def test_what_fails_without_an_error() -> None:
    x = gradwright.stack([gradwright.eye(2), -gradwright.eye(2), gradwright.zeros(2, 2)])
    assert linalg.cholesky_ex(x).info.tolist() == [0, 1, 1]
    assert linalg.lu_factor_ex(x).info.tolist() == [0, 0, 1]
    assert linalg.inv_ex(x).info.tolist() == [0, 0, 1]
    assert linalg.solve_ex(x, x).info.tolist() == [0, 0, 1]
    for call in (lambda: linalg.cholesky_ex(x, check_errors=True), lambda: linalg.inv_ex(x, check_errors=True)):
        with pytest.raises(linalg.LinAlgError, match=r"\(Batch element"):
            call()


def test_a_matrix_whose_triangles_differ(same: Any) -> None:
    x = np.random.standard_normal((3, 3))
    same(lambda t, x: [t.linalg.eigvalsh(x), t.linalg.eigvalsh(x, "U")], x, names=False)
    x = x @ x.T + np.triu(x) + 3 * np.eye(3)
    same(lambda t, x: [t.linalg.cholesky(x), t.linalg.cholesky(x, upper=True)], x, names=False)


@pytest.mark.parametrize("device", ["cpu", "array-api-strict"])
def test_qr_of_dependent_columns_has_no_derivative(device: str) -> None:
    x = gradwright.tensor([[1.0, 1.0], [1.0, 1.0], [0.0, 0.0]], dtype=gradwright.float64, device=device)
    q, r = gradwright.linalg.qr(x.requires_grad_())
    with pytest.raises(gradwright.linalg.LinAlgError, match="column 1 is 0 or made of those before it"):
        (q.sum() + r.sum()).backward()
