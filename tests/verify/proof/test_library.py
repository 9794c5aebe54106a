"""Working precision, and what is said without python-flint."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gradwright.verify.proof.library import flint, order, working


def test_working_sets_bits_and_order_and_puts_them_back():
    before = flint.ctx.prec, flint.ctx.cap
    with working(bits=77, order=4):
        assert (flint.ctx.prec, order()) == (77, 4)
    with pytest.raises(ZeroDivisionError), working(bits=77):
        1 / 0
    assert (flint.ctx.prec, flint.ctx.cap) == before


def test_without_python_flint_the_error_names_the_extra():
    code = (
        "import sys; sys.modules['flint'] = None; import gradwright, gradwright.verify\n"
        "gradwright.verify.prove"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert found.stderr.endswith("ImportError: gradwright.verify.proof needs python-flint: pip install python-flint\n")


def test_gradwright_imports_none_of_it():
    code = "import sys, gradwright; print([m for m in sys.modules if 'flint' in m or 'verify.proof' in m])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"
