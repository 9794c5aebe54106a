"""Views and in-place writes: tensors that share memory share a version counter, and writes rebase history.

A view knows its base and the chain of view operations between them. Writing through it rebases the *base* on a
`CopySlices` node; the view and its siblings notice that the counter has moved and re-read their history from the base.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Any

from numpy import ndarray

from gradwright import backends
from gradwright.backends.steps import read
from gradwright.base.cpython.at_once import Call, at_once
from gradwright.base.cpython.references import count
from gradwright.base.errors import size
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.levels import LevelArray, further_inside, promote, reread, settle
from gradwright.engine.memory import (
    OVERLAPS,
    check,
    is_immutable,
    leave,
    overlaps,
    overwriting,
    share,
    unwritten,
    writable,
)
from gradwright.engine.mode import PLAIN, inside, is_inference_mode_enabled, now, recording, resumed
from gradwright.engine.node import UNSHARED, AccumulateGrad, operation
from gradwright.engine.nodes_of_ops import OpNode, recorder
from gradwright.engine.strict import warn
from gradwright.engine.version import UNTRACKED, Aside, Untracked, bump, bump_all
from gradwright.engine.watch import exchanged, recorded, writing
from gradwright.ops.index import restride, write_view

taking: ContextVar[Any] = ContextVar("what takes up a history while a function is differentiated", default=None)


class View:
    """How a tensor is read from its base.

    Attributes:
        base: the tensor that owns the memory; never itself a view (one that became a view of its former self, as by
            ``t_()``, stands for that one).
        steps: the view operations from the base: a chain of pairs, all but the last operation, and that one with its
            static arguments; () at the base.
        seen: the version at which the view's node was last read from the base.
        version: the same; -1 while the node only stands for a history that the base took up without being written.
        origin: None, or why writes through it are refused: "no_grad", "inference", "several", "function", "transform".
        itself: whether it is the tensor's own former self that it is a view of, so that nobody need know.
    """

    __slots__ = ("_base", "itself", "origin", "seen", "steps", "version")

    def __init__(self, base: TensorBase, steps: tuple[Any, ...], origin: str | None, itself: bool = False) -> None:
        self._base = base
        self.steps = steps
        self.seen = self.version = base._counter[0]
        self.origin = origin
        self.itself = itself

    @property
    def base(self) -> Any:
        base = self._base
        while base._view is not None:
            base = base._view._base
        return base


def mark_view(out: Any, x: TensorBase, step: tuple[Any, ...]) -> None:
    """Note that ``out`` is a view of ``x``: an operation, its static arguments and, of several results, which."""
    out._counter = x._counter
    if isinstance(x._counter[0], Untracked):
        out._counter, out._view = [UNTRACKED], None
        return
    parent, mode = x._view, now()
    if mode is not PLAIN and not mode.records:
        origin: str | None = "inference" if mode.inference else "no_grad"
    else:
        origin = "several" if len(step) > 2 else None if parent is None else parent.origin
    base, steps = (x, ()) if parent is None else (parent.base, parent.steps)
    out._view = View(base, (steps, step), origin)


def refresh(x: Any, always: bool = False) -> bool:
    """Read the history of a view anew from its base, if the shared memory has been written since.

    Returns whether its array, too, is another one now: its base has come to a transform.

    Raises RuntimeError if that cannot be done, because of where the view comes from: while operations are recorded, or
    ``always``.
    """
    view, node = x._view, x._node
    if view.version == x._counter[0] and (node is not None or view._base._node is None):
        return False
    base = view.base
    moved = (base.array.__class__ is not ndarray or x.array.__class__ is not ndarray) and reread(x)
    if (base._node is None and (node is None or type(node) is AccumulateGrad)) or base._node is node:
        if node is None:
            view.version = x._counter[0]
        elif is_severed(node):
            x._node, view.version = None, view.seen
        return moved
    if view.seen == x._counter[0]:  # its base took up a history without being written
        if node is None:
            x._node, view.version = severed(), -1
        return moved
    if view.origin is not None:
        if always or now().records:
            raise _forbidden(x, "its base or another view of its base has been")
        return moved
    if base._node is None:
        warn(_ORIGINS["detached"])
        base = wrap(base.array, severed())
    plain = now() is PLAIN
    shown = read(base, view.steps) if plain else inside(partial(recording, True), resumed, read, base, view.steps)
    _warn_of_hooks(x._node, view.steps)
    _rehang(x, shown._node)
    view.version = view.seen = x._counter[0]
    return moved


def _warn_of_hooks(node: Any, steps: tuple[Any, ...]) -> None:
    """Warn of hooks that a view has which is read anew, or one between it and its base; `retain_grad` moves along."""
    last = node
    while node is not None and steps:
        hooks = node._hooks
        kept = [] if hooks is None or node is last else hooks.retained
        if hooks is not None and (hooks.tensor or any(ref() is not None for ref in kept)):
            warn(f"The base of a view ({operation(node)}) has been written in place since register_hook() or "
                 "retain_grad() was called on that view: they see only gradients of what was made of it before, and "
                 "none of other views, which are read from the base. Call them after the write.")  # fmt: skip
            return
        node, steps = node._next[0] if node._next else None, steps[0]


def catch_up(x: Any) -> None:
    """Let the array of a view be what its base shows now; its history is read when it is recorded.

    For functions that look at the array of an argument before it comes to an operation.
    """
    view = x._view
    if view is None or view.version == x._counter[0]:
        return
    reread(x)


def requires_grad(x: Any) -> bool:
    """Whether operations on ``x`` are recorded: a view's are, too, where those on its base are."""
    view, node = x._view, x._node
    if view is None:
        return node is not None
    if view.base._node is not None:
        return True
    return node is not None and not is_severed(node)


_frozen = wrap(None)


def _nobody() -> Any:
    return _frozen


def severed() -> AccumulateGrad:
    """The end of a history that leads nowhere: gradients that reach it are nobody's."""
    end = AccumulateGrad(_frozen)
    end._leaf = _nobody  # type: ignore[assignment]
    return end


def is_severed(node: Any) -> bool:
    """Whether a node is such an end."""
    return type(node) is AccumulateGrad and node._leaf is _nobody


def _rehang(x: Any, node: Any) -> None:
    """Make ``node`` the history of ``x``; `retain_grad` from now on keeps the gradient of the new value."""
    if x._node is not None and x._node._hooks is not None:
        _retain(x, node)
    x._node = node


def _retain(x: Any, node: Any) -> None:
    """Let ``node``, the next history of ``x``, keep its gradient if the one that it has, which has hooks, does."""
    if node is not None and x._node._hooks.release(x):
        node._hooked().retain(x)


_ORIGINS = {
    "no_grad": "A view was created in no_grad mode and {what} modified inplace with grad mode enabled. Given that "
    "this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view "
    "and the inplace either both inside the no_grad block (if you don't want the inplace to be tracked) or both "
    "outside (if you want the inplace to be tracked).",
    "inference": "A view was created in inference mode and {what} modified inplace in normal mode. Given that this use "
    "case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the "
    "inplace either both inside the inference_mode block (if you don't want the inplace to be tracked) or both outside "
    "(if you want the inplace to be tracked).",
    "several": "Output {nr} of {name} is a view and {what} modified inplace. This view is the output of a function "
    "that returns multiple views. Such functions do not allow the output views to be modified inplace. You should "
    "replace the inplace operation by an out-of-place one.",
    "function": "Output {nr} of {name} is a view and {what} modified inplace. This view was created inside a custom "
    "Function (or because an input was returned as-is) and the autograd logic to handle view+inplace would override "
    "the custom backward associated with the custom Function, leading to incorrect gradients. This behavior is "
    "forbidden. You can fix this by cloning the output of the custom Function.",
    "detached": "A view has lost its history, as its base was cut from its own by detach_(), and written before or "
    "after that: what is made of the view has no gradient. detach() of the base would leave its views as they are.",
    "transform": "An input of a function that is differentiated {what} modified inplace: write to a clone() of it.",
}


def _forbidden(x: Any, what: str) -> RuntimeError:
    node, nr = x._node._edge() if x._node is not None else (None, 0)
    name = "a function" if node is None else operation(node)
    return RuntimeError(_ORIGINS[x._view.origin].format(nr=nr, name=name, what=what))


def unhooked(x: Any) -> Any:
    """``x`` to compute a write from; if it is a view with hooks, a tensor of the same memory and history without them.

    They see gradients of what had been made of the view before. So, too, for `as_strided` of a view, through whose
    history only what that showed can be reached.
    """
    view = getattr(x, "_view", None)  # it may be no tensor: that is for the operation to say
    if view is None or not now().records:
        return x
    if view.origin is not None:
        check_history(x)
    refresh(x)
    node = x._node
    hidden = node is not None and (node._hooks is not None or (view.steps and view.steps[1][0] is restride))
    if not hidden or view.origin is not None or type(node) is AccumulateGrad or view.base._node is None:
        return x
    return share(wrap(x.array, read(view.base, view.steps)._node, x._counter), x)


def check_writable(x: Any, needs_grad: bool, uniform: bool = False) -> None:
    """Raise RuntimeError if ``x`` may not be written in place now; nothing has been changed then.

    ``needs_grad``: whether the new value carries history; ``uniform``: whether all its entries are the same.
    """
    if x._counter[0] is UNTRACKED:
        check_tracked(x)
    if x.array.__class__ is not ndarray or not x.array.flags.carray:  # which is what most are
        check(x)
        if overlaps(x) and (needs_grad or not uniform):
            raise RuntimeError(OVERLAPS)
        if _locked(writable(x)):
            if x._view is None or _locked(x._view.base.array):
                raise RuntimeError(
                    "unsupported operation: the written-to memory is read-only. Please clone() the tensor."
                )
            x.array.flags.writeable = True  # NumPy locks whatever has been broadcast
    mode = now()
    if mode.watches:
        writing(x)
    if mode.listener is not None and not mode.records:
        mode.listener.writing(x)
    check_history(x, needs_grad)


def check_history(x: Any, needs_grad: bool = False) -> None:
    """Raise RuntimeError if the history of ``x`` may not be changed now."""
    if not now().records:
        return
    view = x._view
    if view is not None:
        base = view.base._node
        needs = base is not None or (x._node is not None and not is_severed(x._node))
        if view.origin is not None and (needs or needs_grad):
            raise _forbidden(x, "is being")
        refresh(x)
        if needs and (base is None or type(base) is AccumulateGrad):
            raise _of_leaf("a view of a leaf")
    if type(x._node) is AccumulateGrad:
        raise _of_leaf("a leaf")


def _of_leaf(what: str) -> RuntimeError:
    return RuntimeError(f"{what} Variable that requires grad is being used in an in-place operation. "
                        "(Do it inside no_grad(), or on x.data, or out of place.)")  # fmt: skip


def check_tracked(x: Any) -> None:
    """Raise RuntimeError if ``x`` is an inference tensor, which may be changed in inference mode only."""
    if x._counter[0] is UNTRACKED and not is_inference_mode_enabled():
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed. You can make a clone to get a "
            "normal tensor before doing inplace update. See https://github.com/pytorch/rfcs/pull/17 for more details."
        )


def _locked(array: Any) -> bool:
    return hasattr(array, "flags") and not array.flags.writeable


def assign(x: Any, out: TensorBase, uniform: bool = False) -> Any:
    """Write ``out`` into the memory of ``x``, which takes over its history; returns ``x``.

    ``out`` is the result of the functional form of an in-place operation. Everything that can fail is checked before
    anything is changed. What is ``uniform``, the same everywhere, may go where entries share a place.
    """
    target, node = _taken_over(x, out, uniform)
    bump(x._counter, 3)  # first: counted and not written does no harm
    array = x.array
    if array.__class__ is not ndarray:
        if is_immutable(array):
            at_once([(setattr, target, "_node", node), *overwriting(x, out.array)])
            return x
        if isinstance(array, LevelArray):
            array.writer = x._counter
    array[...] = out.array  # nor are lines parted between which nothing is called
    target._node = node
    return x


def assign_all(pairs: list[tuple[Any, TensorBase]], *more: Call) -> None:
    """`assign` for each pair, and ``more``; an interrupt leaves all of it undone or done."""
    owners = [(setattr, target, "_node", node) for target, node in [_taken_over(x, out) for x, out in pairs]]
    bump_all([x._counter for x, _ in pairs], 3)
    at_once([*more, *owners, *[call for x, out in pairs for call in overwriting(x, out.array)]])


def _taken_over(x: Any, out: TensorBase, uniform: bool = False) -> tuple[Any, Any]:
    """Whose history changes when ``out`` is written into ``x``, and to which; RuntimeError if that may not be."""
    node = out._node
    if x._view is not None:
        catch_up(x)
    if isinstance(x.array, LevelArray):
        settle(x)
    if isinstance(out.array, LevelArray) and (level := further_inside(out, x)) is not None:
        check_writable(x, node is not None)
        promote(x, level)
    new, old = out.array, x.array
    if new.shape != old.shape:
        raise RuntimeError(f"output with shape {size(old.shape)} doesn't match the broadcast shape {size(new.shape)}")
    if (old.__class__ is not ndarray and is_immutable(old)) or (new.__class__ is not ndarray and is_immutable(new)):
        backends.common("a write in place", (old, new))
    check_writable(x, node is not None, uniform)
    if node is not None:
        _protect(node, old, x, out)
    mode = now()
    follows = mode.guarded or (mode.listener is not None and mode.listener.follows)
    if mode.records or (follows and not is_of_leaf(x)):
        target, steps = (x, ()) if x._view is None else (x._view.base, x._view.steps)
        if node is not None and target._node is None and (written := taking.get()) is not None:
            written += weakref.ref(target), weakref.ref(x)
        if target._node is not None or (node is not None and target is not x):
            if target is not x or node is None:  # then it keeps a history, which carries nothing
                node = rebased(target, steps, out)
            if target._node is not None and target._node._hooks is not None:
                _retain(target, node)
        return target, node
    return x, x._node


def is_of_leaf(x: Any) -> bool:
    """Whether ``x`` is a leaf that requires grad, or a view of one."""
    return type((x if x._view is None else x._view.base)._node) is AccumulateGrad


def _protect(node: Any, old: Any, x: Any, out: TensorBase) -> None:
    """Copies ``old``, the saved values of ``x``; the saved result of the node is now ``x``."""
    if not isinstance(node, OpNode) or node._variadic or not node._packed or type(node._saved) is not tuple:
        return  # the last if a watch has taken it, for which `aside` or `writing` has made copies
    saved = list(node._saved)
    for k in range(node._packed):
        array, counter, _, origin = saved[k]
        if array is old:
            saved[k] = (unwritten(array), [0], 0, origin)
        elif counter is out._counter:
            saved[k] = (array if is_immutable(array) else x.array, x._counter, int(x._counter[0]) + 1, origin)
    node._saved = tuple(saved)


def rebase(base: Any, steps: tuple[Any, ...], out: TensorBase) -> None:
    """Give ``base`` a history in which the region that ``steps`` view comes from ``out``."""
    _rehang(base, rebased(base, steps, out))


def rebased(base: Any, steps: tuple[Any, ...], out: TensorBase) -> Any:
    """The history of ``base`` after ``out`` has been written to the region that ``steps`` view; None if it has none."""
    mask = (base._node is not None, out._node is not None)
    if not any(mask):
        return None
    node = recorder(write_view, mask)(base, out, base, {"steps": steps})
    if now().watches:
        recorded(node)
    return node


def alias_of(t: Any) -> Any:
    """A tensor over the same memory without history, whose writes count as writes to ``t``: `detach`."""
    if t._view is not None:
        catch_up(t)
    aside = t._counter[0] is UNTRACKED and not is_inference_mode_enabled()
    if isinstance(t.array, LevelArray):
        return wrap(t.array.detached(), None, t._counter)
    return share(wrap(writable(t), None, [Aside()] if aside else t._counter), t)


def show(x: Any, source: Any) -> None:
    """Let ``x`` show the memory of ``source`` from now on, and be no view."""
    exchanged(x)
    leave(x)
    x.array, x._view = writable(source), None
    share(x, source)


def base_of(x: Any) -> Any:
    """The tensor whose memory ``x`` is a view of; None if it is none."""
    view = x._view
    if view is None or view.itself:
        return None
    base = view.base
    now = base.__dict__.get("_now")
    now = None if now is None else now()
    return base if now is None else now


def rearrange(x: Any, form: Callable[[Any], Any]) -> Any:
    """Let ``x`` be the view ``form(x)`` of its memory from now on; returns ``x``."""
    check_tracked(x)
    check_history(x)
    shared = count(x._counter) > UNSHARED
    leaf, view = type(x._node) is AccumulateGrad, x._view
    before = share(wrap(x.array, x._node, x._counter), x)
    before._view = view
    records = now().records or view is None or view.origin is None  # right, whatever the mode
    out = inside(partial(recording, records), resumed, form, before)
    x.array = out.array
    share(x, out)
    if leaf:
        x._node._array = x.array
    else:
        _rehang(x, out._node)
    if isinstance(x._counter[0], Untracked):
        x._counter[0] += 1
        return x
    bump(x._counter, 3)
    if view is not None:
        x._view = View(view._base, out._view.steps, view.origin, view.itself)
        if not records:
            x._view.seen = x._view.version = view.seen
    elif shared:
        before.__dict__["_now"] = weakref.ref(x)
        x._view = View(before, out._view.steps, None, True)
    return x
