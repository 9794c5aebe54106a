"""Optimisers whose formula works element by element: one pass over few large buffers, whatever the formula.

Such an optimiser derives from `Fused`, says what it remembers of each parameter, and writes its formula down once, on
arrays; how that is run over many parameters is here and in `gradwright.optim.blocks`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.backends import namespace
from gradwright.creation import full_like, tensor
from gradwright.engine import mode
from gradwright.engine.version import bump_all
from gradwright.engine.view import check_writable
from gradwright.face.complex import view_as_real
from gradwright.optim.blocks import Block, check_state, laid_out, number_dtype, start_of
from gradwright.optim.optimizer import Stepping, number


class Fused(Stepping):
    """An optimiser whose formula works element by element.

    A subclass defines `_kept` and `_rule`; both are given the group's options as keyword arguments.
    """

    def _kept(self, *args: Any, **options: Any) -> tuple[dict[str, float], dict[str, float]]:
        """What is remembered of each parameter, with initial values: numbers, and arrays of its shape.

        A number whose name begins with an underscore is not part of the state that users see; it is zero for state
        that comes from elsewhere.
        """
        raise NotImplementedError

    def _rule(self, xp: Any, now: dict[str, float], *args: Any, **options: Any) -> Callable[..., None]:
        """The formula of one step, as a function ``update(p, g, **arrays)`` that overwrites all but the gradient g.

        Complex numbers come as pairs of real ones. ``now`` holds the numbers that are remembered: "step" has been
        counted up already, others are changed here.
        """
        raise NotImplementedError

    def _update(self, xp: Any, now: dict[str, float], options: dict[str, Any]) -> Callable[..., None]:
        """The rule, behind what all have in common: the sign of the gradient, and the decay of weights."""
        if "step" in now:
            now["step"] += 1
        rule = self._rule(xp, now, **options)
        maximize, decay = options["maximize"], options.get("weight_decay", 0)
        decays = not isinstance(decay, (int, float)) or decay != 0
        if not maximize and not decays:
            return rule

        def update(p: Any, g: Any, **arrays: Any) -> None:
            if maximize:
                g = -g
            if decays and options.get("decoupled_weight_decay"):
                p *= 1 - options["lr"] * decay
            elif decays:
                g = g + decay * p
            rule(p, g, **arrays)

        return update

    def _advance(self, group: dict[str, Any]) -> None:
        params = [p for p in group["params"] if getattr(p, "_grad", None) is not None]
        if group["differentiable"]:
            for p in params:
                self._advance_recorded(p, group)
            return
        if mode.now() is not mode.UNRECORDED:  # somebody looks on
            for p in params:
                check_writable(p, False)
        options = {name: number(value) for name, value in group.items()}
        for block, slots in self._places(params, *self._kept(**options)):
            for run, now in block.runs(slots):
                update = self._update(block.xp, now, options)
                for piece in block.pieces(run):
                    piece.advance(update)
                block.remember(run, now)
        bump_all([p._counter for p in params])

    def _places(self, params: list[Any], numbers: dict[str, float], arrays: dict[str, float]) -> Any:
        """The places of parameters in blocks, as pairs of a block and numbers; new ones are made for strangers."""
        places: dict[int, tuple[Block, int]] = vars(self).setdefault("_where", {})
        names = (*numbers, *arrays)
        strangers = [
            p for p in params
            if (place := places.get(id(p))) is None or place[0].names != names or not place[0].knows(place[1])
        ]  # fmt: skip
        for block in laid_out(strangers, numbers, arrays):
            places.update((id(p), (block, i)) for i, p in enumerate(block.params))
        found: dict[Block, list[int]] = {}
        for p in params:
            block, i = places[id(p)]
            if block.held[i]:
                block.settle(i, self.state)
            found.setdefault(block, []).append(i)
        return found.items()

    def _advance_recorded(self, p: Any, group: dict[str, Any]) -> None:
        """A step that is itself recorded, so that gradients flow through it: with tensors for arrays."""
        numbers, arrays = self._kept(**{name: number(value) for name, value in group.items()})
        held = self.state[p]
        shapes = {name: () for name in numbers if name[0] != "_"} | dict.fromkeys(arrays, p.array.shape)
        check_state(held, shapes, p.array.shape)
        begun = any(held.get(name) is not None for name in arrays)
        now = {name: 0.0 if name[0] == "_" and begun else float(held.get(name, v)) for name, v in numbers.items()}
        state = {}
        for name, value in arrays.items():  # clones: what earlier steps have recorded must stay as it was
            old = held.get(name)
            state[name] = full_like(p.detach(), start_of(value, p.array.dtype)) if old is None else old.clone()
        real = view_as_real if p.is_complex() else lambda t: t
        update = self._update(namespace(p), now, group)
        update(real(p), real(p.grad), **{name: real(value) for name, value in state.items()})
        held.update({name: tensor(v, dtype=number_dtype()) for name, v in now.items() if name[0] != "_"}, **state)


def average(mean: Any, x: Any, keep: float) -> None:
    """Move an average towards x, in place: ``mean = keep * mean + (1 - keep) * x``."""
    mean *= keep
    mean += (1 - keep) * x
