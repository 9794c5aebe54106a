"""Functions whose arguments or outputs are containers with tensors in them, such as a list of weights.

For each user's Function that is used so, `flat` makes one of tensors alone: its arguments are what remains of the
user's without their tensors, a `Tree`, and then the tensors; its forward and backward put together what the user's
expect, and take apart what they return. So nothing else in the engine knows of containers.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from gradwright.engine.base import TensorBase
from gradwright.function.contract.containers import TENSORLESS, Tree, answers, flatten, paths, shaped, unflatten
from gradwright.function.contract.signature import root, run_forward
from gradwright.function.ctx import BackwardNode


class NestedNode(BackwardNode):
    """The node, and ctx, of a Function with containers: its user sees containers, the engine flat tuples."""

    __slots__ = ()

    @property
    def needs_input_grad(self) -> tuple[Any, ...]:
        """For each input of forward, whether it requires grad; for a container, one of the same shape."""
        needs, rest = super().needs_input_grad, self._trees[0]
        return needs if rest is None else shaped(rest, iter(needs[1:]), False)

    def _argument(self, k: int) -> str:
        rest = self._trees[0]
        if rest is None or k == 0:
            return super()._argument(k)
        named = (path for i, r in enumerate(rest.parts) for path in paths(r, super(NestedNode, self)._argument(i)))
        return list(named)[k - 1]

    def _gradients(self, rest: Tree, given: tuple[Any, ...]) -> Iterator[Any]:
        """The gradients of all tensors among the inputs, of what the user's backward has returned."""
        name, n = type(self).__name__, len(rest.parts)
        if len(given) < n or any(g is not None for g in given[n:]):
            raise RuntimeError(
                f"function {name} returned an incorrect number of gradients (expected {n}, got {len(given)})"
            )
        for k, (part, answer) in enumerate(zip(rest.parts, given, strict=False)):
            try:
                yield from answers(part, answer, super()._argument(k))
            except ValueError as e:
                raise RuntimeError(f"function {name} returned a gradient of the wrong shape: {e}") from None


def apply(cls: Any, args: tuple[Any, ...]) -> Any:
    """``cls.apply(*args)``, where there are containers with tensors in them among the arguments."""
    leaves: list[Any] = []
    rest = flatten(args, leaves)
    return flat(cls).apply(rest, *leaves)


def flat(cls: Any) -> Any:
    """The Function of tensors alone that does what ``cls`` does; made once."""
    if "_flat" not in cls.__dict__:
        cls._flat = _flat(cls)
    return cls._flat


def _flat(cls: Any) -> Any:
    base = root(cls)

    @functools.wraps(cls.forward)
    def forward(ctx: Any, *args: Any) -> Any:
        rest = args[0] if args and type(args[0]) is Tree else None
        ctx._trees = rest, None
        if rest is not None:
            args = unflatten(rest, iter(args[1:]))
        return _taken_out(ctx, run_forward(cls, ctx, args))

    def backward(ctx: Any, *grads: Any) -> Any:
        rest, out = ctx._trees
        if out is not None:
            grads = shaped(out, iter(grads), None)
            grads = tuple(grads) if isinstance(grads, tuple) else (grads,)
        given = cls._derivative()(ctx, *grads)
        if rest is None:
            return given
        return (None, *ctx._gradients(rest, given if type(given) is tuple else (given,)))

    made = type(cls)(cls.__name__, (cls,), {
        "__module__": cls.__module__, "__qualname__": cls.__qualname__, "__doc__": cls.__doc__, "_user": cls,
        "forward": staticmethod(forward), "backward": staticmethod(backward), "vjp": base.vjp,
        "setup_context": base.setup_context, "boxed_grads_call": False,
    })  # fmt: skip
    made._node_class = type(cls._node_class.__name__, (NestedNode, cls._node_class), {"_function": made})
    return made


def outputs(cls: Any, node: BackwardNode, result: Any) -> tuple[Any, ...]:
    """The outputs of a forward that has returned no tensor, as a tuple; tensors in containers are outputs too."""
    many = result if isinstance(result, tuple) else (result,)
    if all(isinstance(o, TensorBase) or o.__class__ in TENSORLESS for o in many) or isinstance(node, NestedNode):
        return tuple(many)
    node._trees = None, None
    taken = _taken_out(node, result)
    if taken is result:
        return tuple(many)
    node.__class__ = flat(cls)._node_class
    return taken


def _taken_out(ctx: BackwardNode, result: Any) -> Any:
    """The tensors of a result with containers; ``ctx`` keeps what remains. Any other result comes back as it is."""
    many = result if isinstance(result, tuple) else (result,)
    leaves: list[Any] = []
    if not any(type(flatten(o, leaves)) is Tree for o in many):
        return result
    leaves = []
    ctx._trees = ctx._trees[0], flatten(result, leaves)
    return tuple(leaves)


def returned(node: BackwardNode, result: Any, owned: tuple[Any, ...]) -> Any:
    """What `apply` returns for a forward that has returned no tensor."""
    out = getattr(node, "_trees", (None, None))[1]
    if out is not None:
        return unflatten(out, iter(owned))
    if isinstance(result, tuple):
        return owned if type(result) is tuple else tuple.__new__(type(result), owned)
    return owned[0]
