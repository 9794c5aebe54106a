"""``torch.library.custom_op``: an operation of a name, whose derivative is registered afterwards; `torch.ops` has them.

gradwright's own `custom_op` needs no schema, and takes derivatives in the form of `gradwright.op`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from gradwright.absent import Absent
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import no_grad
from gradwright.engine.mode import is_grad_enabled
from gradwright.function.function import Function

__all__ = ["CustomOpDef", "custom_op", "opcheck", "register_autograd", "register_fake", "register_kernel",
           "register_vmap"]  # fmt: skip

_known: dict[str, CustomOpDef] = {}


class CustomOpDef:
    """An operation of a qualified name; calling it runs the function it was made of, and records that.

    Its result must not be, or be a view of, an argument. Arguments in ``mutates_args`` are written, which is not
    recorded: RuntimeError if one that is given requires grad.
    """

    def __init__(self, name: str, fn: Callable[..., Any], mutates_args: Any) -> None:
        functools.update_wrapper(self, fn)
        self._qualname, self._fn, self._mutates = name, fn, mutates_args
        self._signature = inspect.signature(fn)
        self._function: Any = _function(self, None, None)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        written = bound.arguments if self._mutates == "unknown" else self._mutates
        if written:
            if is_grad_enabled() and any(_requires_grad(v) for v in bound.arguments.values()):
                raise RuntimeError(f"{self._qualname}: writes to {', '.join(written)}, which is not recorded, and an "
                                   "argument requires grad: call it under no_grad(), or write to none")  # fmt: skip
            return self._fn(*bound.args, **bound.kwargs)
        return self._function.apply(*bound.args, *bound.kwargs.values())

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Any = None) -> None:
        """Declare the derivative: ``backward(ctx, *grads)`` as a Function's; ``setup_context(ctx, inputs, output)``."""
        self._function = _function(self, backward, setup_context)

    def register_fake(self, fn: Any, /) -> Any:
        """``fn`` as it is: shapes are those of what the operation has returned."""
        return fn

    register_vmap = register_torch_dispatch = register_fake

    def register_kernel(self, device_types: Any, fn: Any = None, /) -> Any:
        """What the operation runs on the CPU, if "cpu" is among the devices."""
        types = [device_types] if isinstance(device_types, str) else device_types

        def register(function: Any) -> Any:
            if types is None or "cpu" in types:
                self._fn = function
            return function

        return register if fn is None else register(fn)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


def _requires_grad(value: Any) -> bool:
    return isinstance(value, TensorBase) and value.requires_grad


def _function(op: CustomOpDef, backward: Any, setup: Any) -> Any:
    """The Function class that runs an operation."""
    keywords = [p.name for p in op._signature.parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]

    class Run(Function):
        @staticmethod
        def forward(*given: Any) -> Any:
            n = len(given) - len(keywords)
            return op._fn(*given[:n], **dict(zip(keywords, given[n:], strict=True)))

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            if setup is None:
                return
            n = len(inputs) - len(keywords)
            if keywords:
                only = dict(zip(keywords, inputs[n:], strict=True))
                setup(ctx=ctx, inputs=inputs[:n], keyword_only_inputs=only, output=output)
            else:
                setup(ctx, inputs, output)

        @staticmethod
        def backward(ctx: Any, *grads: Any) -> Any:
            if backward is None:
                raise RuntimeError(f"Trying to backward through {op._qualname} but no autograd formula was registered. "
                                   "Please use register_autograd to add one.")  # fmt: skip
            found = backward(ctx, *grads)
            found = found if isinstance(found, tuple) else (found,)
            return (*found, *[None] * len(keywords))

    Run.__name__ = Run.__qualname__ = op._qualname.rpartition("::")[2]
    return Run


def custom_op(name: str, fn: Any = None, /, *, mutates_args: str | Iterable[str], device_types: Any = None,
              schema: str | None = None, tags: Any = None) -> Any:  # fmt: skip
    """An operation with this name, "namespace::name", made of a function; as a decorator if none is given.

    Its derivative is registered with `CustomOpDef.register_autograd`; without one a backward pass through it raises.
    """
    namespace, _, last = name.partition("::")
    if not (namespace and last):
        raise ValueError(f"custom_op: expected a name such as 'mylib::sin', but got {name!r}")

    def make(function: Callable[..., Any]) -> CustomOpDef:
        written = mutates_args if isinstance(mutates_args, str) else tuple(mutates_args)
        found = _known[name] = CustomOpDef(name, function, written)
        return found

    return make if fn is None else make(fn)


def _found(op: Any) -> CustomOpDef:
    found = op if isinstance(op, CustomOpDef) else _known.get(op)
    if found is None:
        raise ValueError(f"expected an operation made by custom_op, or the name of one, but got {op!r}")
    return found


def register_autograd(op: Any, backward: Any, /, *, setup_context: Any = None, lib: Any = None) -> None:
    """`CustomOpDef.register_autograd` of an operation or its name."""
    _found(op).register_autograd(backward, setup_context=setup_context)


def register_fake(op: Any, func: Any = None, /, *, lib: Any = None, **_: Any) -> Any:
    """``func`` as it is: see `CustomOpDef.register_fake`."""
    return (lambda function: function) if func is None else func


register_vmap = register_fake


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """`CustomOpDef.register_kernel` of an operation or its name."""
    return _found(op).register_kernel(device_types, func)


def opcheck(op: Any, args: Any, kwargs: Any = None, **_: Any) -> dict[str, str]:
    """Run the operation; its derivative is `gradwright.autograd.gradcheck`'s to check."""
    with no_grad():
        _found(op)(*args, **kwargs or {})
    return {"test_schema": "SUCCESS"}


class Namespace:
    """``torch.ops.namespace``: the operations of that namespace."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = _known.get(f"{self._name}::{name}")
        return Absent(f"torch.ops.{self._name}.{name}") if found is None else found


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"gradwright has no torch.library.{name} yet", name=name)
    mend = "operations are made here by gradwright.custom_op, gradwright.op or Function"
    return Absent(f"torch.library.{name}", mend)
