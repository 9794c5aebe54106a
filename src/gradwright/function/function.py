"""User-written operations: subclass `Function`, write ``forward`` and ``backward``, call ``apply``.

    class Exp(Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

The ctx *is* the node of the graph: what forward leaves on it, backward finds, and ``out.grad_fn`` shows it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from numpy import ndarray

from gradwright.base.upward import slots
from gradwright.engine import (
    apply,  # noqa: F401 - which tells the core of the engine's classes
    watch,
)
from gradwright.engine.base import TensorBase
from gradwright.engine.levels import of_arguments, settle
from gradwright.engine.mode import PLAIN, UNRECORDED, listening, now, switch
from gradwright.engine.node import routing, ticket
from gradwright.engine.version import noted
from gradwright.engine.view import refresh
from gradwright.function import of_containers
from gradwright.function.contract import signature
from gradwright.function.contract.containers import TENSORLESS, holds_tensors
from gradwright.function.contract.surrogate import declared
from gradwright.function.ctx import BackwardNode
from gradwright.function.outputs import recorded, unrecorded
from gradwright.function.reserved import check_names
from gradwright.function.watched.in_forward import Inside, inside
from gradwright.function.watched.outside_ctx import UNREAD
from gradwright.native import core, front

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

_new = object.__new__


class FunctionMeta(type):
    """Gives every Function class its own node class, named ``<Class>Backward``."""

    vjp: Any
    boxed_grads_call: bool
    _keeping: dict[tuple[str, ...], type[BackwardNode]]

    def __init__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> None:
        super().__init__(name, bases, body)
        check_names(name, body)
        signature.define(cls, body)
        cls._outer, cls._keeping = UNREAD, {}
        cls._usual = cls.vjp is signature.root(cls).vjp and not cls.boxed_grads_call
        cls._node_class = type(f"{name}Backward", (BackwardNode,), {"_function": cls, **declared(cls)})

    def __setattr__(cls, name: str, value: Any) -> None:
        super().__setattr__(name, value)
        if name in ("vjp", "boxed_grads_call"):
            cls._usual = False


class Function(metaclass=FunctionMeta):
    """Base of user-written operations. Never instantiate it: ``MyFunction.apply(...)`` runs it.

    Write ``forward(ctx, *args)`` and ``backward(ctx, *grad_outputs)`` as static methods; or ``forward(*args)`` without
    ctx and ``setup_context(ctx, inputs, output)``. ``backward`` returns one gradient per argument of forward, None for
    those that have none. Inside forward nothing is recorded; inside backward it is exactly when the caller asked for
    ``create_graph=True``.

    Forward must not change an input in place, unless it says so with ``ctx.mark_dirty`` and returns it; it may change
    one that needs no gradient and is not returned, such as a running mean. Backward must not change its grad_outputs or
    what was saved in place while others share that memory. Both raise RuntimeError, with the line that did it.

    What forward returns of an input's memory (``x.detach()``, ``from_numpy(x.numpy())``) is a view of that, and may not
    be changed in place. Of memory that others hold, such as one buffer for all calls, forward and backward hand out
    copies.

    >>> class Square(gw.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x
    ...     @staticmethod
    ...     def backward(ctx, g):
    ...         x, = ctx.saved_tensors
    ...         return 2 * g * x
    >>> x = gw.tensor(3.0, requires_grad=True)
    >>> Square.apply(x).backward()
    >>> x.grad
    tensor(6.)
    """

    _node_class: type[BackwardNode]
    _outer: Any
    _usual: bool
    """Whether its `_derivative` is ``backward`` as it stands."""
    _defaults: tuple[Any, ...]
    _flat: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Raise RuntimeError: that is how operations were run before `apply`."""
        name = type(self).__name__
        if isinstance(inspect.getattr_static(self, "forward"), staticmethod):
            raise RuntimeError(f"a Function is not called but applied: write {name}.apply(...) instead of {name}(...)")
        raise RuntimeError(
            f"Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd "
            f"function with static forward method: make forward and backward of {name} static methods "
            f"(their first argument is ctx) and call {name}.apply(...)."
        )

    if TYPE_CHECKING:  # a subclass's have the arguments that they have
        forward: ClassVar[Callable[..., Any]]
        setup_context: ClassVar[Callable[..., Any]]
        backward: ClassVar[Callable[..., Any]]
        vjp: ClassVar[Callable[..., Any]]
    else:

        @staticmethod
        def forward(*args: Any, **kwargs: Any) -> Any:
            """Compute the outputs: a tensor or a tuple of tensors."""
            raise NotImplementedError(
                "You must implement the forward function for custom autograd.Function."
                f"{signature.instead('forward', *args[:1])}"
            )

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
            """Save for backward what it needs, when forward takes no ctx."""
            raise NotImplementedError("setup_context is not implemented.")

        @staticmethod
        def backward(ctx: Any, *grad_outputs: Any) -> Any:
            """The gradients of the arguments of forward, given those of its outputs."""
            raise NotImplementedError(
                "You must implement either the backward or vjp method for your custom autograd.Function to use it with "
                f"backward mode AD.{signature.instead('backward', ctx)}"
            )

        vjp = backward

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The tangents of the outputs, given those of the inputs: see `pushforward`."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @classmethod
    def _has_jvp(cls) -> bool:
        """Whether it declares one."""
        return cls.jvp is not Function.jvp

    @staticmethod
    def vmap(info: Any, in_dims: tuple[Any, ...], *args: Any) -> Any:
        """The outputs of a batch of calls, and where their batch dims are."""
        raise NotImplementedError("To use autograd.Function with vmap, you must either override the vmap staticmethod "
                                  "or set generate_vmap_rule=True.")  # fmt: skip

    generate_vmap_rule = False
    """Whether vmap may make its own rule, instead of one given as `vmap`."""
    clear_saved_tensors_on_access = False
    """Whether ``ctx.saved_tensors`` may be asked for only once, and its memory freed then."""
    captures_tensors = False
    """Whether forward may use tensors that require grad and are no arguments, because backward sees to them itself."""
    boxed_grads_call = False
    """Whether backward gets its grad_outputs as one list, which it may empty: ``backward(ctx, grads)``."""
    _fit, _cast = "return grad.sum_to_size({sizes})", "return grad.to({argument}.dtype)"
    """What to return instead of a gradient of a larger shape, and of one of another dtype."""
    _give = "return the gradient"
    """What to do where None is returned and should not be."""

    @staticmethod
    def _formula(argument: str) -> Any:
        """What computes the gradient of an argument, if that is not all of backward."""

    @classmethod
    def _derivative(cls) -> Callable[..., Any]:
        """The user's backward, or vjp, which is another name of it."""
        if cls.vjp is Function.vjp:
            derivative = cls.backward
        elif cls.backward is Function.backward:
            derivative = cls.vjp
        else:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        if cls.boxed_grads_call:
            return lambda ctx, *grads: derivative(ctx, list(grads))
        return derivative

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Tensor:
        """Run forward on the arguments and record it. Keywords are matched to forward's parameters.

        Raises RuntimeError if an argument marked dirty is not returned, or another was changed in place.
        """
        if kwargs:
            args = _positional(cls, args, kwargs)
        if slots.applied is not None and (found := slots.applied(cls, args)) is not NotImplemented:
            return found
        own_context = cls.setup_context is Function.setup_context
        if not own_context:
            args = _with_defaults(cls, args)
        mode = now()
        if mode.level is not None and (level := of_arguments(args)) is not None:
            return level.call(cls, args)
        if mode.watches and (found := watch.applying(cls, args)) is not NotImplemented:
            return found
        node: BackwardNode = _new(cls._node_class)
        node._hooks = node._ports = node._replay = None
        node._saved = node._to_save = node._dirty = node._flat = ()
        node._materialize = True
        nodes: list[Any] = []
        before: list[Any] = []  # those that are there
        versions: list[Any] = []
        metas: list[Any] = []
        for a in args:
            if isinstance(a, TensorBase):
                if a._view is not None:
                    refresh(a)
                array = a.array if a.array.__class__ is ndarray else settle(a)
                made = a._node
                nodes.append(made)
                if made is not None:
                    before.append(made)
                version = a._counter[0]
                versions.append(version if version.__class__ is int else noted(a))
                metas.append((array.shape, array.dtype))
            else:
                if a.__class__ not in TENSORLESS and holds_tensors(a):
                    return of_containers.apply(cls, args)
                nodes.append(None)
                versions.append(None)
                metas.append(None)
        node._needs = (True,) * len(nodes) if len(before) == len(nodes) else tuple([n is not None for n in nodes])
        listener = None
        if mode is PLAIN or mode.records:
            listener = inside(cls, args, nodes, bool(before))
        try:
            if listener is not None:
                switch(listening(mode, listener))
            if mode is not PLAIN and mode.watches:
                result = watch.seen(cls.__name__, args, partial(signature.run_forward, cls, node, args))
            elif own_context:
                result = cls.forward(node, *args)
            else:
                result = cls.forward(*args)
                cls.setup_context(node, args, result)
        finally:
            if listener is not None:
                switch(mode)
        if listener is None or not before:
            return unrecorded(node, args, result)
        node._seq = ticket()
        node._next = tuple(before)
        node._metas = metas
        out = recorded(node, listener, versions, result)
        if mode is not PLAIN and mode.watches:
            watch.recorded(node)
        return out


def _positional(cls: type[Function], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Arguments by position, as forward's signature orders them (defaults after the last one given stay out)."""
    own_context = cls.setup_context is Function.setup_context
    try:
        bound = inspect.signature(cls.forward).bind(*((None,) if own_context else ()), *args, **kwargs)
    except TypeError as e:
        raise TypeError(f"{cls.__name__}.forward() {e}") from None
    bound.apply_defaults()
    if bound.kwargs:
        raise TypeError(
            f"{cls.__name__}.apply: forward takes {', '.join(bound.kwargs)} by keyword only; make it positional"
        )
    names = list(bound.arguments)
    values = bound.args[: max(len(args) + own_context, *(names.index(k) + 1 for k in kwargs))]
    return values[1:] if own_context else values


def _with_defaults(cls: type[Function], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """The arguments with the defaults that forward has for the others: `setup_context` gets them all."""
    if "_defaults" not in cls.__dict__:
        cls._defaults = tuple([p.default for p in inspect.signature(cls.forward).parameters.values()
                               if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)])  # fmt: skip
    rest = cls._defaults[len(args) :]
    return args if any(d is inspect.Parameter.empty for d in rest) else (*args, *rest)


if core is not None:
    core.functions(BackwardNode, Inside, TENSORLESS, vars(Function)["setup_context"], recorded, UNRECORDED, routing)
    for _function in (BackwardNode.save_for_backward, BackwardNode.saved_tensors, BackwardNode.needs_input_grad,
                      Function.apply):  # fmt: skip
        _asked: Any = getattr(_function, "fget", getattr(_function, "__func__", _function))
        front(_asked, "of_functions", _asked.__name__)


class InplaceFunction(Function):
    """PyTorch's old name for a Function that may change its input: declare that with ``ctx.mark_dirty``."""

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace


class NestedIOFunction(Function):
    """PyTorch's old name for a Function of containers: every Function takes them."""
