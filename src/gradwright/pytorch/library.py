"""``torch.library.custom_op``: an operation of a name, whose derivative is registered afterwards; `torch.ops` has them.

gradwright's own `custom_op` needs no schema, and takes derivatives in the form of `gradwright.op`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from types import new_class
from typing import Any

import numpy as np

from gradwright.backends.devices import CPU
from gradwright.base.absent import Absent
from gradwright.base.changes import declares
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import no_grad
from gradwright.engine.mode import is_grad_enabled
from gradwright.engine.watch import seen
from gradwright.face.functions.compare import isclose
from gradwright.face.tensor import Tensor
from gradwright.function.contract.trees import tree_leaves, tree_map_only
from gradwright.function.function import Function
from gradwright.utils.selective import OpOverload
from gradwright.utils.selective import named as known

__all__ = ["CustomOpDef", "custom_op", "opcheck", "register_autograd", "register_fake", "register_kernel",
           "register_vmap", "triton_op", "wrap_triton"]  # fmt: skip

_HERE = {"", "CPU", "CompositeExplicitAutograd"}
_WHOLE = {"Autograd", "AutogradCPU", "CompositeImplicitAutograd"}
_NEVER = {"Meta", "CUDA", "AutogradCUDA", "MPS", "XPU", "HPU", "PrivateUse1", "AutogradXPU", "AutogradMPS"}

below_autograd: ContextVar[bool] = ContextVar("whether functions for Autograd are passed over", default=False)


class CustomOpDef:
    """An operation of a qualified name; calling it runs the function it was made of, and records that.

    Its result must not be, or be a view of, an argument. Arguments in ``mutates_args`` are written, which is not
    recorded: RuntimeError if one that is given requires grad.
    """

    def __init__(self, name: str, fn: Callable[..., Any], mutates_args: Any) -> None:
        functools.update_wrapper(self, fn)
        self._qualname, self._fn, self._mutates = name, fn, mutates_args
        self._signature = inspect.signature(fn)
        self._backward: Any = None
        self._setup: Any = None
        self._vmap: Any = None
        self._function: Any = _function(self)
        self._whole: Callable[..., Any] | None = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        bound = self._signature.bind(*args, **kwargs)
        bound.apply_defaults()
        if self._whole is not None and not below_autograd.get():
            return self._whole(*bound.args, **bound.kwargs)
        written = bound.arguments if self._mutates == "unknown" else self._mutates
        if written:
            if is_grad_enabled() and any(_requires_grad(v) for v in bound.arguments.values()):
                raise RuntimeError(f"{self._qualname}: writes to {', '.join(written)}, which is not recorded, and an "
                                   "argument requires grad: call it under no_grad(), or write to none")  # fmt: skip
            return _fresh(self, (bound.args, bound.kwargs), self._fn(*bound.args, **bound.kwargs))
        return self._function.apply(*bound.args, *bound.kwargs.values())

    def register_autograd(self, backward: Callable[..., Any], /, *, setup_context: Any = None) -> None:
        """Declare the derivative: ``backward(ctx, *grads)`` as a Function's; ``setup_context(ctx, inputs, output)``."""
        self._backward, self._setup = backward, setup_context
        self._function = _function(self)

    def register_fake(self, fn: Any, /) -> Any:
        """``fn`` as it is: shapes are those of what the operation has returned."""
        return fn

    register_torch_dispatch = register_fake

    def register_vmap(self, func: Any = None, /) -> Any:
        """Declare how it is computed for a whole batch: ``func(info, in_dims, *args)`` gives results and their dims."""
        if func is None:
            return self.register_vmap
        self._vmap = func
        self._function = _function(self)
        return func

    def register_kernel(self, device_types: Any, fn: Any = None, /) -> Any:
        """What the operation runs on the CPU, if "cpu" is among the devices."""
        types = [device_types] if isinstance(device_types, str) else device_types

        def register(function: Any) -> Any:
            if types is None or "cpu" in types:
                self._fn = function
            return function

        return register if fn is None else register(fn)

    def do(self, fn: Callable[..., Any], key: str) -> None:
        """Let ``fn`` do it: on the CPU, or, for "Autograd", instead of that and with the history that it makes."""
        if key in _WHOLE:
            self._whole = fn
        elif key in _HERE:
            self._fn = fn
        elif key not in _NEVER:
            expected = ", ".join(sorted(_WHOLE | _HERE - {""}))
            raise ValueError(f"{self._qualname}: expected a dispatch key among {expected}, but got {key!r}")

    @property
    def default(self) -> CustomOpDef:
        """Itself: there is one form of it."""
        return self

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"


def _fresh(op: CustomOpDef, given: Any, results: Any) -> Any:
    """The results of an operation, in memory of their own; else RuntimeError."""
    taken, made = ([x for x in _tensors(tree) if x.array.__class__ is np.ndarray] for tree in (given, results))
    if _shared([("an input", x) for x in taken], made):
        raise RuntimeError(
            f"{op._qualname.rpartition('::')[2]} (with implementation in {op._fn.__module__}): The output of this "
            "custom operator (1) must not also be an input to this custom operator and (2) may not alias any inputs "
            "to this custom operator or other returns. Return a clone of it, as by x.clone()."
        )
    return results


def _shared(given: Iterable[tuple[str, Tensor]], results: Iterable[Tensor]) -> str:
    """What one of the results shares its memory with, an argument or another result; nothing if none does."""
    taken = {_memory(x): name for name, x in given if x.numel()}
    for result in results:
        if result.numel():
            place = _memory(result)
            if place in taken:
                return taken[place]
            taken[place] = "another result"
    return ""


def _requires_grad(value: Any) -> bool:
    return isinstance(value, TensorBase) and value.requires_grad


def _function(op: CustomOpDef) -> Any:
    """The Function class that runs an operation."""
    rule, setup = op._backward, op._setup
    keywords = [p.name for p in op._signature.parameters.values() if p.kind is inspect.Parameter.KEYWORD_ONLY]

    def forward(*given: Any) -> Any:
        n = len(given) - len(keywords)
        run = functools.partial(op._fn, *given[:n], **dict(zip(keywords, given[n:], strict=True)))
        return _fresh(op, given, seen(op._qualname, given, run))

    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        if setup is None:
            return
        n = len(inputs) - len(keywords)
        if keywords:
            only = dict(zip(keywords, inputs[n:], strict=True))
            setup(ctx=ctx, inputs=inputs[:n], keyword_only_inputs=only, output=output)
        else:
            setup(ctx, inputs, output)

    def backward(ctx: Any, *grads: Any) -> Any:
        if rule is None:
            raise RuntimeError(f"Trying to backward through {op._qualname.replace('::', '.')}.default but no autograd "
                               "formula was registered. Please use register_autograd to add one.")  # fmt: skip
        found = rule(ctx, *grads)
        found = found if isinstance(found, tuple) else (found,)
        return (*found, *[None] * len(keywords))

    members = {"forward": forward, "setup_context": setup_context, "backward": backward}
    if op._vmap is not None:
        members["vmap"] = op._vmap
    made = {key: staticmethod(function) for key, function in members.items()}
    name = f"GeneratedBackwardFor_{op._qualname.replace('::', '_')}_default"
    return new_class(name, (Function,), {}, lambda body: body.update(made))


def triton_op(name: str, fn: Any = None, /, *, mutates_args: str | Iterable[str], schema: str | None = None) -> Any:
    """`custom_op`: PyTorch looks besides for kernels in Triton, of which nothing is compiled here."""
    return custom_op(name, fn, mutates_args=mutates_args, schema=schema)


def wrap_triton(triton_kernel: Any, /) -> Any:
    """The kernel as it is."""
    return triton_kernel


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
        declares()
        found = known[name] = CustomOpDef(name, function, written)
        return found

    return make if fn is None else make(fn)


def _found(op: Any) -> CustomOpDef:
    found = op if isinstance(op, CustomOpDef) else known.get(op)
    if found is None:
        raise ValueError(f"expected an operation made by custom_op, or the name of one, but got {op!r}")
    return found


def register_autograd(op: Any, backward: Any, /, *, setup_context: Any = None, lib: Any = None) -> None:
    """`CustomOpDef.register_autograd` of an operation or its name."""
    _found(op).register_autograd(backward, setup_context=setup_context)


def register_fake(op: Any, func: Any = None, /, *, lib: Any = None, **_: Any) -> Any:
    """``func`` as it is: see `CustomOpDef.register_fake`."""
    return (lambda function: function) if func is None else func


def register_vmap(op: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """`CustomOpDef.register_vmap` of an operation or its name."""
    return _found(op).register_vmap(func)


def register_kernel(op: Any, device_types: Any, func: Any = None, /, *, lib: Any = None) -> Any:
    """`CustomOpDef.register_kernel` of an operation or its name."""
    return _found(op).register_kernel(device_types, func)


_TESTS = ("test_schema", "test_autograd_registration", "test_faketensor", "test_aot_dispatch_static",
          "test_aot_dispatch_dynamic")  # fmt: skip


def opcheck(op: Any, args: Any, kwargs: Any = None, *, test_utils: str | Sequence[str] = _TESTS,
            raise_exception: bool = True, atol: Any = None, rtol: Any = None) -> dict[str, Any]:  # fmt: skip
    """Run the operation on copies: does it write what it does not declare, does a result share memory with another?

    That is PyTorch's "test_schema", and the only one of its tests there is here: the answer names no other. It says
    "SUCCESS", or, without ``raise_exception``, what is wrong: a RuntimeError. The derivative is
    `gradwright.autograd.gradcheck`'s to check.
    """
    asked = {test_utils} if isinstance(test_utils, str) else {*test_utils}
    if not asked <= {*_TESTS}:
        raise ValueError(f"opcheck(): expected test_utils among {_TESTS}, but got {test_utils!r}")
    wrong = _breach(_found(op), args, kwargs or {}) if "test_schema" in asked else ""
    if wrong and raise_exception:
        raise RuntimeError(f"opcheck(): test_schema failed with {wrong}")
    return {"test_schema": RuntimeError(wrong) if wrong else "SUCCESS"} if "test_schema" in asked else {}


def _breach(op: CustomOpDef, args: Any, kwargs: Any) -> str:
    """What the operation does that its declaration does not say, or nothing."""
    before = op._signature.bind(*args, **kwargs)
    before.apply_defaults()
    with no_grad():
        after = op._signature.bind(*before.args, **before.kwargs)
        after.arguments = {k: tree_map_only(Tensor, _copy, v) for k, v in before.arguments.items()}
        results = _tensors(op._fn(*after.args, **after.kwargs))
        declared = before.arguments if op._mutates == "unknown" else op._mutates
        for name, value in before.arguments.items():
            pairs = zip(_tensors(value), _tensors(after.arguments[name]), strict=True)
            if name not in declared and not all(_same(x, y) for x, y in pairs):
                return f"argument {name} is written, which mutates_args does not declare"
    given = ((f"argument {name}", x) for name, value in after.arguments.items() for x in _tensors(value))
    other = _shared(given, results)
    return f"a result shares its memory with {other}: return a copy, as by .clone()" if other else ""


def _copy(x: Tensor) -> Tensor:
    return x.detach().clone().requires_grad_(x.requires_grad)


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _same(x: Tensor, y: Tensor) -> bool:
    return x.shape == y.shape and x.dtype is y.dtype and bool(isclose(x, y, rtol=0, atol=0, equal_nan=True).all())


def _memory(x: Tensor) -> int:
    """Where the memory begins that a tensor lies in; of one on a device, which alone writes to it, its own number."""
    return x.untyped_storage().data_ptr() if x.device == CPU else -id(x.array)


class Namespace:
    """``torch.ops.namespace``: the operations of that namespace."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        found = known.get(f"{self._name}::{name}")
        kind = OpOverload if self._name == "aten" else Absent
        return kind(f"torch.ops.{self._name}.{name}") if found is None else found


def __getattr__(name: str) -> Any:
    if name.startswith(("__", "pytest")):
        raise AttributeError(f"gradwright has no torch.library.{name} yet", name=name)
    mend = "operations are made here by gradwright.custom_op, gradwright.op or Function"
    return Absent(f"torch.library.{name}", mend)
