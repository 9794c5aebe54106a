"""What runs a module's backward hooks in one call of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from gradwright.engine.hooks import fitting, title
from gradwright.engine.mode import is_grad_enabled
from gradwright.face.tensor import Tensor
from gradwright.function.function import Function


class BackwardHookFunction(Function):
    """The identity, around a module with backward hooks: they hang on its nodes."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


class Backward:
    """The backward hooks of one call of a module."""

    def __init__(self, module: Any, hooks: Sequence[Any]) -> None:
        self._module = module
        self._pre = [hook for h in hooks for hook in h.backward_pre.values()]
        self._hooks = [hook for h in hooks for hook in h.backward.values()]
        self._inputs: _Some | None = None
        self._grad_output: tuple[Any, ...] | None = None

    def arguments(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments, made to tell of their gradients."""
        self._n = len(args)
        self._inputs = _Some.of(args) if self._hooks else None
        if self._inputs:
            args, node = self._inputs.through(args)
            node.register_hook(lambda grads, _: self._arrived(node, grads))
        return args

    def results(self, out: Any) -> Any:
        """The result, made to tell of its gradient."""
        several = out if isinstance(out, tuple) else (out,)
        tensors = _Some.of(several)
        if not tensors:
            return out
        several, node = tensors.through(several)
        node.register_prehook(lambda grads: self._begun(node, tensors, grads))
        if not isinstance(out, tuple):
            return several[0]
        return type(out)(*several) if hasattr(out, "_fields") else type(out)(several)

    def _begun(self, node: Any, tensors: _Some, grads: Sequence[Any]) -> Any:
        grad_output = tensors.spread(grads)
        for hook in self._pre:
            changed = hook(self._module, grad_output)
            grad_output = _fitting(changed, grad_output, ("pre hook", "grad_output"), hook, node)
        if self._inputs:
            self._grad_output = grad_output
        else:
            nothing = (None,) * self._n
            for hook in self._hooks:
                changed = hook(self._module, nothing, grad_output)
                if changed is not None and any(g is not None for g in changed):
                    raise RuntimeError("Backward hook for Modules where no input requires gradient should always "
                                       "return None or None for all gradients.")  # fmt: skip
        return tuple(grad_output[k] for k in tensors.places)

    def _arrived(self, node: Any, grads: Sequence[Any]) -> Any:
        if self._grad_output is None or self._inputs is None:  # not this result was differentiated
            return None
        grad_input = self._inputs.spread(grads)
        for hook in self._hooks:
            changed = hook(self._module, grad_input, self._grad_output)
            grad_input = _fitting(changed, grad_input, ("hook", "grad_input"), hook, node)
        self._grad_output = None
        return tuple(grad_input[k] for k in self._inputs.places)


class _Some(NamedTuple):
    """The tensors among some values: at which places of how many."""

    places: list[int]
    n: int

    @classmethod
    def of(cls, values: Sequence[Any]) -> _Some | None:
        """Those among ``values``; None if none of them has, or will have, a gradient."""
        places = [k for k, value in enumerate(values) if isinstance(value, Tensor)]
        wanted = is_grad_enabled() and any(values[k].requires_grad for k in places)
        return cls(places, len(values)) if wanted else None

    def through(self, values: Sequence[Any]) -> tuple[tuple[Any, ...], Any]:
        """The values, the tensors among them behind a node of their own; and that node."""
        changed = list(values)
        for k, t in zip(self.places, BackwardHookFunction.apply(*(values[k] for k in self.places)), strict=True):
            changed[k] = t
        return tuple(changed), next(changed[k].grad_fn for k in self.places if changed[k].requires_grad)

    def spread(self, grads: Sequence[Any]) -> tuple[Any, ...]:
        """A gradient, or None, for each value, given those of the tensors."""
        out: list[Any] = [None] * self.n
        for k, g in zip(self.places, grads, strict=True):
            out[k] = g
        return tuple(out)


def _fitting(changed: Any, grads: tuple[Any, ...], names: tuple[str, str], hook: Any, node: Any) -> Any:
    """What a hook returned in place of these gradients, if it fits them."""
    if changed is None:
        return grads
    if isinstance(changed, Tensor):
        changed = (changed,)
    if not isinstance(changed, (tuple, list)) or len(changed) != len(grads):
        n = len(changed) if isinstance(changed, (tuple, list)) else type(changed).__name__
        raise RuntimeError(
            f"Backward {names[0]} returned an invalid number of {names[1]}, got {n}, but expected {len(grads)}: "
            f"{title(hook, node)}"
        )
    pairs = zip(changed, grads, strict=True)
    return tuple(new if new is None or old is None else fitting(new, old, hook, node) for new, old in pairs)


def at_the_last(module: Any, hook: Callable[..., Any], out: Any) -> None:
    """Hang a hook on the node of the result, or of the first of several."""
    while isinstance(out, (tuple, list, dict)) and out:
        out = next(iter(out.values())) if isinstance(out, dict) else out[0]
    if isinstance(out, Tensor) and out.grad_fn is not None:
        out.grad_fn.register_hook(lambda grads, outputs: hook(module, grads, outputs))
