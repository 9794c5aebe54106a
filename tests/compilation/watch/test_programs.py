"""Each program of `programs/` that changes something is refused, and each that reads is guarded: one case a program."""

from __future__ import annotations

from types import FunctionType, ModuleType
from typing import Any

import pytest

import gradwright as gw
from tests.compilation.watch.programs import (
    effects_by_detours,
    effects_hidden,
    effects_of_calls,
    effects_plain,
    reads_by_calls,
    reads_hidden,
    reads_of_containers,
    reads_of_names,
)
from tests.compilation.watch.seen import failed_guard, refusals

WITHOUT_A_LINE = {"generator_step", "bytes_as_an_argument"}


def made_by(*modules: ModuleType) -> dict[str, Any]:
    """The functions of modules of programs, by name."""
    found = [f for module in modules for f in vars(module).values()
             if isinstance(f, FunctionType) and f.__module__ == module.__name__ and not f.__name__.startswith("_")]
    named = {f.__name__: f for f in found}
    assert len(named) == len(found)
    return named


EFFECTS = made_by(effects_by_detours, effects_hidden, effects_of_calls, effects_plain)
READS = made_by(reads_by_calls, reads_hidden, reads_of_containers, reads_of_names)


@pytest.mark.parametrize("name", EFFECTS)
@pytest.mark.filterwarnings("ignore")
def test_an_effect_is_refused_with_its_line(name):
    try:
        found = refusals(EFFECTS[name]())
    finally:
        gw.set_grad_enabled(True)
    assert found
    assert all(r.place is not None for r in found) or name in WITHOUT_A_LINE


@pytest.mark.parametrize("name", READS)
@pytest.mark.filterwarnings("ignore")
def test_what_is_read_is_guarded(name, monkeypatch):
    make = READS[name]
    assert failed_guard(*make(*[monkeypatch] * make.__code__.co_argcount)) is not None
    while reads_by_calls.REMOVE:
        reads_by_calls.REMOVE.pop().clear()
        reads_by_calls.REMOVE.pop().remove()
