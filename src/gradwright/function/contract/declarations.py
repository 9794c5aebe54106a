"""What a Function may declare besides forward and backward: jvp, vmap, and what its ctx offers them.

`gradwright.transform` runs them; they are checked when the class is defined. `pushforward` runs a jvp by hand.
"""

from __future__ import annotations

import inspect
import warnings
from abc import ABCMeta
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from gradwright.engine.base import TensorBase

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

pushing: ContextVar[list[Any] | None] = ContextVar("where save_for_forward keeps tensors; None: nowhere", default=None)


class FunctionCtx(metaclass=ABCMeta):  # noqa: B024 - one of them is made by hand
    """What the ctx of every Function is an instance of; instantiated, a ctx to call forward with by hand.

    The ``ctx`` that `Function.apply` makes is a node of the graph, and more than this. One made by hand only keeps what
    it is told: ``to_save``, ``dirty_tensors``, ``non_differentiable``, ``materialize_grads``, ``saved_for_forward``.
    """

    if TYPE_CHECKING:  # what the ctx of a Function has besides, and whatever one keeps there
        saved_tensors: tuple[Tensor, ...]
        needs_input_grad: tuple[bool, ...]

        def __getattr__(self, name: str) -> Any: ...
        def __setattr__(self, name: str, value: Any) -> None: ...

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors for backward, as ``to_save``."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for jvp, as ``saved_for_forward``."""
        self.saved_for_forward = _tensors_alone(tensors)

    def mark_dirty(self, *tensors: Any) -> None:
        """Declare inputs that forward changes in place."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Declare outputs that have no derivative."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether undefined gradients are zeros."""
        self.materialize_grads = value

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Do nothing: deprecated."""
        _deprecated()


class Declarations:
    """What a Function may have besides forward and backward; `Function` is made of it."""

    @staticmethod
    def jvp(ctx: Any, *tangents: Any) -> Any:
        """The tangents of the outputs, given those of the inputs: see `pushforward`."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @classmethod
    def _has_jvp(cls) -> bool:
        """Whether it declares one."""
        return cls.jvp is not Declarations.jvp

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


class Declaring:
    """The methods of a ctx that only declare something."""

    __slots__ = ()
    _function: Any

    def save_for_forward(self, *tensors: TensorBase | None) -> None:
        """Keep tensors (or None) for jvp, which finds them in ``saved_tensors``.

        Raises AssertionError for anything that is no tensor.
        """
        _tensors_alone(tensors)
        kept = pushing.get()
        if kept is not None:
            kept[:] = tensors

    def mark_shared_storage(self, *pairs: Any) -> None:
        """Do nothing: tensors that share memory are known."""
        _deprecated()

    def apply_jvp(self, *tangents: Any) -> Any:
        """Run the user's jvp by hand: tangents of the inputs in, what jvp returns out."""
        return self._function.jvp(self, *tangents)


def _tensors_alone(values: tuple[Any, ...]) -> tuple[Any, ...]:
    if not all(v is None or isinstance(v, TensorBase) for v in values):
        raise AssertionError("save_for_forward expects all arguments to be tensors; you should save non-tensors as "
                             "attributes on ctx.")  # fmt: skip
    return values


def _deprecated() -> None:
    warnings.warn("`mark_shared_storage` is deprecated. Tensors with shared storages are automatically tracked. Note "
                  "that calls to `set_()` are not tracked", FutureWarning, stacklevel=3)  # fmt: skip


def root(cls: Any) -> Any:
    """`Function` itself, of a class made from it."""
    return next(c for c in cls.__mro__ if "_derivative" in c.__dict__)


def check(cls: Any, body: dict[str, Any]) -> None:
    """Check the declarations of a Function class that is being defined.

    Raises TypeError if its jvp or vmap cannot take what they will be called with, RuntimeError if it has both a vmap
    and generate_vmap_rule.
    """
    function = root(cls)
    if cls is function:
        return
    if cls.generate_vmap_rule and cls.vmap is not function.vmap:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid "
            "ambiguity."
        )
    if "jvp" in body:
        _check_takes(cls, "jvp", "ctx and a tangent for", ("ctx",))
    if "vmap" in body:
        _check_takes(cls, "vmap", "info, in_dims and", ("info", "in_dims"))


def _check_takes(cls: Any, name: str, what: str, first: tuple[str, ...]) -> None:
    """Raise TypeError unless a method can take ``first`` and then as many arguments as forward."""
    forward = list(inspect.signature(cls.forward).parameters.values())
    if cls.setup_context is root(cls).setup_context:
        del forward[:1]
    taken = [p for p in forward if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(taken) < len(forward):  # *args, or by keyword only
        return
    signature = inspect.signature(getattr(cls, name))
    for n in range(sum(p.default is p.empty for p in taken), len(taken) + 1):
        try:
            signature.bind(*first, *range(n))
        except TypeError:
            continue
        return
    raise TypeError(f"{cls.__name__}.{name} must take {what} each argument of forward "
                    f"({', '.join(p.name for p in taken)}), but its signature is {name}{signature}")  # fmt: skip
