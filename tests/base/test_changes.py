"""Switches, and what is declared."""

import re
from pathlib import Path

import gradwright as gw
from gradwright.base.changes import SWITCHES, declarations, switch
from gradwright.op import op

PASSING = {
    "_inside": "a device's block, by which compiled steps are told apart", "_mode": "which every call asks",
    "_debug": "of checkpoints, which says more", "_early_stop": "of checkpoints, whose numbers are the same",
    "_places": "while C is built", "_now": "while kernels are made",
    "_level": "of nested calls", "taking": "inside of transforms",
    "_users": "during a pass", "_waiting": "during a pass", "_running": "during a pass",
    "routing": "during a pass", "accumulating": "during a pass", "halted": "inside of transforms",
    "_open": "forward mode, which is a mode", "pushing": "while a Function saves", "tolerant": "of arguments",
    "below_autograd": "inside of an operation", "_cache": "of parametrisations, which the step reads itself",
}  # fmt: skip
"""Context variables that no program depends on, and why."""


def test_every_context_variable_is_a_switch_or_known_not_to_be_one() -> None:
    sources = Path(gw.__file__).parent.rglob("*.py")
    of = re.compile(r"^(\w+)\b.*= ContextVar\(", re.MULTILINE)
    made = [found for path in sources for found in of.findall(path.read_text())]
    assert len(made) > 10
    assert set(made) == PASSING.keys()


def test_a_switch_is_known_by_its_name() -> None:
    before = dict(SWITCHES)
    try:
        made = switch("another", default=3)
        assert made.get() == 3
        assert SWITCHES["another"] is made
    finally:
        SWITCHES.clear()
        SWITCHES.update(before)
    assert "strict" in SWITCHES


def test_a_derivative_and_a_divergence_are_declarations() -> None:
    @op(kind="elementwise")
    def same(xp, x):
        return xp.positive(x)

    before = declarations[0]
    same.vjp(x=lambda xp, g: g)
    assert declarations[0] == before + 1
    register, mine = gw.distributions.register_kl, type("Mine", (gw.distributions.Normal,), {})
    before = declarations[0]
    register(mine, mine)(lambda p, q: p.loc)
    assert declarations[0] == before + 1
