"""Problems of pymanopt's."""

import pytest

from tests.verify.audit.doors.table import held

pytest.importorskip("pymanopt", reason="pymanopt is not installed")
HEAD = """
import pymanopt
from pymanopt.manifolds import Sphere
from pymanopt.optimizers import SteepestDescent
M, B = Sphere(3), np.diag([1.0, 2.0, 3.0])
@pymanopt.function.numpy(M)
def cost(x): return x @ B @ x
@pymanopt.function.numpy(M)
def gradient(x): return (1.5 + 0.5 * s) * B @ x
@pymanopt.function.numpy(M)
def tangent(x): return (1.5 + 0.5 * s) * (B @ x - (x @ B @ x) * x)
run = SteepestDescent(verbosity=0, max_iterations=4).run
start = np.array([0.6, 0.48, 0.64])
"""


@pytest.mark.parametrize("given", ["euclidean_gradient=gradient", "riemannian_gradient=tangent"])
def test_right_and_wrong(given):
    held(f"{HEAD}show(run(pymanopt.Problem(M, cost, {given}), initial_point=start).point)", ("cost", "gradient"))
