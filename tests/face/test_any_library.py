"""Every entry of PyTorch's databases over array-api-strict arrays: it gives what it gives over NumPy's, and there."""

import numpy as np
import pytest

pytest.importorskip("torch", reason="the databases are PyTorch's, which is not installed")

import gradwright
from gradwright.engine.base import wrap
from oracle.check import Options
from oracle.entries import ENTRIES, name_of
from oracle.refused import REFUSED
from oracle.resolve import callable_for
from oracle.runner import run_entry

PRESENT = {name_of(e): e for e in ENTRIES if callable_for(e) is not None}
STRICT = Options(samples=2, library="array-api-strict")


@pytest.mark.parametrize("name", sorted(PRESENT.keys() - REFUSED.keys()))
def test_gives_the_same(name):
    assert run_entry(PRESENT[name], STRICT).reasons() == []


def test_finds_a_result_that_left_its_library(monkeypatch):
    exp = gradwright.exp
    monkeypatch.setattr(gradwright, "exp", lambda x: exp(wrap(np.asarray(x.detach().array)).requires_grad_()))
    assert "ndarray, not of array_api_strict" in run_entry(PRESENT["exp"], STRICT).reasons()[0]


@pytest.mark.parametrize("name", sorted(PRESENT.keys() & REFUSED.keys()))
def test_what_is_refused_still_is(name):
    assert run_entry(PRESENT[name], STRICT).reasons(), f"{name} passes: take it out of oracle/refused.py"
