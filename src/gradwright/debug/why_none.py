"""`why_none`: why a tensor has no gradient."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gradwright.base.errors import GradientWarning, kind
from gradwright.base.pages.shown import Shown
from gradwright.debug.path_of_values import Event, Trace, dropped, edges, is_whole, line, name_of, reaches
from gradwright.debug.saved_values import packed, saved_values
from gradwright.engine.backward import leading_to, walk
from gradwright.engine.base import TensorBase
from gradwright.engine.mode import is_grad_enabled
from gradwright.engine.node import AccumulateGrad, Node
from gradwright.engine.nodes_of_ops import recorded_at
from gradwright.engine.saved_hooks import Entry
from gradwright.engine.view import is_severed
from gradwright.function.contract.containers import flatten
from gradwright.function.ctx import BackwardNode


@dataclass(frozen=True)
class WhyNone(Shown):
    """Why a tensor has no gradient, as `why_none` returns it; as a string, all of it.

    Attributes:
        reason: in a word or two: see `why_none`.
        sentence: what is so.
        mend: what to do about it, or how to find out more.
        place: the line of the program where it happens; None if it is not known.
        certain: whether it is known to be so; otherwise it is one of several things, which the sentence says.
    """

    reason: str
    sentence: str
    mend: str = ""
    place: str | None = None
    certain: bool = True

    def __str__(self) -> str:
        return "\n".join(filter(None, [self.sentence, self.place and f"  at {self.place}", self.mend]))


def why_none(t: TensorBase, output: Any = None) -> WhyNone:
    """Why ``t.grad`` is None, or what would keep ``output`` from giving it a gradient.

    Args:
        t: the tensor. If it has a gradient, as of an earlier pass, ``output`` is judged all the same.
        output: what backward was run on, or was to be run on: a tensor, or several in a container. Better, a function
            without parameters that computes it: ``why_none(w, lambda: loss(model(x)))``. That is run once or twice,
            watched, so that the line where the way from ``t`` breaks can be named. A backward pass may be run, hooks
            included; gradients are not touched.

    Returns:
        A `WhyNone`, whose ``reason`` is one of:

        - of the tensor: ``has a gradient``, ``not a leaf``, ``whole numbers``, ``frozen``, ``requires_grad is False``;
        - of the way to it: how its values were cut off (``detach()``, ``.data``, ``no_grad()``, ``numpy()``,
          ``item()``, ...); ``captured`` (a Function uses it without being given it); ``not recorded`` (an operation
          without derivative, or in `inference_mode`); ``returned None``; ``surrogate``; ``no path``; ``not used``;
        - of the pass: ``cleared`` (there was one), ``never run``; without ``output``, ``unknown``.

    Raises:
        TypeError: ``t`` is no tensor, or there is none in ``output``. Also whatever the function raises.

    >>> w = gw.ones(2, requires_grad=True)
    >>> y = w * 2
    >>> print(why_none(y))
    it is not a leaf but the result of MulBackward0, and gradients are kept for leaves only
    call retain_grad() on it before backward
    """
    if not isinstance(t, TensorBase):
        raise TypeError(f"why_none: expected a Tensor, but got {kind(t)}")
    if output is None and _keeps_one(t):
        return _has_gradient("; whether an output would give it one, why_none(t, output) tells")
    found = _of_itself(t)
    if found is not None:
        return found
    if callable(output) and not isinstance(output, TensorBase):
        return _of_program(t, output)
    if output is None:
        return WhyNone(
            "unknown",
            "nothing is wrong with it: it is a leaf that requires grad. Either backward has not been run yet, or its "
            "gradient was cleared since, or what backward was run on does not lead to it",
            "to know which: why_none(t, loss), or better why_none(t, lambda: <compute the loss>)",
            certain=False,
        )
    return _of_graph(t, _tensors(output))


def _of_itself(t: Any) -> WhyNone | None:
    """The reasons seen from the tensor alone."""
    node = t._node
    if node is None or is_severed(node):
        if is_whole(t.array):
            return WhyNone(
                "whole numbers",
                f"it is of {t.dtype.name}, and only floating point and complex tensors can require grad",
                "convert it where it is made: dtype=float64, say",
            )
        if t.__dict__.get("_frozen") is not None:
            return WhyNone("frozen", "it was frozen: its requires_grad was switched off",
                           "call requires_grad_() on it before it is used")  # fmt: skip
        return WhyNone(
            "requires_grad is False",
            "its requires_grad is False: either it was not made to require grad, or it is the result of detach(), or "
            "of operations that were not recorded",
            "make it with requires_grad=True, or call requires_grad_() on it before it is used; if it is a result, ask "
            "why_none about what it was computed from",
        )
    if type(node) is not AccumulateGrad and not _retained(t):
        place = recorded_at(node._edge()[0])
        return WhyNone(
            "not a leaf",
            f"it is not a leaf but the result of {name_of(node)}, and gradients are kept for leaves only",
            "call retain_grad() on it before backward",
            str(place) if place else None,
        )
    return None


def _keeps_one(t: Any) -> bool:
    return getattr(t, "_grad", None) is not None


def _has_gradient(more: str) -> WhyNone:
    return WhyNone("has a gradient", f"it has a gradient: its grad is not None{more}")


def _retained(t: Any) -> bool:
    hooks = t._node._hooks
    return hooks is not None and any(ref() is t for ref in hooks.retained)


def _of_graph(t: Any, outputs: list[Any]) -> WhyNone:
    """The reasons seen from the graph of outputs."""
    outputs = [o for o in outputs if o._node is not None]
    ask = "to see the line: why_none(t, lambda: <compute it>)"
    if not outputs:
        return WhyNone("no path", "the output does not require grad: nothing that leads to it was recorded", ask)
    if reaches(outputs, t._node):
        return _of_pass(t, outputs, {}, "this output")
    for node in walk([o._node for o in outputs]):
        saved = (p for _, value, tensors in saved_values(node) if tensors for p in packed(value))
        if any((p.entry() if isinstance(p, Entry) else p)[0] is t.array for p in saved):
            place = recorded_at(node)
            return WhyNone(
                "detach()",
                f"{name_of(node)} was given its values without its history: by detach(), .data or numpy()",
                "use it itself there" if place else f"use it itself there; {ask}",
                str(place) if place else None,
            )
    return WhyNone("no path", "the graph of the output does not lead to it: it was not used, or its history was cut "
                   "off on the way", ask)  # fmt: skip


def _of_pass(t: Any, outputs: list[Any], lines: dict[Node, Any], what: str) -> WhyNone:
    """The graph of outputs, which are ``what``, leads to it: does a gradient come?"""
    on_the_way = walk([o._node for o in outputs])
    if has_run := [n for n in on_the_way if getattr(n, "_saved", ()) is None]:
        return _of_past_pass(t, has_run, lines)
    none = dropped(outputs, t._node)
    if none is None and _keeps_one(t):
        return _has_gradient(f", and {what} gives it one when backward is run on it")
    if none is None:
        return WhyNone(
            "never run",
            f"nothing is wrong on the way: when backward is run on {what}, it gets a gradient. Either that has not "
            "been done, or the gradient was cleared since",
            "call backward(); if you have, look for zero_grad() or grad = None after it",
            certain=False,
        )
    if not none:
        return WhyNone("returned None", "a hook on the way to it returns None in place of the gradient",
                       "let the hook return the gradient, or nothing")  # fmt: skip
    return _returned_none(*none[-1], lines)


def _of_past_pass(t: Any, has_run: list[Node], lines: dict[Node, Any]) -> WhyNone:
    """How far the pass came that ran through these nodes and freed them."""
    leaf = t._node
    route = leading_to({leaf}, has_run)
    none = []
    for node in has_run:
        nothing = getattr(node, "_nothing", ())
        for i, target in edges(node):
            if i in nothing and (target is leaf or target in route):
                none.append((node, i))
            elif target is leaf and _keeps_one(t):
                return _has_gradient(", and backward has been run on this output and has come down to it")
            elif target is leaf:
                return WhyNone(
                    "cleared",
                    "backward has been run on this output, and has come down to it. Either the gradient was cleared "
                    "since, or that pass was autograd.grad or backward(inputs=...), which leave all others alone",
                    "look for zero_grad() or grad = None after backward; zero_grad(set_to_none=False) keeps zeros",
                    certain=False,
                )
    if none:
        return _returned_none(*none[-1], lines)
    return WhyNone(
        "never run",
        "a pass has been run through a part of this graph, and has not come down to it: it was run on another output, "
        "or it was autograd.grad or backward(inputs=...) of other tensors",
        "run one pass for all, or the first with retain_graph=True",
        certain=False,
    )


def _returned_none(node: Node, i: int, lines: dict[Node, Any]) -> WhyNone:
    """A node gives no gradient to its input number ``i``."""
    place = line(lines.get(node)) or recorded_at(node)
    place = str(place) if place else None
    if not isinstance(node, BackwardNode):
        return WhyNone("returned None", f"{node.name()} gives no gradient to its input {i}", place=place)
    argument, reason = node._argument(i), getattr(type(node), "surrogate", None)
    at = f" ({node._written('backward', argument)})"
    if reason is not None:
        return WhyNone(
            "surrogate",
            f"{node.name()} returned None for {argument!r}; its gradient is declared to be no derivative: {reason}",
            f"if {argument!r} is to have a gradient, return one{at}",
            place,
        )
    return WhyNone(
        "returned None",
        f"{node.name()} returned None for {argument!r}, which says that nothing depends on it",
        f"if the result does depend on it, {node._function._give.format(argument=argument)}{at}",
        place,
    )


def _of_program(t: Any, program: Callable[[], Any]) -> WhyNone:
    """The reasons seen from running the program."""
    if not is_grad_enabled():
        return WhyNone("no_grad()", "gradients are switched off here, so nothing is recorded",
                       "ask outside of no_grad() and inference_mode()")  # fmt: skip
    trace = Trace()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GradientWarning)
        outputs = trace.of(program)
    if not outputs:
        raise TypeError("why_none: the function returned no tensor")
    if reaches(outputs, t._node):
        plain = Trace()
        with plain:
            again = [o for o in _tensors(program()) if o._node is not None]
        if reaches(again, t._node):
            return _of_pass(t, again, plain.lines, "what the function returns")
        return WhyNone("unknown", "it gets a gradient in one run of the function and not in the next", certain=False)
    if cuts := trace.cut_between(outputs, t._node):
        how, place = cuts[0]
        more = f"; and in {len(cuts) - 1} other places" if len(cuts) > 1 else ""
        return WhyNone(how, f"its history is cut off with {how}{more}", "go without that there", line(place))
    lost = trace.lost(outputs, t)
    if lost is None and (event := trace.whole(t)) is not None:
        return _whole(event, certain=False)  # which may have served as an index
    if lost is not None:
        event, inner = lost
        if inner is not None:
            return WhyNone(
                "captured",
                f"{event.name} uses it without being given it, so it can have no gradient from there",
                f"make it an argument of {event.name}.forward, and return its gradient in backward",
                line(inner.place),
            )
        if all(map(is_whole, event.outputs)):
            return _whole(event)
        return WhyNone("not recorded", f"{event.name} was not recorded",
                       "it has no derivative, or ran in inference_mode()", line(event.place))  # fmt: skip
    if (left := trace.left(t._node)) is not None:
        how, place = left
        return WhyNone(how, f"most likely since its values leave with {how}: what is made of them is not recorded",
                       "compute with gradwright's functions from there on", line(place), certain=False)  # fmt: skip
    return WhyNone("not used", "nothing that the function returns was computed from it",
                   "see whether it is this tensor that is used, and not a copy or one of the same name")  # fmt: skip


def _whole(event: Event, certain: bool = True) -> WhyNone:
    return WhyNone(
        "whole numbers",
        ("" if certain else "most likely since ")
        + f"{event.name} makes whole numbers or booleans of it, which have no gradient",
        "compute with floating point numbers there",
        line(event.place),
        certain,
    )


def _tensors(value: Any) -> list[Any]:
    found: list[Any] = []
    flatten(value, found)
    if not found:
        raise TypeError(f"why_none: expected an output with a tensor in it, but got {kind(value)}")
    return found
