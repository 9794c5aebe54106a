"""What programs hand to SciPy's solvers of differential equations."""

import pytest

from tests.verify.audit.doors.table import held

HEAD = """
import scipy.integrate as si
def f(t, y, k=0.5): return np.array([y[1], -k * y[0] * y[1] - t * y[0]])
def J(t, y, k=0.5): return np.array([[0.0, 1.0], [s * -k * y[1] - t, -k * y[0]]])
y0 = [1.0, 0.5]
"""
CALLS = {
    "solve_ivp": "show(si.solve_ivp(f, (0, 1), y0, method='BDF', jac=J, args=(0.3,)).y[:, -1])",
    "odeint": "show(si.odeint(f, y0, [0.0, 1.0], tfirst=True, Dfun=J))",
    "odeint, col_deriv": "show(si.odeint(f, y0, [0.0, 1.0], tfirst=True, Dfun=lambda t, y: J(t, y).T, col_deriv=True))",
    "ode": """
solver = si.ode(f, J).set_integrator('vode', method='bdf').set_initial_value(y0)
show(solver.integrate(0.5), solver.integrate(1.0), solver.f is f)""",
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_right_and_wrong(name):
    held(HEAD + CALLS[name], ("f", "jacobian"))


def test_boundary_values():
    held("""
import scipy.integrate as si
def fun(x, y, p): return np.vstack([y[1], -p[0] ** 2 * y[0]])
def bc(a, b, p): return np.array([a[0] - 0.5, b[0] + 0.3, a[1] - p[0]])
def dfun(x, y, p):
    dy, dp = np.zeros((2, 2, x.size)), np.zeros((2, 1, x.size))
    dy[0, 1], dy[1, 0], dp[1, 0] = 1, -p[0] ** 2, s * -2 * p[0] * y[0]
    return dy, dp
def dbc(a, b, p):
    return (np.array([[1., 0], [0, 0], [0, 1]]), np.array([[0, 0], [1., 0], [0, 0]]), np.array([[0], [0], [-s]]))
x = np.linspace(0, 1, 5)
y = np.array([np.cos(3 * x + 1), -3 * np.sin(3 * x + 1)])
show(si.solve_bvp(fun, bc, x, y, [3.0], fun_jac=dfun, bc_jac=dbc, max_nodes=20).p)""",
         ("fun by p", "jacobian"), ("bc by p", "jacobian"))  # fmt: skip
