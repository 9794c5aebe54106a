"""Every entry of PyTorch's databases over other libraries' arrays: it gives what it gives over NumPy's, and there.

Of JAX's, which compiles anew for each shape, `make test` takes a sixteenth of the entries and those that reach what its
backend module adds; `python -m oracle --library jax` takes all.
"""

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
STRICT, JAX = Options(samples=2, library="array-api-strict"), Options(samples=1, library="jax")
OWN = {"bincount", "cummax", "erf", "fmod", "histc", "index_put", "linalg.inv", "nn.Conv2d", "nn.ConvTranspose1d",
       "nn.GELU", "nn.functional.max_pool2d", "optim.Adam", "scatter_reduce.amax", "svd", "unfold_copy"}  # fmt: skip


def passes(name, options):
    assert run_entry(PRESENT[name], options).reasons() == []


@pytest.mark.parametrize("name", sorted(PRESENT.keys() - REFUSED["array-api-strict"].keys()))
def test_gives_the_same(name):
    passes(name, STRICT)


@pytest.mark.parametrize("name", sorted({*sorted(PRESENT)[::16], *(OWN & PRESENT.keys())} - REFUSED["jax"].keys()))
def test_gives_the_same_over_jax(name):
    pytest.importorskip("jax", reason="jax is not installed: nothing is run over its arrays")
    passes(name, JAX)


def test_finds_a_result_that_left_its_library(monkeypatch):
    exp = gradwright.exp
    monkeypatch.setattr(gradwright, "exp", lambda x: exp(wrap(np.asarray(x.detach().array)).requires_grad_()))
    assert "ndarray, not of array_api_strict" in run_entry(PRESENT["exp"], STRICT).reasons()[0]


def test_finds_a_weak_dtype(monkeypatch):
    jax = pytest.importorskip("jax", reason="jax is not installed: it alone has weak dtypes")
    monkeypatch.setattr(gradwright, "exp", lambda x: weak(jax, x))
    assert "the result is of a weak torch.float64" in run_entry(PRESENT["exp"], JAX).reasons()[0]


def weak(jax, x):
    if isinstance(x.array, np.ndarray):
        return x.detach().requires_grad_()
    return wrap(jax.numpy.broadcast_to(jax.numpy.exp(0.5), x.shape)).requires_grad_()


@pytest.mark.parametrize("name", sorted(PRESENT.keys() & REFUSED["array-api-strict"].keys()))
def test_what_is_refused_still_is(name):
    assert run_entry(PRESENT[name], STRICT).reasons(), f"{name} passes: take it out of oracle/refused.py"


@pytest.mark.parametrize("name", sorted(PRESENT.keys() & REFUSED["jax"].keys()))
def test_what_jax_refuses_still_is(name):
    pytest.importorskip("jax", reason="jax is not installed: nothing is run over its arrays")
    everything = Options(samples=None, library="jax")
    assert run_entry(PRESENT[name], everything).reasons(), f"{name} passes: take it out of oracle/refused.py"
