"""Points that can be looked at, and why others cannot."""

import numpy as np
import pytest

from gradwright.verify.pairs.calls import Budget, Calls
from gradwright.verify.pairs.look import linear, look
from gradwright.verify.pairs.pair import Pair, Point
from tests.verify.pairs.cases import A, X, d2f, df, f, jac, r


@pytest.mark.parametrize(("pair", "why"), [
    (Pair("gradient", f, df, (Point(X * np.nan),)), "the point is not finite"),
    (Pair("gradient", f, df, (Point(X),), fixed=[True] * 3), "no entry of it may be moved"),
    (Pair("gradient", lambda x: np.inf, df, (Point(X),)), "the value is not finite there"),
    (Pair("gradient", lambda x: {}[0], df, (Point(X),)), "the value cannot be had there: it raises KeyError"),
    (Pair("gradient", f, lambda x: {}[0], (Point(X),)), "`df` raises KeyError"),
    (Pair("gradient", f, lambda x: "what", (Point(X),)), "returns what holds no numbers"),
])  # fmt: skip
def test_why_a_point_is_not_compared_is_told(pair: Pair, why: str) -> None:
    found = look(Calls(pair, Budget()), 0, 500)
    assert found.view is None
    assert why in found.why


@pytest.mark.parametrize(("pair", "matrix"), [
    (Pair("jacobian", r, jac, (Point(X),)), jac(X).T),
    (Pair("jvp", r, lambda x, v: jac(x) @ v, (Point(X),)), jac(X).T),
    (Pair("vjp", r, lambda x, w: w @ jac(x), (Point(X),)), jac(X).T),
    (Pair("hvp", f, lambda x, v: d2f(x) @ v, (Point(X),), gradient=df), d2f(X)),
    (Pair("hessian", f, d2f, (Point(X),)), d2f(X)),
    (Pair("adjoint", lambda v: A @ v, lambda w: A.T @ w, (Point(X),)), A.T),
])  # fmt: skip
def test_every_kind_becomes_one_matrix(pair: Pair, matrix: object) -> None:
    found = look(Calls(pair, Budget()), 0, 2000).view
    assert found is not None
    assert np.allclose(found.said, matrix, 1e-14)
    assert np.allclose(found.true, matrix, 1e-6)


def test_what_the_program_got_is_judged_not_what_is_said_anew() -> None:
    found = look(Calls(Pair("gradient", f, df, (Point(X, returned=7 * df(X)),)), Budget()), 0, 500)
    assert found.view is not None
    assert np.allclose(found.view.said[:, 0], 7 * df(X))
    assert np.allclose(found.fresh[:, 0], df(X))


def test_a_map_that_is_not_linear_is_told() -> None:
    assert linear(Calls(Pair("adjoint", lambda v: A @ v, lambda w: w, (Point(X),)), Budget()), 0)
    assert not linear(Calls(Pair("adjoint", lambda v: A @ v + 1, lambda w: w, (Point(X),)), Budget()), 0)
