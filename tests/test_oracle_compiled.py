"""PyTorch's operator database compiled: every eighth entry that exists, and every 48th over JAX's arrays.

`python -m oracle --compiled` runs all of them, and `--library jax` those over JAX's arrays.
"""

from importlib.util import find_spec

import pytest

from gradwright.compilation import comparison
from gradwright.compilation.by_numpy import plan

pytest.importorskip("torch", reason="the oracle is PyTorch, which is not installed")

from oracle import check, resolve
from oracle.compiled import fails
from oracle.entries import ENTRIES, name_of
from oracle.known import COMPILED
from oracle.records import COMPILED as CHECKS
from oracle.refused import REFUSED
from oracle.runner import run_entry

PRESENT = {name_of(e): e for e in ENTRIES if resolve.callable_for(e) is not None}


@pytest.mark.parametrize("name", sorted(PRESENT)[::8])
def test_what_is_compiled_does_what_is_not(name):
    record = run_entry(PRESENT[name], check.Options(samples=1, backend="plan"))
    assert not any(record.checks[name].failed for name in CHECKS), record.reasons()
    assert bool(record.eager) is (name in COMPILED), record.eager


ON_JAX = [name for name in sorted(PRESENT)[::48] if name not in COMPILED and name not in REFUSED["jax"]]


@pytest.mark.skipif(find_spec("jax") is None, reason="jax is not installed: nothing is run on its devices")
@pytest.mark.parametrize("name", ON_JAX)
def test_what_is_compiled_over_jax_does_what_is_not(name):
    record = run_entry(PRESENT[name], check.Options(samples=1, library="jax", backend="auto"))
    assert not any(record.checks[name].failed for name in CHECKS), record.reasons()


def test_finds_what_compiles_to_other_numbers(monkeypatch):
    monkeypatch.setattr(comparison, "difference", lambda *args, **kwargs: None)
    make = plan.Plan.__call__

    def wrong(self, arrays):
        return [out if out is None or out.dtype.kind != "f" else out * 1.001 for out in make(self, arrays)]

    monkeypatch.setattr(plan.Plan, "__call__", wrong)
    assert fails(run_entry(PRESENT["sin"], check.Options(samples=1, backend="plan"))) == ["step", "history"]
