"""What programs hand to iminuit."""

import pytest

from tests.verify.audit.doors.table import held

pytest.importorskip("iminuit", reason="iminuit is not installed")
CALLS = {
    "of arguments": """
def f(a, b): return (a - 1) ** 2 + 3 * (b - 2) ** 2 + a * b
def g(a, b): return 2 * (a - 1) + b, s * 6 * (b - 2) + a
m = Minuit(f, a=0.3, b=0.5, grad=g)
m.limits['a'] = (0, 4)
""",
    "of an array": """
def f(x): return (x[0] - 1) ** 2 + 3 * (x[1] - 2) ** 2 + x[0] * x[1]
def g(x): return np.array([2 * (x[0] - 1) + x[1], s * 6 * (x[1] - 2) + x[0]])
m = Minuit(f, [0.3, 0.5], grad=g)
""",
}


@pytest.mark.parametrize("name", CALLS)
def test_right_and_wrong(name):
    end = "m.migrad(ncall=20)\nshow(list(m.values), m.nfcn, m.ngrad, m.parameters)\n"
    held(f"from iminuit import Minuit\n{CALLS[name]}{end}", ("f", "gradient"))
