"""The magic of notebooks."""

import sys

import pytest

pytest.importorskip("scipy", reason="SciPy is not installed")


def test_a_cell_is_audited(monkeypatch):
    shells = pytest.importorskip("IPython.core.interactiveshell", reason="IPython is not installed")
    shell = shells.InteractiveShell()
    monkeypatch.setattr(sys, "displayhook", sys.displayhook)
    shell.extension_manager.load_extension("gradwright")
    shell.run_cell("import numpy as np\nfrom scipy.optimize import minimize\ndef f(x): return np.sum(x ** 4)")
    found = shell.run_cell_magic("audit", "10", "x = minimize(f, np.ones(2), jac=lambda x: 2 * x ** 3).x")
    (row,) = found.checked
    assert (row.name, row.verdict.value) == ("f", "FAIL")
    assert shell.user_ns["x"].shape == (2,)
