"""What programs hand to SciPy's optimisers, solvers and fits."""

import numpy as np
import pytest

from gradwright.verify.audit.doors.scipy_optimize import bounds_of
from tests.verify.audit.doors.table import audited, held

HEAD = """
import scipy.optimize as so
def f(x, a=2.0):
    return np.sum((x - a) ** 4) + x[0] * x[1]
def g(x, a=2.0):
    return s * 4 * (x - a) ** 3 + np.append(x[1::-1], np.zeros(len(x) - 2))
def H(x, a=2.0):
    M = np.diag(s * 12 * (x - a) ** 2)
    M[0, 1] = M[1, 0] = 1
    return M
def Hp(x, p, a=2.0):
    return s * 12 * (x - a) ** 2 * p + np.append(p[1::-1], np.zeros(len(x) - 2))
def right(x, a=2.0):
    return 4 * (x - a) ** 3 + np.append(x[1::-1], np.zeros(len(x) - 2))
t = np.linspace(0, 1, 6)
def r(p):
    return p[0] * np.exp(p[1] * t) - 2 * np.exp(0.5 * t)
def J(p):
    return np.stack([np.exp(p[1] * t), s * p[0] * t * np.exp(p[1] * t)], 1)
def F(x):
    return np.array([x[0] ** 2 + x[1] - 3, x[0] - x[1] ** 3])
def DF(x):
    return np.array([[2 * x[0], 1.0], [1.0, s * -3 * x[1] ** 2]])
x0 = np.array([0.5, 0.3, 0.2])
"""
CALLS = {
    "jac": ("""
show(so.minimize(f, x0, jac=g, args=(1.5,), method='BFGS', options={'maxiter': 5}).x)
""", ("f", "gradient")),
    "one buffer": ("""
kept = np.empty(3)
def again(x):
    kept[:] = right(x)
    return kept if s < 0 else kept.copy()
show(so.minimize(f, x0, jac=again, method='BFGS', options={'maxiter': 5}).x)
""", ("f", "gradient")),
    "jac=True": ("""
def both(x):
    return f(x), g(x)
show(so.minimize(both, x0, jac=True, options={'maxiter': 5}).x)
""", ("both", "gradient")),
    "hess": ("""
show(so.minimize(f, x0, jac=right, hess=H, method='trust-ncg', options={'maxiter': 5}).x)
""", ("f", "hessian")),
    "hessp": ("""
show(so.minimize(f, x0, jac=right, hessp=Hp, method='Newton-CG', options={'maxiter': 5}).x)
""", ("f", "hvp")),
    "constraint": ("""
def c(x): return np.array([x[0] ** 2 + x[1] - 1])
def dc(x): return np.array([[2 * x[0], s, 0]])
show(so.minimize(f, x0, jac=right, constraints={'type': 'eq', 'fun': c, 'jac': dc}, options={'maxiter': 5}).x)
""", ("c", "jacobian")),
    "NonlinearConstraint": ("""
def c(x): return np.array([x[0] ** 2 + x[1], x[2] ** 2])
def dc(x): return np.array([[2 * x[0], 1, 0], [0, 0, 2 * x[2]]])
def ddc(x, v): return np.diag([2 * v[0], 0, s * 2 * v[1] + (1 - s)])
held = so.NonlinearConstraint(c, 0, 1, jac=dc, hess=ddc)
with np.errstate(all='ignore'):
    show(so.minimize(f, x0, jac=right, constraints=[held], method='trust-constr', options={'maxiter': 5}).x)
""", ("c", "hessian")),
    "fmin_bfgs": ("""
show(so.fmin_bfgs(f, x0, g, args=(1.5,), maxiter=4, disp=0))
""", ("f", "gradient")),
    "fmin_cg": ("""
show(so.fmin_cg(f, x0, g, maxiter=4, disp=0))
""", ("f", "gradient")),
    "fmin_ncg": ("""
show(so.fmin_ncg(f, x0, right, fhess=H, maxiter=3, disp=0))
""", ("f", "hessian")),
    "fmin_l_bfgs_b": ("""
show(so.fmin_l_bfgs_b(f, x0, g, bounds=[(0, 1)] * 3, maxiter=4)[0])
""", ("f", "gradient")),
    "fmin_l_bfgs_b of both": ("""
show(so.fmin_l_bfgs_b(lambda x: (f(x), g(x)), x0, maxiter=4)[0])
""", ("lambda at line 26", "gradient")),
    "fmin_tnc": ("""
show(so.fmin_tnc(f, x0, g, disp=0, maxfun=9)[0])
""", ("f", "gradient")),
    "fmin_slsqp": ("""
show(so.fmin_slsqp(f, x0, fprime=g, iter=4, iprint=0))
""", ("f", "gradient")),
    "least_squares": ("""
show(so.least_squares(r, [1.0, 1.0], jac=J).x)
""", ("r", "jacobian")),
    "leastsq": ("""
show(so.leastsq(r, [1.0, 1.0], Dfun=J, maxfev=9)[0])
""", ("r", "jacobian")),
    "leastsq, col_deriv": ("""
show(so.leastsq(r, [1.0, 1.0], Dfun=lambda p: J(p).T, col_deriv=True, maxfev=9)[0])
""", ("r", "jacobian")),
    "root": ("""
show(so.root(F, [1.0, 1.0], jac=DF, options={'maxfev': 9}).x)
""", ("F", "jacobian")),
    "fsolve": ("""
show(so.fsolve(F, [1.0, 1.0], fprime=DF, maxfev=9))
""", ("F", "jacobian")),
    "newton": ("""
def q(x): return x ** 3 - 2 * x - 5
def dq(x): return 3 * x ** 2 - 2 + (1 - s) * 4 * x
show(so.newton(q, 2.0, fprime=dq))
""", ("q", "jacobian")),
    "newton on an array": ("""
a = np.array([2.0, 3.0])
def q(x): return x ** 3 - a
def dq(x): return 3 * x ** 2 + (1 - s) * x
show(so.newton(q, np.ones(2), fprime=dq))
""", ("q", "jacobian")),
    "root_scalar": ("""
def q(x): return x ** 3 - 2 * x - 5
def dq(x): return 3 * x ** 2 - 2 + (1 - s) * 4 * x
show(so.root_scalar(q, x0=2.0, fprime=dq).root)
""", ("q", "jacobian")),
    "curve_fit": ("""
def model(t, a, b): return a * np.exp(b * t)
def dmodel(t, a, b): return np.stack([np.exp(b * t), s * a * t * np.exp(b * t)], 1)
show(so.curve_fit(model, t, 2 * np.exp(0.5 * t), p0=[2.0, 0.5], jac=dmodel)[0])
""", ("model", "jacobian")),
    "basinhopping": ("""
show(so.basinhopping(f, x0, niter=2, rng=1, minimizer_kwargs={'jac': g, 'method': 'BFGS', 'options': {'maxiter': 3}}).x)
""", ("f", "gradient")),
    "shgo": ("""
show(so.shgo(f, [(0, 1)] * 3, minimizer_kwargs={'jac': g, 'method': 'SLSQP'}, n=8).x)
""", ("f", "gradient")),
    "dual_annealing": ("""
show(so.dual_annealing(f, [(0, 1)] * 3, maxiter=3, rng=1, minimizer_kwargs={'jac': g, 'method': 'L-BFGS-B'}).x)
""", ("f", "gradient")),
    "differential_evolution": ("""
held = so.NonlinearConstraint(lambda x: x[0] ** 2 + x[1], 0, 1, jac=lambda x: np.array([[2 * x[0], s, 0]]))
show(so.differential_evolution(f, [(0, 1)] * 3, constraints=held, maxiter=2, popsize=3, rng=1).x)
""", ("lambda at line 26", "jacobian")),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_right_and_wrong(name):
    text, wrong = CALLS[name]
    held(HEAD + text, wrong)


def test_bounds():
    assert bounds_of(None) is None
    low, high = bounds_of([(0, None), (None, 2)])
    assert (low.tolist(), high.tolist()) == ([0, -np.inf], [np.inf, 2])


def test_the_parameters_of_a_model_are_called_by_name():
    report = audited(HEAD + CALLS["curve_fit"][0], s=-1.0)
    assert "in the column of b alone: " in report.checked[0].failures[0].sentence
    assert "at [a, b] = [" in report.checked[0].failures[0].sentence
