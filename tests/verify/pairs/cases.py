"""Right and wrong pairs, with the verdicts and causes that are due: derivatives by hand, as people write them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradwright.verify.pairs.judgement import Verdict
from gradwright.verify.pairs.pair import Pair, Point

X = np.array([0.3, 0.7, 1.2])
A = np.random.default_rng(0).standard_normal((3, 3))
COMPLEX = A + 1j * A.T
ROOTS = np.sqrt(np.arange(1.0, 7.0)).reshape(2, 3)
SLOPES = np.pi * np.arange(1, 9)
LABELS = (np.arange(30) % 3 == 0).astype(float)
SCORES = np.random.default_rng(1).standard_normal(30)
T = np.linspace(0.1, 2.0, 12)
RANDOM = np.random.default_rng(2)
DATA = 1.3 * np.exp(-0.8 * T)


def f(x: Any) -> Any:
    return np.sum(np.exp(x) * x[::-1] ** 2)


def df(x: Any) -> Any:
    return np.exp(x) * x[::-1] ** 2 + 2 * x * np.exp(x[::-1])


def d2f(x: Any) -> Any:
    n, H = len(x), np.diag(np.exp(x) * x[::-1] ** 2 + 2 * np.exp(x[::-1]))
    for i in range(n):
        H[i, n - 1 - i] += 2 * x[n - 1 - i] * np.exp(x[i]) + 2 * x[i] * np.exp(x[n - 1 - i])
    return H


def r(x: Any) -> Any:
    return np.sin(A @ x)


def jac(x: Any) -> Any:
    return np.cos(A @ x)[:, None] * A


def residual(p: Any) -> Any:
    return p[0] * np.exp(-p[1] * T) - DATA


def residual_jac(p: Any) -> Any:
    e = np.exp(-p[1] * T)
    return np.stack((e, -p[0] * T * e), axis=1)


def squares(p: Any) -> Any:
    return 0.5 * np.sum(residual(p) ** 2)


def squares_grad(p: Any) -> Any:
    return residual_jac(p).T @ residual(p)


def gauss_newton(p: Any) -> Any:
    J = residual_jac(p)
    return J.T @ J


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def logloss(x: Any) -> Any:
    return np.logaddexp(0, x) - LABELS * x


def boosted(x: Any) -> Any:
    p = sigmoid(x)
    return p - LABELS, p * (1 - p)


def lasso(x: Any) -> Any:
    return 0.5 * np.sum((x - 0.3) ** 2) + 0.7 * np.sum(np.abs(x))


def mean_square(x: Any) -> Any:
    return np.mean((x[0] - DATA) ** 2) + x[1] ** 2


def noisy(x: Any) -> Any:
    return f(x) + 1e-7 * np.sin(1e7 * np.sum(x))


def by_differences(x: Any) -> Any:
    return np.array([(f(x + 1e-3 * e) - f(x)) / 1e-3 for e in np.eye(3)])


def bounded(u: Any) -> Any:
    return f(1.0 + 0.5 * np.sin(u))


def degrees(x: Any) -> Any:
    return np.sum(np.sin(np.deg2rad(x)))


def remembering(derivative: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The derivative at the x of the call before, as of a cache that is renewed too late."""
    last: list[Any] = []

    def stale(x: Any) -> Any:
        last.append(x)
        return derivative(last[-2] if len(last) > 1 else x)

    return stale


BUFFER = np.empty(3)


def in_one_buffer(x: Any) -> Any:
    BUFFER[:] = df(x)
    return BUFFER


def rebound(x: Any, grad: Any = None) -> Any:
    grad = np.zeros(3) if grad is None else grad
    kept = grad
    grad = df(x)
    return kept


def touching(x: Any, grad: Any = None) -> Any:
    grad = np.full(3, 5e-320) if grad is None else grad  # memory that nobody has written to
    kept = grad
    grad = df(x)
    return kept


def gradient(derivative: Any, value: Any = f, x: Any = X, **more: Any) -> Pair:
    return Pair("gradient", value, derivative, more.pop("points", (Point(x),)), **more)


def jacobian(derivative: Any, value: Any = r, x: Any = X, **more: Any) -> Pair:
    return Pair("jacobian", value, derivative, (Point(x),), **more)


def residuals(derivative: Any) -> Pair:
    """Where one point, at which an entry is 1, is none to tell a power by."""
    return Pair("jacobian", residual, derivative, tuple(Point(np.array(x)) for x in (
        (1.0, 1.0), (1.3, 0.8), (1.6, 0.5), (1.9, 0.7))))  # fmt: skip


def hessian(derivative: Any, value: Any = f, x: Any = X, **more: Any) -> Pair:
    return Pair("hessian", value, derivative, (Point(x),), **more)


def objective(derivative: Any, value: Any = None) -> Pair:
    return Pair("objective", value, derivative, (Point(SCORES),))


def at(i: int, by: float) -> Any:
    k = np.ones(3)
    k[i] = by
    return k


P = np.array([1.2, 0.9])
WRONG = {
    "sign": ("sign", gradient(lambda x: -df(x))),
    "twice": ("factor", gradient(lambda x: 2 * df(x))),
    "slightly": ("factor", gradient(lambda x: 1.0001 * df(x))),
    "sum for mean": ("factor", gradient(lambda x: np.array([np.sum(2 * (x[0] - DATA)), 24 * x[1]]), mean_square, P)),
    "degrees": ("factor", gradient(lambda x: np.cos(np.deg2rad(x)), degrees, 20 * X)),
    "zero": ("zero", gradient(lambda x: 0 * x)),
    "not a number": ("not finite", gradient(lambda x: df(x) * at(1, np.nan))),
    "log": ("log parameter", gradient(lambda x: df(x) * x)),
    "reciprocal": ("reciprocal parameter", gradient(lambda x: -df(x) * x**2)),
    "square": ("square parameter", gradient(lambda x: df(x) / (2 * x))),
    "exp forgotten": ("exp parameter", gradient(lambda u: df(np.exp(u)), lambda u: f(np.exp(u)), 0.3 * X)),
    "exp twice": ("exp parameter", gradient(lambda u: df(np.exp(u)) * np.exp(2 * u), lambda u: f(np.exp(u)), 0.3 * X)),
    "one log": ("log parameter", gradient(lambda x: df(x) * np.array([1, x[1], 1]))),
    "bounds forgotten": ("bounded parameter", gradient(lambda u: df(1.0 + 0.5 * np.sin(u)), bounded)),
    "bounds twice": ("bounded parameter", gradient(
        lambda u: df(1.0 + 0.5 * np.sin(u)) * (0.5 * np.cos(u)) ** 2, bounded)),
    "scale forgotten": ("scaled parameter", gradient(lambda u: df(u * [1, 2, 5]), lambda u: f(u * [1, 2, 5]), 0.3 * X)),
    "penalty": ("lost term", gradient(lambda x: df(x), lambda x: f(x) + 0.2 * np.sum(x**2))),
    "constant": ("extra term", gradient(lambda x: df(x) + 0.1)),
    "half lost": ("lost term", gradient(lambda x: np.exp(x) * x[::-1] ** 2)),
    "component": ("component factor", gradient(lambda x: df(x) * at(1, 1.5))),
    "component sign": ("component sign", gradient(lambda x: df(x) * at(1, -1))),
    "component zero": ("component zero", gradient(lambda x: df(x) * at(2, 0))),
    "exchanged": ("exchanged", gradient(lambda x: df(x)[[0, 2, 1]])),
    "moved": ("exchanged", gradient(lambda x: np.roll(df(x), 1))),
    "float32": ("float32", gradient(lambda x: df((x + 1e4).astype(np.float32) - np.float32(1e4)).astype(np.float32))),
    "column": ("shape", gradient(lambda x: df(x)[:, None])),
    "too short": ("shape", gradient(lambda x: df(x)[:2])),
    "previous": ("previous point", Pair("gradient", f, df, (Point(X, returned=df(X), call=1),
                                                            Point(2 * X, returned=df(X), before=X, call=2)))),
    "buffer that is kept": ("buffer", gradient(in_one_buffer, points=(Point(X, returned=df(X)),), reused=True)),
    "buffer": ("buffer", gradient(in_one_buffer)),
    "rebound, not zero": ("in-place result ignored", gradient(touching, points=(
        Point(X, returned=np.full(3, 5e-320)), Point(2 * X, returned=np.full(3, 0.7))))),
    "rebound": ("in-place result ignored", gradient(rebound)),
    "random": ("random", gradient(lambda x: df(x) * (1 + 1e-5 * RANDOM.standard_normal()))),
    "region, once right": ("region", Pair("gradient", f, lambda x: df(x) if x[0] < 0.3 else df(x) * x, tuple(
        Point(np.array([v, 0.7, 1.2])) for v in (0.2, 0.4, 0.6, 0.8)))),
    "region": ("region", Pair("gradient", f, lambda x: df(x) if x[0] < 0.5 else df(x) * x, tuple(
        Point(np.array([v, 0.7, 1.2])) for v in (0.2, 0.4, 0.6, 0.8)))),
    "transposed": ("transposed", jacobian(lambda x: jac(x).T)),
    "turned": ("transposed", jacobian(lambda p: residual_jac(p).T, residual, P)),
    "other order": ("transposed", gradient(
        lambda x: np.cos(ROOTS * x.reshape(2, 3)).T.ravel() * ROOTS.T.ravel(),
        lambda x: np.sum(np.sin(ROOTS * x.reshape(2, 3))), np.linspace(0.2, 1, 6))),
    "by columns": ("transposed", jacobian(lambda p: residual_jac(p).T.reshape(12, 2), residual, P)),
    "row sign": ("component sign", jacobian(lambda x: jac(x) * at(0, -1)[:, None])),
    "column factor": ("component factor", jacobian(lambda x: jac(x) * at(2, 3))),
    "one entry": ("component sign", jacobian(lambda x: jac(x) * (1 - 2 * np.outer(at(1, 0) == 0, at(2, 0) == 0)))),
    "no factor": ("factor of a parameter", residuals(lambda p: residual_jac(p) / [1, p[0]])),
    "chain": ("factor of a parameter", residuals(lambda p: residual_jac(p) * [p[1] ** 2, 2 / p[0]])),
    "by a parameter": ("factor of a parameter", gradient(lambda x: df(x) / x[1])),
    "once more": ("component", gradient(lambda x: df(x)[[0, 1, 1]])),
    "chance": ("component", residuals(lambda p: residual_jac(p) * [1, 2 - np.exp(p[0] - 1)])),
    "columns": ("exchanged", jacobian(lambda x: jac(x)[:, [1, 0, 2]])),
    "weights": ("weights", jacobian(lambda x: jac(x) / np.array([1, 2, 3])[:, None])),
    "half": ("half", hessian(lambda x: d2f(x) / 2, gradient=df)),
    "negative": ("sign", hessian(lambda x: -d2f(x))),
    "diagonal": ("block zero", hessian(lambda x: np.diag(np.diag(d2f(x))), gradient=df)),
    "triangle": ("triangle", hessian(lambda x: np.tril(d2f(x)), gradient=df)),
    "hessian by log": ("log parameter", hessian(lambda x: d2f(x) * np.outer(x, x), gradient=df)),
    "product": ("half", Pair("hvp", f, lambda x, v: d2f(x) @ v / 2, (Point(X, v=X),), gradient=df)),
    "conjugate": ("conjugate", Pair("adjoint", lambda v: COMPLEX @ v, lambda w: COMPLEX.T @ w, (Point(X + 0j),))),
    "no adjoint": ("transposed", Pair("adjoint", lambda v: A @ v, lambda w: A @ w, (Point(X),))),
    "vjp": ("transposed", Pair("vjp", r, lambda x, w: jac(x) @ w, (Point(X),))),
    "jvp": ("factor", Pair("jvp", r, lambda x, v: 3 * jac(x) @ v, (Point(X),))),
    "boosting sign": ("sign", objective(lambda x: (LABELS - sigmoid(x), sigmoid(x) * (1 - sigmoid(x))))),
    "raw score": ("raw score", objective(lambda x: (x - LABELS, x * (1 - x)))),
    "raw score, by loss": ("raw score", objective(lambda x: (x - LABELS, x * (1 - x)), logloss)),
    "Hessian at 0": ("lost term", Pair("objective", None, lambda x: (np.exp(x) - 1, np.exp(x) * (1 - np.exp(x))), (
        Point(np.zeros(30)),) * 4)),
    "hess 0": ("zero Hessian", objective(lambda x: (np.sign(x - LABELS), 0 * x))),
}  # fmt: skip
"""By name the cause that is due and the pair."""

RIGHT = {
    "gradient": (Verdict.RIGHT, gradient(df)),
    "jacobian": (Verdict.RIGHT, jacobian(jac)),
    "tall": (Verdict.RIGHT, jacobian(residual_jac, residual, P)),
    "transposed, and told": (Verdict.RIGHT, jacobian(lambda x: jac(x).T, transposed=True)),
    "hessian": (Verdict.RIGHT, hessian(d2f, gradient=df)),
    "hessian by value": (Verdict.RIGHT, hessian(d2f)),
    "hessian beside a wrong gradient": (Verdict.RIGHT, hessian(d2f, gradient=lambda x: 2 * df(x))),
    "lower triangle": (Verdict.RIGHT, hessian(lambda x: np.tril(d2f(x)), gradient=df, triangle="lower")),
    "hvp": (Verdict.RIGHT, Pair("hvp", f, lambda x, v: d2f(x) @ v, (Point(X, v=X),), gradient=df)),
    "vjp": (Verdict.RIGHT, Pair("vjp", r, lambda x, w: jac(x).T @ w, (Point(X),))),
    "adjoint": (Verdict.RIGHT, Pair("adjoint", lambda v: COMPLEX @ v, lambda w: COMPLEX.conj().T @ w,
                                    (Point(X + 0j),))),
    "boosting": (Verdict.RIGHT, objective(boosted, logloss)),
    "boosting without a loss": (Verdict.RIGHT, objective(boosted)),
    "mean of the loss": (Verdict.UP_TO_SCALE, objective(boosted, lambda x: np.mean(logloss(x)))),
    "bound": (Verdict.ON_PURPOSE, objective(lambda x: (np.sign(x - LABELS), np.ones_like(x)))),
    "clipped": (Verdict.ON_PURPOSE, objective(lambda x: (boosted(5 * x)[0], np.maximum(5 * boosted(5 * x)[1], 1e-3)))),
    "damped": (Verdict.ON_PURPOSE, objective(lambda x: (np.clip(x, -1, 1), (np.abs(x) < 1) + 0.01))),
    "Gauss-Newton": (Verdict.ON_PURPOSE, hessian(gauss_newton, squares, P, gradient=squares_grad)),
    "kink": (Verdict.RIGHT, gradient(lambda x: x - 0.3 + 0.7 * np.sign(x), lasso, np.array([0.5, 0.0, -0.2]))),
    "edge of a kink": (Verdict.RIGHT, gradient(lambda x: 0.1 * (x > 0) - SLOPES, lambda x: 500 + np.sum(
        0.1 * np.maximum(x, 0) - SLOPES * x), points=(Point(np.zeros(8), returned=-SLOPES), Point(np.ones(8))))),
    "near a kink": (Verdict.RIGHT, gradient(lambda x: x - 0.3 + 0.7 * np.sign(x), lasso, np.array([0.5, 1e-5, -1e-3]))),
    "noise": (Verdict.RIGHT, gradient(df, noisy)),
    "single": (Verdict.RIGHT, gradient(lambda x: df(x).astype(np.float32))),
    "differences": (Verdict.ON_PURPOSE, gradient(by_differences)),
    "at a bound": (Verdict.RIGHT, gradient(lambda x: 1 + np.log(x) + 0 * x, lambda x: np.sum(x * np.log(x)),
                                           np.array([1e-3, 0.4, 1.0]), bounds=(1e-3, 1.0))),
    "by log, and may be": (Verdict.OTHER_VARIABLE, gradient(lambda x: df(x) * x, convention=True)),
    "declared": (Verdict.ON_PURPOSE, gradient(lambda x: x, declared="straight-through")),
    "many": (Verdict.RIGHT, gradient(lambda x: np.cos(x) * x[::-1] + np.sin(x[::-1]),
                                     lambda x: np.sum(np.sin(x) * x[::-1]), np.linspace(-1, 2, 300))),
    "never called": (Verdict.NOT_CALLED, Pair("gradient", f, df, ())),
    "nowhere": (Verdict.NOT_SHOWN, gradient(df, lambda x: np.nan)),
    "raises": (Verdict.NOT_SHOWN, gradient(lambda x: {}["a file that is gone"])),
    "not linear": (Verdict.NOT_SHOWN, Pair("adjoint", lambda v: v**2, lambda w: w, (Point(X),))),
    "blind": (Verdict.NOISY, gradient(df, lambda x: f(x) + 1e-3 * RANDOM.standard_normal())),
}  # fmt: skip
"""By name the verdict that is due and the pair."""
