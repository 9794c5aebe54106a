"""The hypotheses of layout.py."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.verify.diagnosis import Verdict, diagnose, layout
from tests.verify.diagnosis.fits import Hypotheses


class TestLayout(Hypotheses):
    module = layout


@pytest.mark.parametrize(
    ("f", "unread", "kind"),
    [
        (gw.linalg.eigvalsh, "upper", "float64"),
        (lambda a: gw.linalg.eigvalsh(a, UPLO="U"), "lower", "float64"),
        (gw.linalg.eigvalsh, "upper", "complex128"),
        (lambda a: gw.linalg.eigvalsh(a, UPLO="U"), "lower", "complex128"),
        (gw.linalg.cholesky, "upper", "float64"),
        (lambda a: gw.linalg.cholesky(a, upper=True), "lower", "float64"),
        (lambda a: gw.linalg.eigvalsh(a[0]), "upper", "float64"),
    ],
)
def test_a_matrix_of_which_one_triangle_is_read(f, unread, kind):
    a = np.diag([4.0, 3.0, 2.0]) + np.random.default_rng(0).uniform(0.1, 0.4, (2, 3, 3))
    if kind == "complex128":
        a = a + 0.1j * (np.tri(3, k=-1) - np.tri(3, k=-1).T)
    a = gw.tensor(a, requires_grad=True)
    found = diagnose(f, (a,), names=["a"])
    assert (found.verdict, found.reason) == (Verdict.WRONG, "triangle")
    assert f"the {unread} triangle of `a` is not read" in str(found)
    assert "(a + a.mH) / 2" in str(found)
    assert diagnose(lambda a: f((a + a.mH) / 2), (a,)).verdict is Verdict.VERIFIED


@pytest.mark.parametrize("x", [[0.3, -1.2, 2.1], [-1.2, 2.1, 0.3], [0.1, 0.2, 2.1], [1.5, -1.2, 2.1]])
@pytest.mark.parametrize("gives", ["None", "zeros"])
def test_no_gradient_at_all_is_no_missing_sum(x, gives):
    class Soft(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x, lam):
            ctx.save_for_backward(x.abs() > lam)
            return x.sign() * (x.abs() - lam).clamp(min=0)

        @staticmethod
        def backward(ctx, g):
            (m,) = ctx.saved_tensors
            return g * m, None if gives == "None" else 0 * g.sum()

    given = [gw.tensor(v, dtype=gw.float64, requires_grad=True) for v in (x, 0.5)]
    found = diagnose(Soft, given)
    assert found.hypotheses[0].sentence == f"backward returns {gives} for `lam`, which the result does depend on"
    assert "missing sum" not in [h.name for h in found.hypotheses]
