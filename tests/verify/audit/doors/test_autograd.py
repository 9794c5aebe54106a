"""Primitives of autograd's."""

import pytest

from tests.verify.audit.doors.table import held

pytest.importorskip("autograd", reason="autograd is not installed")


def test_right_and_wrong():
    held("""
import autograd
import autograd.numpy as anp
from autograd.extend import defvjp, primitive
@primitive
def scaled(x, a): return a * x ** 2
defvjp(scaled, lambda ans, x, a: lambda g: s * g * 2 * a * x, lambda ans, x, a: lambda g: anp.sum(g * x ** 2))
show(autograd.grad(lambda x: anp.sum(scaled(x, 3.0)))(np.array([1.0, 2.0])))
show(autograd.grad(lambda a: anp.sum(scaled(np.array([1.0, 2.0]), a)))(3.0))
""", ("scaled", "vjp"))  # fmt: skip
