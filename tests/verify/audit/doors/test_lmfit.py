"""What programs hand to lmfit."""

import pytest

from tests.verify.audit.doors.table import held

pytest.importorskip("lmfit", reason="lmfit is not installed")


def test_right_and_wrong():
    held("""
import lmfit
x = np.linspace(0, 3, 11)
y = 2 * np.exp(-0.7 * x) + 0.01 * np.sin(9 * x)
def residual(p, x, y): return p['a'] * np.exp(-p['b'] * x) - y
def slopes(p, x, y): return np.array([np.exp(-p['b'] * x), s * -p['a'] * x * np.exp(-p['b'] * x)])
p = lmfit.Parameters()
p.add('a', 1.0, min=0, max=10)
p.add('c', 3.0, vary=False)
p.add('b', 0.3)
found = lmfit.minimize(residual, p, args=(x, y), Dfun=slopes, col_deriv=1, max_nfev=20)
show({k: v.value for k, v in found.params.items()}, found.nfev)
""", ("residual", "jacobian"))  # fmt: skip
