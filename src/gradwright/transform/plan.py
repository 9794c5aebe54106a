"""The quick way of tangents: what one operation declares, put together once for the inputs that move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from gradwright import backends
from gradwright.engine.apply import apply
from gradwright.ops.declare import Op, Rule

Plan = Callable[[Sequence[Any], Sequence[Any], Any, dict[str, Any]], Any]
"""From values, their tangents, the result and the static arguments to the tangent of the result."""


def planned(op: Op, moves: tuple[bool, ...]) -> Plan | None:
    """The sum of what the tangents of these inputs give to that of one result; None if it takes more than that.

    An input gives what ``op.jvp`` says; or, of a multilinear operation, what that makes of its tangent beside the other
    values; or, of an elementwise one, its derivative.
    """
    found = op.plans.get(moves)
    if found is None:
        found = op.plans[moves] = _made(op, moves) or _none
    return None if found is _none else found


def _none(*_: Any) -> None:
    """There is no plan."""


def _made(op: Op, moves: tuple[bool, ...]) -> Plan | None:
    names = op.names_of(len(moves))
    parts = [(k, _part(op, names[k], k)) for k, m in enumerate(moves) if m]
    if op.several or any(part is None for _, part in parts):
        return None
    broadcasts = op.kind == "elementwise"

    def plan(values: Sequence[Any], tangents: Sequence[Any], out: Any, static: dict[str, Any]) -> Any:
        shape = out.array.shape
        total: Any = None
        for k, part in parts:
            t = tangents[k]
            if broadcasts and t.array.shape != shape:
                t = t.expand(shape)
            given = part(backends.namespace(t), t, values, out, static)
            total = given if total is None else total + given
        return total if total.array.shape == shape else total.expand(shape)

    return plan


def _part(op: Op, name: str, k: int) -> Any:
    """What input ``k`` gives: a function of the namespace, its tangent, the values, the result and static arguments."""
    if name in op.pushes:
        return _called(op, op.pushes[name])
    if op.multilinear and name in op.rules:
        return lambda xp, t, values, out, static: apply(op, [*values[:k], t, *values[k + 1 :]], static)
    return _called(op, op.rules[name]) if op.kind == "elementwise" else None


def _called(op: Op, rule: Rule) -> Callable[..., Any] | None:
    """The rule as such a function; None if it names more than inputs, their shapes, static arguments and the result."""
    places = {n: f"values[{k}]" for k, n in enumerate(op.inputs)}
    places |= {f"{n}_shape": f"values[{k}].array.shape" for k, n in enumerate(op.inputs)}
    places |= {n: f"static.get({n!r}, defaults.get({n!r}))" for n in op.static} | {"out": "out"}
    if op.variadic or any(n not in places for n in rule.names):
        return None
    given = ", ".join(["xp", "t", *[places[n] for n in rule.names]])
    made: Callable[..., Any] = eval(  # noqa: S307 - the text is written here
        f"lambda xp, t, values, out, static: fn({given})", {"fn": rule.fn, "defaults": op.defaults}
    )
    return made
