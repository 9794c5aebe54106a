"""Views and in-place writes: tensors that share memory share a version counter, and writes rebase history.

A view knows its base and the chain of view operations between them. Writing through it rebases the *base* on a
`CopySlices` node; the view and its siblings notice that the counter has moved and re-read their history from the base.
"""

from __future__ import annotations

from typing import Any

from gradwright import backends
from gradwright.autograd.base import TensorBase, wrap
from gradwright.autograd.grad_mode import enable_grad, recording
from gradwright.autograd.graph import AccumulateGrad
from gradwright.autograd.record import OpNode, build
from gradwright.errors import size
from gradwright.op import Op
from gradwright.ops.index import write_view


class View:
    """How a tensor is read from its base.

    Attributes:
        base: the tensor that owns the memory; never itself a view.
        steps: the view operations from the base, each with its static arguments; None if the history of the view must
            not be re-read (the output of a user's Function).
        version: the version at which the view's node was last read from the base.
        origin: None, or why in-place writes through it are refused: "no_grad", "several" or "function".
    """

    __slots__ = ("base", "origin", "steps", "version")

    def __init__(self, base: TensorBase, steps: tuple[Any, ...] | None, origin: str | None) -> None:
        self.base = base
        self.steps = steps
        self.version = base._counter[0]
        self.origin = origin

    def read(self, array: Any) -> Any:
        """What the view shows of ``array``, an array or Tensor shaped like the base."""
        for op, static in self.steps or ():
            array = op(array, **static)
        return array


def mark_view(out: Any, x: TensorBase, op: Op, static: dict[str, Any]) -> None:
    """Note that ``out`` is the view of ``x`` that ``op`` makes."""
    parent = x._view
    steps = ((op, static),) if parent is None else None if parent.steps is None else (*parent.steps, (op, static))
    origin = parent.origin if parent is not None and parent.origin is not None else None
    if origin is None:
        origin = "no_grad" if not recording.get() else "several" if op.several else None
    out._counter = x._counter
    out._view = View(x if parent is None else parent.base, steps, origin)


def refresh(x: Any) -> None:
    """Read the history of a view anew from its base, if the shared memory has been written since."""
    view = x._view
    if view.version == x._counter[0] or view.steps is None or view.origin is not None:
        return
    with enable_grad():
        x._node = view.read(view.base)._node if view.base._node is not None else None
    view.version = x._counter[0]


_ORIGINS = {
    "no_grad": "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that "
    "this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view "
    "and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both "
    "outside (if you want the inplace to be tracked).",
    "several": "Output {nr} of {name} is a view and is being modified inplace. This view is the output of a function "
    "that returns multiple views. Such functions do not allow the output views to be modified inplace. You should "
    "replace the inplace operation by an out-of-place one.",
    "function": "Output {nr} of {name} is a view and is being modified inplace. This view was created inside a custom "
    "Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override "
    "the custom backward associated with the custom Function, leading to incorrect gradients. This behavior is "
    "forbidden. You can fix this by cloning the output of the custom Function.",
}


def check_writable(x: Any, needs_grad: bool) -> None:
    """Raise RuntimeError if ``x`` may not be written in place now; nothing has been changed then.

    ``needs_grad``: whether the new value carries history.
    """
    strides = getattr(x.array, "strides", ())
    if 0 in strides and any(s == 0 and n > 1 for s, n in zip(strides, x.array.shape, strict=True)):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )
    if not getattr(writable(x).flags, "writeable", True):
        raise RuntimeError("unsupported operation: the memory of the written-to tensor is read-only. Please clone() it.")
    if not recording.get():
        return
    view = x._view
    if view is not None:
        refresh(x)
        base = view.base._node
        if (needs_grad or x._node is not None or base is not None) and view.origin is not None:
            node, nr = x._node._edge() if x._node is not None else (None, 0)
            raise RuntimeError(_ORIGINS[view.origin].format(nr=nr, name=node.name() if node else "a view"))
        if type(base) is AccumulateGrad:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
    if type(x._node) is AccumulateGrad:
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation. "
            "(Do it inside no_grad(), or on x.data, or out of place.)"
        )


def assign(x: Any, out: TensorBase) -> Any:
    """Write ``out`` into the memory of ``x``, which takes over its history; returns ``x``.

    ``out`` is the result of the functional form of an in-place operation. Everything that can fail is checked before
    anything is changed.
    """
    new, old = out.array, x.array
    node = out._node
    if new.shape != old.shape:
        raise RuntimeError(f"output with shape {size(old.shape)} doesn't match the broadcast shape {size(new.shape)}")
    check_writable(x, node is not None)
    if node is not None:
        _protect(node, x, out)
    if recording.get():
        if x._view is not None:
            rebase(x, out)
        else:
            x._node = node
    writable(x)[...] = new
    x._counter[0] += 1
    return x


def writable(x: Any) -> Any:
    """The memory of ``x`` as an array that can be written: a 0-d result held as a scalar becomes an array first."""
    if not hasattr(x.array, "__setitem__"):
        x.array = backends.namespace(x.array).asarray(x.array)
    return x.array


def _protect(node: Any, x: Any, out: TensorBase) -> None:
    """What the node saved of ``x`` before the write is kept as a copy; what it saved of the result is now ``x``."""
    if not isinstance(node, OpNode) or node._variadic:
        return
    saved = list(node._saved)
    for k in range(node._packed):
        array, counter, _, origin = saved[k]
        if array is x.array:
            saved[k] = (array.copy(), [0], 0, origin)
        elif counter is out._counter:
            saved[k] = (x.array, x._counter, x._counter[0] + 1, origin)
    node._saved = tuple(saved)


def rebase(x: Any, out: TensorBase) -> None:
    """Give the base of the view ``x`` a history in which the viewed region comes from ``out``."""
    view = x._view
    base = view.base
    mask = (base._node is not None, out._node is not None)
    if any(mask):
        key = (mask, False)
        record = write_view.records.get(key)
        if record is None:
            record = write_view.records[key] = build(write_view, mask, False, "CopySlices")
        base._node = record(base, out, base, {"read": View(base, view.steps, None).read})


def alias_of(t: Any) -> Any:
    """A tensor over the same memory without history, whose writes count as writes to ``t``: `detach`."""
    return wrap(writable(t), None, t._counter)
