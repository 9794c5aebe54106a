"""What programs hand to nlopt."""

import pytest

from tests.verify.audit.doors.table import audited, held

pytest.importorskip("nlopt", reason="nlopt is not installed")


def test_right_and_wrong():
    held("""
import nlopt
def f(x, grad):
    if grad.size: grad[:] = [2 * (x[0] - 1), s * 2 * (x[1] - 2)]
    return (x[0] - 1) ** 2 + (x[1] - 2) ** 2
def c(x, grad):
    if grad.size: grad[:] = [1.0, 1.0]
    return x[0] + x[1] - 2
def several(result, x, grad):
    if grad.size: grad[:] = [[2 * x[0], 0], [0, s]]
    result[:] = [x[0] ** 2 - 4, x[1] - 4]
o = nlopt.opt(nlopt.LD_MMA, 2)
o.set_min_objective(f)
o.add_inequality_constraint(c, 1e-8)
o.add_inequality_mconstraint(several, [1e-8, 1e-8])
o.set_maxeval(6)
show(o.optimize([0.1, 0.2]), o.get_numevals())
""", ("f", "gradient"), ("several", "jacobian"))  # fmt: skip


def test_a_gradient_that_is_bound_anew_is_named():
    report = audited("""
import nlopt
def f(x, grad):
    if grad.size: grad = 2 * x
    return float(x @ x)
o = nlopt.opt(nlopt.LD_SLSQP, 2)
o.set_min_objective(f)
o.set_maxeval(3)
try:
    o.optimize([0.3, 0.4])
except (nlopt.RoundoffLimited, RuntimeError, ValueError):
    pass
""")
    assert "binds a new array to `grad`" in report.checked[0].failures[0].sentence
