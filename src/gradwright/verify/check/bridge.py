"""A Function of PyTorch as one of gradwright, so that `diagnose` can look at it.

PyTorch runs it and keeps its graph; a pass backward through that graph is an operation like any other here, so
derivatives of every order come out as PyTorch gives them.
"""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.mode import is_grad_enabled
from gradwright.function.function import Function
from gradwright.verify.check.calls import array_of, tensor_of


class Graph:
    """A piece of PyTorch's graph.

    Attributes:
        torch: the library. tensors: what went in, as gradwright's tensors.
        ins: the same as PyTorch's; None for what does not require grad. outs: what came out.
    """

    def __init__(self, torch: Any, tensors: Any, ins: tuple[Any, ...], outs: tuple[Any, ...]) -> None:
        self.torch, self.tensors, self.ins, self.outs = torch, tensors, ins, outs

    def pulled(self, cotangents: Any) -> tuple[Any, ...]:
        """The gradients of all that went in, None for what does not require grad."""
        known = tuple(k for k, t in enumerate(self.ins) if t is not None)
        ins = [self.tensors[k] for k in known]
        found = Pull.apply(self, known, is_grad_enabled(), *ins, *cotangents) if known else ()
        result: list[Any] = [None] * len(self.ins)
        for k, g in zip(known, found, strict=True):
            result[k] = g
        return tuple(result)


def bridged(function: Any, torch: Any, cloned: bool = False) -> type[Function]:
    """A Function that calls this one of PyTorch's; ``cloned``: on clones of its inputs, as it changes them."""

    def forward(ctx: Any, *args: Any) -> Any:
        needs = ctx.needs_input_grad
        given = [_there(a, torch, n) for a, n in zip(args, needs, strict=True)]
        passed = [g.clone() if cloned and isinstance(g, torch.Tensor) else g for g in given]
        with torch.enable_grad():
            result = function.apply(*passed)
        outs = result if isinstance(result, tuple) else (result,)
        ctx._graph = Graph(torch, args, tuple(g if n else None for g, n in zip(given, needs, strict=True)), outs)
        here = _outputs(ctx, outs, torch)
        for k, v in vars(function).items():  # its state, to be seen as that of this class
            if not k.startswith("_") and not callable(v) and not isinstance(v, (staticmethod, classmethod)):
                setattr(made, k, _here(v, torch))
        _keep(ctx, [*zip(passed, args, strict=True), *zip(outs, here, strict=True)], torch)
        return here if isinstance(result, tuple) else here[0]

    def backward(ctx: Any, *cotangents: Any) -> Any:
        if isinstance(ctx, SimpleNamespace):  # a diagnosis asks what it would give if other values were kept
            return _by_hand(function, ctx, cotangents, torch)
        return ctx._graph.pulled(cotangents)

    signature = inspect.signature(function.forward)
    if function.setup_context is not torch.autograd.Function.setup_context:
        ctx = inspect.Parameter("ctx", inspect.Parameter.POSITIONAL_ONLY)
        signature = signature.replace(parameters=[ctx, *signature.parameters.values()])
    forward.__signature__, forward.__wrapped__ = signature, function.forward  # type: ignore[attr-defined]
    backward.__wrapped__ = function.backward  # type: ignore[attr-defined]
    body = {"forward": staticmethod(forward), "backward": staticmethod(backward), "__module__": function.__module__}
    made: Any = type(function.__name__, (Function,), body)
    made._node_class.__getattribute__ = _opened
    return made


class Box:
    """What PyTorch's ctx holds: ours shows it, but it is not its own to guard, nor to run forward again for."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _opened(node: Any, name: str) -> Any:
    if name == "saved_tensors" and "_saved_tensors" in vars(node):
        name = "_saved_tensors"
    value = object.__getattribute__(node, name)
    return value.value if type(value) is Box else value


class Pull(Function):
    """The gradients of a piece of PyTorch's graph, given what went in and the cotangents of what came out."""

    @staticmethod
    def forward(ctx: Any, graph: Graph, known: tuple[int, ...], recorded: bool, *tensors: Any) -> Any:
        torch = graph.torch
        given = [_there(t, torch, recorded) for t in tensors[len(known) :]]
        pairs = [(o, g) for o, g in zip(graph.outs, given, strict=True) if g is not None and _flows(o, torch)]
        ins = [graph.ins[k] for k in known]
        found: tuple[Any, ...] = (None,) * len(ins)
        if pairs:
            with torch.enable_grad():
                outs, roots = [o for o, _ in pairs], [g for _, g in pairs]
                found = torch.autograd.grad(outs, ins, roots, create_graph=recorded, retain_graph=True,
                                            allow_unused=True)  # fmt: skip
        ctx._graph = Graph(torch, tensors, (*ins, *given), found)
        return _outputs(ctx, found, torch)

    @staticmethod
    def backward(ctx: Any, *cotangents: Any) -> Any:
        return None, None, None, *ctx._graph.pulled(cotangents)


def _flows(t: Any, torch: Any) -> bool:
    return isinstance(t, torch.Tensor) and t.requires_grad


def _there(value: Any, torch: Any, needed: bool = False) -> Any:
    """A tensor of gradwright's as one of PyTorch's, of the same memory where that can be; anything else as it is."""
    if not isinstance(value, TensorBase):
        return value
    array = np.asarray(value.array)
    plain = array.flags.writeable and min(array.strides, default=0) >= 0
    return tensor_of(array if plain else array.copy(), torch).requires_grad_(needed)


def _here(value: Any, torch: Any) -> Any:
    return wrap(array_of(value)) if isinstance(value, torch.Tensor) else value


def _outputs(ctx: Any, outs: Any, torch: Any) -> tuple[Any, ...]:
    """What came out, as gradwright's tensors."""
    here = tuple(_here(o, torch) for o in outs)
    ctx.set_materialize_grads(False)
    flat = [h for h, o in zip(here, outs, strict=True) if isinstance(h, TensorBase) and not _flows(o, torch)]
    ctx.mark_non_differentiable(*flat)
    return here


def _keep(ctx: Any, pairs: list[tuple[Any, Any]], torch: Any) -> None:
    """Put on ``ctx`` what the user's forward left on its own; ``pairs`` of tensors are known in both libraries."""
    node = next((p.grad_fn for p, _ in reversed(pairs) if isinstance(p, torch.Tensor) and p.grad_fn is not None), None)
    if not hasattr(node, "saved_tensors"):
        return

    def known(t: Any) -> Any:
        if not isinstance(t, torch.Tensor):
            return t
        same = (h for p, h in pairs if isinstance(p, torch.Tensor) and p.shape == t.shape
                and p.data_ptr() == t.data_ptr())  # fmt: skip
        return next(same, _here(t, torch))

    for name, value in vars(node).items():
        setattr(ctx, name, Box(known(value)))
    ctx._saved_tensors = Box(tuple(known(t) for t in node.saved_tensors))  # type: ignore[union-attr]


def _by_hand(function: Any, ctx: SimpleNamespace, cotangents: Any, torch: Any) -> Any:
    """The user's backward with a ctx of gradwright's values."""
    there = {k: _there(v, torch) for k, v in vars(ctx).items() if k[0] != "_" and k != "saved_tensors"}
    there["saved_tensors"] = tuple(_there(t, torch) for t in ctx.saved_tensors)
    found = function.backward(SimpleNamespace(**there), *[_there(g, torch) for g in cotangents])
    found = found if isinstance(found, tuple) else (found,)
    return tuple(_here(g, torch) for g in found)
