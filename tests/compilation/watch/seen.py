"""What an observed run of a step says of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.compilation.watch.guards import Guard, compiled_guards
from gradwright.compilation.watch.observe import Observation, Refusal, observed


def refusals(step: Any) -> list[Refusal]:
    """Why a step, or a step with its arguments, cannot be compiled."""
    step, args = step if isinstance(step, tuple) else (step, ())
    return observed(step, args).refusals


def failed_guard(step: Callable[[], Any], change: Callable[[], Any]) -> Guard | None:
    """The guard that fails once ``change`` has been called; none does before."""
    step()
    seen = observed(step)
    asked = compiled_guards(seen.guards)
    assert not seen.refusals, seen.refusals
    assert asked() is None, asked()
    change()
    return asked()


def quiet(step: Callable[..., Any], *args: Any) -> Observation:
    """An observed run that has nothing against the step, whose guards hold afterwards."""
    step(*args)
    step(*args)
    seen = observed(step, args)
    assert not seen.refusals, "\n".join(map(str, seen.refusals))
    assert compiled_guards(seen.guards)() is None
    return seen
