"""Programs made simpler: fewer nodes and less work, the same results.

The rules stand in `view_rules` (copies, views, broadcasts, constants) and `algebra_rules` (signs, ones and zeros,
powers, factors, sums, products of matrices); beside them, what is computed twice is computed once, and what nothing
needs not at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from gradwright.compilation import algebra_rules, view_rules
from gradwright.compilation.node import Program
from gradwright.compilation.rewriting import RULES, Rewriting

__all__ = ["passes", "simplified"]

_ROUNDS = 6
_DECLARED = (algebra_rules, view_rules)  # which enter their rules


def passes() -> list[str]:
    """The names of all passes: the rules, "common" (what is computed twice), "dead" (what nothing needs; always)."""
    return [*dict.fromkeys(f.__name__ for rules in RULES.values() for f, _ in rules), "common", "dead"]


def simplified(program: Program, exact: bool = False, only: Iterable[str] | None = None) -> Program:
    """A program with the same inputs, outputs, checks and host calls, and fewer nodes.

    Args:
        program: stays as it is.
        exact: every result is to have the same bits. Then nothing is added up in another order, and no array that is
            added up or multiplied as a matrix lies otherwise in memory; for that, the values of the traced run are
            looked at (`Node.value`), and where they are gone little is done. Without it, sums and products may be
            rounded otherwise, as exactly as before, and a zero may have the other sign.
        only: the names of `passes` that are to be made; all, if None.
    """
    chosen = None if only is None else frozenset(only)
    for _ in range(_ROUNDS):
        before = len(program.nodes)
        program = Rewriting(program, exact, chosen).program
        if len(program.nodes) == before:
            break
    return program
