"""The node of a user's Function, which is also its ``ctx``, and the check of what its backward returns."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Sequence
from contextvars import ContextVar
from typing import Any

from gradwright import backends
from gradwright.backends.quiet import as_user
from gradwright.base import dtypes, source_line
from gradwright.base.errors import MisfitGradient, kind, size
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.hooks import as_tensor
from gradwright.engine.memory import share_saved
from gradwright.engine.mode import UNRECORDED, now, switch
from gradwright.engine.node import AccumulateGrad, Bundle, Node, Output, routing
from gradwright.engine.nodes_of_ops import freed, modified
from gradwright.engine.saved_hooks import raw
from gradwright.engine.strict import warn
from gradwright.engine.version import noted
from gradwright.function.contract.function_ctx import FunctionCtx, deprecated, tensors_alone
from gradwright.function.contract.signature import check_returned, dense, parameters, root
from gradwright.function.saved import contents
from gradwright.function.watched import in_motion
from gradwright.function.watched.after_backward import check_cotangent, check_saved, own, own_tensors
from gradwright.function.watched.in_backward import Guard
from gradwright.function.watched.left_by_backward import LeftByBackward
from gradwright.function.watched.replay import Replay, again
from gradwright.ops.shape import broadcasts

pushing: ContextVar[list[Any] | None] = ContextVar("where save_for_forward keeps tensors; None: nowhere", default=None)


class BackwardNode(Node):
    """The node of a user's Function, and the ``ctx`` of its forward and backward.

    Any attribute may be set on it. Tensors among those that forward has set, also in lists, tuples and dictionaries,
    are guarded as saved tensors are: asking for one that was changed in place since raises RuntimeError. (To see
    changes, keep ``x.data``. A list or dictionary with outputs in it comes back as a copy.) Attributes that gradwright
    sets:
        needs_input_grad: for each input of forward, whether it is a tensor that requires grad.
        saved_tensors: what `save_for_backward` was given; its last call wins.
    """

    __slots__ = ("__dict__", "_attributes", "_dirty", "_flat", "_given", "_left", "_materialize", "_metas", "_needed",
                 "_needs", "_nothing", "_outputs", "_ports", "_read", "_replay", "_to_save", "_trees")  # fmt: skip
    # so that ``__dict__`` holds the user's attributes alone

    _function: Any
    _frames = 0
    """How many more frames than that of `_run` hold its arguments."""
    _needs: tuple[bool, ...]
    _to_save: tuple[Any, ...]
    _dirty: tuple[Any, ...]
    _flat: tuple[Any, ...]
    _given: dict[int, Any]
    """Weak references to the saved tensors that are no leaves and no outputs, by number."""
    _left: dict[str, Any]
    """The user's other attributes, as forward left them; unset if there were none."""
    _materialize: bool
    _attributes: Any
    """The user's attributes that hold tensors, packed, if the node is a `ctx_attributes.Keeping`."""
    _metas: list[tuple[tuple[int, ...], Any] | None]
    """Shape and dtype of each input; None for one that is no tensor."""
    _needed: Any
    """The values that the derivatives of a `gradwright.function.custom_op.CustomOp` ask for."""
    _nothing: set[int]
    """The inputs for which backward has returned None though asked; unset if there are none."""
    _outputs: list[tuple[tuple[int, ...], Any] | None]
    """Shape and dtype of each output; None for one that is no tensor."""
    _ports: dict[int, Any] | None
    """If there are several outputs: weak references to the `Output` of each differentiable one."""
    _read: bool
    """Whether the backward that runs, or ran last, has asked for the saved tensors."""
    _replay: Replay | None
    """The means to run forward again, if it has kept intermediates."""
    _trees: tuple[Any, Any]
    """The structure of arguments and outputs, if their tensors came in containers (`nested`)."""

    @classmethod
    def new(cls, **known: Any) -> Any:
        """The ctx of a forward that is about to run, with these attributes known."""
        ctx = object.__new__(cls)
        ctx._hooks = ctx._ports = ctx._replay = None
        ctx._saved = ctx._to_save = ctx._dirty = ctx._flat = ()
        ctx._materialize = True
        for name, value in known.items():
            setattr(ctx, name, value)
        return ctx

    @property
    def needs_input_grad(self) -> tuple[Any, ...]:
        """For each input of forward, whether it is a tensor that requires grad; in backward, whether this pass asks."""
        return self._needs if routing.get() is None else self._asked()

    def _asked(self) -> tuple[bool, ...]:
        """For each input, whether it requires grad and the pass that runs, if one does, leads to what was asked for."""
        route, wanted = routing.get() or ((), ())
        if self not in route:
            return self._needs
        targets = iter(self._next)
        return tuple([n and ((t := next(targets)) in route or t in wanted) for n in self._needs])

    @property
    def _edge_mask(self) -> Sequence[bool]:  # type: ignore[override]
        return [n for n, meta in zip(self._needs, self._metas, strict=True) if meta is not None]

    @property
    def _several(self) -> int | None:  # type: ignore[override]
        return len(self._outputs) if self._ports is not None else None

    def save_for_backward(self, *tensors: TensorBase | None) -> None:
        """Keep tensors (or None) for backward, guarded against being changed in place in between.

        Raises TypeError for anything that is no tensor: put other things on ctx as attributes.
        """
        for t in tensors:
            if not isinstance(t, TensorBase) and t is not None:
                i = next(i for i, other in enumerate(tensors) if other is t)
                raise TypeError(f"save_for_backward can only save variables, but argument {i} is of type {kind(t)}: "
                                "set it as an attribute of ctx instead")  # fmt: skip
        self._to_save = tensors

    def mark_dirty(self, *tensors: TensorBase) -> None:
        """Declare inputs that forward changes in place; each must also be returned as an output."""
        self._dirty = tensors

    def mark_non_differentiable(self, *tensors: TensorBase) -> None:
        """Declare outputs that have no derivative; they will not require grad, and their cotangents are zeros."""
        self._flat = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward gets zeros (True, the default) or None for outputs that no gradient reached."""
        self._materialize = value

    def save_for_forward(self, *tensors: TensorBase | None) -> None:
        """Keep tensors (or None) for jvp, which finds them in ``saved_tensors``.

        Raises AssertionError for anything that is no tensor.
        """
        tensors_alone(tensors)
        kept = pushing.get()
        if kept is not None:
            kept[:] = tensors

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Do nothing: tensors that share memory are known."""
        deprecated()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors given to `save_for_backward`.

        Raises RuntimeError once the graph has been freed, or if a saved tensor was changed in place since.
        """
        saved = self._saved
        if saved is None:
            raise freed(self)
        if self._to_save:  # still inside forward
            return self._to_save
        if saved is ACCESSED:
            raise RuntimeError(
                "saved_tensors can only be accessed once when clear_saved_tensors_on_access=True is set on the "
                "autograd.Function. Either access saved_tensors only once, or set clear_saved_tensors_on_access=False."
            )
        values = self._read_saved(saved)
        self._read = True
        if self._function.clear_saved_tensors_on_access:
            self._saved = ACCESSED
        return values

    def _read_saved(self, saved: Any) -> tuple[Any, ...]:
        """The values in ``saved``, which was read once: another thread may free the graph meanwhile."""
        if self._replay is not None:  # the arguments are saved with them
            saved = itertools.islice(saved, self._replay.count)
        values: list[Any] = []
        for packed in saved:
            if packed is None:
                values.append(None)
                continue
            array, counter, version, node = packed
            if counter[0] != version:
                name = "out" if node.__class__ is int else f"saved_tensors[{len(values)}]"
                raise modified(self, name, packed)
            if node.__class__ is int:  # output number ``node`` of this very node
                values.append(share_saved(wrap(array, self._port(node), counter)))
            elif node.__class__ is AccumulateGrad and node._array is array:
                leaf = node._leaf()
                values.append(node.variable if leaf is None else leaf)
            else:
                ref = self._given.get(len(values))
                t = ref and ref()
                same = t is not None and t.array is array and t._counter is counter and t._node is node
                values.append(t if same else wrap(array, node, counter))
        return tuple(values)

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """`saved_tensors`, by its older name."""
        source_line.warn("'saved_variables' is deprecated; use 'saved_tensors'", DeprecationWarning)
        return self.saved_tensors

    @property
    def _raw_saved_tensors(self) -> tuple[Any, ...]:
        """The tensors given to `save_for_backward`, as objects with ``register_hooks(pack_hook, unpack_hook)``."""
        if self._saved is None:
            raise freed(self)
        count = len(self._saved) if self._replay is None else self._replay.count
        return tuple([raw(self, k) for k in range(count)])

    def _derivative_written(self) -> Any:
        """The user's backward, or vjp."""
        user = getattr(self._function, "_user", self._function)
        return inspect.unwrap(user.vjp if user.backward is root(user).backward else user.backward)

    def _written(self, part: str = "forward", argument: str = "") -> str | None:
        """The place of the user's forward, or backward, or of the rule for one argument."""
        user = getattr(self._function, "_user", self._function)
        formula = user._formula(argument) if argument else None
        fn = formula or (self._derivative_written() if part == "backward" else inspect.unwrap(getattr(user, part)))
        code = getattr(fn, "__code__", None)
        return code and f"{code.co_filename}:{code.co_firstlineno}, in {fn.__qualname__}"

    def _argument(self, k: int) -> str:
        """Forward's name for its input number k."""
        cls = getattr(self._function, "_user", self._function)
        for n, p in enumerate(parameters(cls)):
            if p.kind is p.VAR_POSITIONAL:
                return f"{p.name}[{k - n}]"
            if n == k:
                return p.name
        return f"argument {k}"

    def _port(self, index: int) -> Node:
        """The history of an output."""
        return self if self._ports is None else self._ports[index]() or Output(self, index)

    def _run(self, xp: Any, g: Any, ran: list[Any] | None = None) -> Sequence[Any]:
        mode = now()
        if ran is not None:  # the core has: the cotangents, and what backward gave, which nobody else may seem to hold
            grads, result = ran
            ran.clear()
        else:
            if isinstance(g, Bundle) or len(self._outputs) > 1:
                grads = self._filled(g)
            else:
                grads = [g if isinstance(g, TensorBase) else wrap(g)]
            self._read = False
            if mode is not UNRECORDED and (mode.records or (mode.level is not None
                                                            and in_motion.followed(self, grads))):  # fmt: skip
                return self._recorded(grads, g)
            function = self._function
            derivative = function.backward if function._usual else function._derivative()
            result = as_user(derivative, self, *grads)
        checked = _checked(self, result if type(result) is tuple else (result,))
        for t in grads:
            if t is not None and t._counter[0] != 0:  # `as_tensor` has just made them
                check_cotangent(self, t, 0, g)
        if mode.level is not None:
            return own_tensors(checked, grads)
        del result
        arrays = own(checked, grads)
        if self._read:
            check_saved(self)
        return arrays

    def _recorded(self, grads: Sequence[Any], g: Any) -> Any:
        """`_run`, while the pass is recorded, or in forward mode, for which forward is to run again.

        Called by hand, where ``g`` is None: what the user's backward returns, as it is.
        """
        inputs, versions = list(self._next), []
        for t in grads:
            version = None if t is None else t._counter[0]
            versions.append(version if version is None or version.__class__ is int else noted(t))
            if t is not None and t._node is not None:
                inputs.append(t._node)
        before, held = now(), contents(self) if now().level is not None else ()
        guard = Guard(type(self).__name__, inputs, getattr(type(self), "surrogate", None), before.records)
        try:
            earlier = LeftByBackward(self) if self.__dict__ else None
            try:
                switch(before.but(listener=guard))
                derivative = self._function.backward if self._function._usual else self._function._derivative()
                for name, t in earlier.rest if earlier else ():
                    guard.doubt(t, name, "an earlier backward")
                runs = self._replay is not None and (before.records or in_motion.followed(self, ()))
                ctx = again(self) if runs and not hasattr(derivative, "once") else self
                result = as_user(derivative, ctx, *grads)
            finally:
                switch(before)
                if earlier:
                    earlier.put_back()
            if g is None:
                guard.check()
                if isinstance(result, TensorBase):
                    return guard.settled([result])[0]
                return tuple(guard.settled(result)) if type(result) is tuple else result
            checked = _checked(self, result if type(result) is tuple else (result,))
            for t, version in zip(grads, versions, strict=True):
                if version is not None and t._counter[0] != version:
                    check_cotangent(self, t, version, g)
            del result
            if self._read:
                check_saved(self)
            found = own_tensors(checked, grads)
            return guard.settled(in_motion.checked(self, grads, guard, found, held) if guard.halted else found)
        finally:
            if guard.doubted or guard.written or guard.outer is not None:
                guard.done()

    def _filled(self, g: Bundle) -> list[Any]:
        """One cotangent per output: zeros, or None if they are not to be materialised, where none came."""
        like = next(iter(g.values()))
        like = getattr(like, "array", like)
        zeros, materialize = backends.namespace(like).zeros_like, self._materialize
        return [
            as_tensor(g[i]) if i in g
            else wrap(zeros(like, shape=meta[0], dtype=meta[1])) if meta and materialize
            else None for i, meta in enumerate(self._outputs)]  # fmt: skip

    def apply(self, *grads: Any) -> Any:
        """Run the user's backward by hand: gradients of the outputs in, what backward returns out."""
        return self._recorded(grads, None) if now().records else self._function._derivative()(self, *grads)

    __call__ = apply

    def apply_jvp(self, *tangents: Any) -> Any:
        """Run the user's jvp by hand: tangents of the inputs in, what jvp returns out."""
        return self._function.jvp(self, *tangents)


FunctionCtx.register(BackwardNode)
ACCESSED = ((), None)
"""What is left of the saved tensors of a Function that clears them."""


def _checked(node: BackwardNode, result: tuple[Any, ...]) -> list[Any]:
    """One gradient per input that needs one, of that input's shape and dtype; an error that says which is not."""
    metas = node._metas
    name = type(node).__name__
    extra = len(result) - len(metas)
    if extra > 0 and all(r is None for r in result[len(metas) :]):
        result = result[: len(metas)]
    elif extra:
        check_returned(node, result)
        raise RuntimeError(
            f"function {name} returned an incorrect number of gradients (expected {len(metas)}, got {len(result)}): "
            f"one for each input of forward ({', '.join(map(node._argument, range(len(metas))))}), None if it has none"
        )
    checked: list[Any] = []
    for i, meta in enumerate(metas):
        r = result[i]
        if meta is None:
            if r is not None:
                raise RuntimeError(
                    f"function {name} returned a gradient different than None at position {i + 1}, "
                    f"but the corresponding forward input was not a Variable: {node._argument(i)!r}"
                )
        elif node._needs[i]:
            if r is not None:
                if not isinstance(r, TensorBase):
                    r = dense(r, f"as gradient at index {i}, of {node._argument(i)!r}", "backward", node)
                if r.array.shape != meta[0] or r.array.dtype is not meta[1]:
                    r = _fitted(node, i, r, *meta)
            elif routing.get() is None or node._asked()[i]:
                check_returned(node, result)
                node._nothing = {*getattr(node, "_nothing", ()), i}
            checked.append(r)
    return checked


def _fitted(node: BackwardNode, i: int, r: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """A gradient in the shape and dtype of its input; a warning that it was not, RuntimeError if it cannot be."""
    got, name, argument = r.array.shape, type(node).__name__, node._argument(i)
    at = f"backward is at {node._written('backward', argument) or 'a line that is not known'}"
    if got != shape:
        if not broadcasts(shape, got):
            raise RuntimeError(
                f"Function {name} returned an invalid gradient at index {i} - got {size(got)} but expected shape "
                f"compatible with {size(shape)}, that of {argument!r}; {at}"
            )
        mend = node._function._fit.format(sizes=", ".join(map(str, shape)))
        warn(MisfitGradient(
            f"{name} returned a gradient of shape {size(got)} for input {i} ({argument!r}) of shape {size(shape)}: it "
            f"is summed down.\n  {at}\nIf that is what you mean, {mend}.",
            argument, got, shape, mend))  # fmt: skip
        r = r.sum_to_size(shape)
    had, wants = (dtypes.of(d) for d in (r.array.dtype, dtype))
    if had is not wants:
        mend = node._function._cast.format(argument=argument)
        warn(MisfitGradient(
            f"{name} returned a gradient of {had} for input {i} ({argument!r}) of {wants}: it is converted.\n  {at}\n"
            f"If that is what you mean, {mend}.", argument, had, wants, mend))  # fmt: skip
        r = r.to(dtype)
    return r


BackwardCFunction = BackwardNode
"""PyTorch's name for it."""
