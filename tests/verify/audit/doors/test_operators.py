"""Linear operators and their adjoints."""

import pytest

from tests.verify.audit.doors.table import held

HEAD = """
A = np.arange(12.0).reshape(4, 3) + np.eye(4, 3)
b = np.array([1.0, 2.0, 0.5, -1.0])
"""
SCIPY = {
    "of functions": ("""
from scipy.sparse.linalg import LinearOperator, lsqr
show(lsqr(LinearOperator((4, 3), matvec=lambda x: A @ x, rmatvec=lambda y: s * A.T @ y, dtype=float), b, iter_lim=3)[0])
""", "matvec of lambda at line 6"),
    "a class, complex": ("""
from scipy.sparse.linalg import LinearOperator
class Op(LinearOperator):
    def _matvec(self, x): return (1 + 2j) * (A @ x)
    def _rmatvec(self, y): return (1 - s * 2j) * (A.T @ y)
op = Op(complex, (4, 3))
show(op.H @ b, op.rmatvec(b))
""", "Op.matvec"),
}  # fmt: skip


@pytest.mark.parametrize("name", SCIPY)
def test_scipy(name):
    text, wrong = SCIPY[name]
    held(HEAD + text, (wrong, "adjoint"))


def test_pylops():
    pytest.importorskip("pylops", reason="PyLops is not installed")
    held(HEAD + """
import pylops
class Mix(pylops.LinearOperator):
    def __init__(self): super().__init__(dtype=float, shape=(4, 3))
    def _matvec(self, x): return A @ x
    def _rmatvec(self, y): return A.T @ np.r_[s * y[:1], y[1:]]
op = 2 * Mix() @ pylops.Identity(3)
show(pylops.cgls(op, b, x0=np.zeros(3), niter=2)[0])
""", ("Mix.matvec", "adjoint"))  # fmt: skip
