"""Where calls are heard while an audit is on: Functions and Ops, PyTorch's Functions and operations.

gradwright's are heard in `Function.apply` and `Op.__call__`, PyTorch's in the class below its Function, which is
reached also by an ``apply`` that was looked up before. It is met where the program imports it, and never imported here.
"""

from __future__ import annotations

import importlib.abc
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import gradwright
from gradwright.base.upward import slots
from gradwright.compilation.compiled import Programs
from gradwright.function.function import Function
from gradwright.ops.declare import Op, table
from gradwright.verify.audit.recorder import Recorder

_THEIRS = "torch.autograd.function"


class Hooks:
    """A context manager: while it is on, a `Recorder` hears of calls in all threads.

    Attributes:
        compiled: names of the functions of `gradwright.compile` that were called and had been compiled before.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.call = Op.__call__
        self.called = Programs._called
        self.compiled: set[str] = set()
        self.finder = _Finder(self.meet)
        self.base: Any = None

    def __enter__(self) -> Hooks:
        slots.applied = self._function
        call, recorder = self.call, self.recorder

        def heard(op: Op, *arrays: Any, **static: Any) -> Any:
            if table.get(op.name) is op or not recorder.hears():
                return call(op, *arrays, **static)
            if not any(isinstance(a, gradwright.Tensor) for a in arrays):
                return call(op, *arrays, **static)
            return recorder.call("op", op, gradwright, op.name, arrays, static, partial(call, op, *arrays, **static))

        Op.__call__ = heard  # type: ignore[method-assign, assignment]
        called, compiled = self.called, self.compiled
        seen: set[Programs] = set()

        def found(programs: Programs, records: bool, args: Any, kwargs: Any) -> Any:
            if programs not in seen:
                seen.add(programs)
                if programs.entries:
                    compiled.add(programs._name())
            return called(programs, records, args, kwargs)

        Programs._called = found  # type: ignore[method-assign, assignment]
        if _THEIRS in sys.modules:
            self.meet(sys.modules[_THEIRS])
        else:
            sys.meta_path.insert(0, self.finder)
        return self

    def __exit__(self, *exc: object) -> None:
        slots.applied = None
        Op.__call__ = self.call  # type: ignore[method-assign]
        Programs._called = self.called  # type: ignore[method-assign]
        if self.finder in sys.meta_path:
            sys.meta_path.remove(self.finder)
        if self.base is not None:
            del self.base.apply
            self.base = None

    def _function(self, cls: Any, args: tuple[Any, ...]) -> Any:
        """The result of a gradwright Function; NotImplemented if nobody listens."""
        if not self.recorder.hears():
            return NotImplemented
        made = vars(cls).get("_made_of")
        kind, target = ("function", cls) if made is None else ("custom_op", cls)
        return self.recorder.call(kind, target, gradwright, cls.__name__, args, {}, partial(cls.apply, *args))

    def meet(self, module: Any) -> None:
        """Listen in PyTorch's module of Functions, if it is PyTorch's."""
        base: Any = getattr(module, "_SingleLevelFunction", None)
        if base is None or "apply" in vars(base):
            return
        recorder = self.recorder

        def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
            run = partial(super(base, cls).apply, *args, **kwargs)  # type: ignore[misc]
            torch: Any = sys.modules["torch"]
            if not recorder.hears() or not issubclass(cls, module.Function) or torch.jit.is_tracing():
                return run()
            kind, target, given, static = _told(cls, args, kwargs)
            name = target.__name__ if kind == "torch" else target._name
            return recorder.call(kind, target, torch, name, given, static, run)

        base.apply = classmethod(apply)
        self.base = base


def _told(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any, tuple[Any, ...], dict[str, Any]]:
    """What has been called of PyTorch's: a Function; or the operation that a Function was generated for."""
    op = operation(cls)
    metadata: Any = args[-1] if args else None
    given: Any = args[:-1]
    if op is None:
        return "torch", cls, args, kwargs
    if hasattr(metadata, "input_spec"):  # lists of tensors came one by one
        pytree: Any = sys.modules["torch.utils._pytree"]
        *given, metadata = pytree.tree_unflatten(list(given), metadata.input_spec)
    return "torch op", op, tuple(given), dict(metadata.keyword_only_args)


def operation(cls: Any) -> Any:
    """The operation of torch.library that a Function was generated for; None for any other."""
    if not cls.__name__.startswith("GeneratedBackwardFor_"):
        return None
    return _closed(cls.forward, "op")


def derivative(op: Any, cls: Any) -> Any:
    """The backward that was registered for an operation of torch.library."""
    return getattr(_closed(cls.backward, "info"), "_backward_fn", None)


def _closed(function: Any, name: str) -> Any:
    """A value that a function closes over, or that one of those does that it closes over."""
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    if name in cells:
        return cells[name].cell_contents
    inner = next((cells[n].cell_contents for n in ("orig_forward", "orig_backward") if n in cells), None)
    return None if inner is None else _closed(inner, name)


def classes() -> Iterator[tuple[Any, Any, str]]:
    """All classes of Functions that are defined, with their library and kind, but those of the libraries themselves."""
    for base, T, kind in ((Function, gradwright, "function"), (_base_of_theirs(), sys.modules.get("torch"), "torch")):
        waiting = below(base) if base is not None else []
        while waiting:
            cls = waiting.pop()
            waiting += below(cls)
            if cls.__module__.partition(".")[0] not in ("gradwright", "torch") and not cls.__name__.startswith("_"):
                yield cls, T, kind


def below(base: Any) -> list[Any]:
    """The subclasses of a class, but those of its own name that gradwright makes of one: for `vmap`, for containers."""
    return [c for c in base.__subclasses__() if (c.__module__, c.__name__) != (base.__module__, base.__name__)]


def _base_of_theirs() -> Any:
    module = sys.modules.get(_THEIRS)
    return module.Function if module is not None and hasattr(module, "_SingleLevelFunction") else None


class _Finder(importlib.abc.MetaPathFinder):
    """Leaves finding modules to others, and tells of PyTorch's module of Functions once it is loaded."""

    def __init__(self, meet: Any) -> None:
        self.meet = meet

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> Any:
        if fullname != _THEIRS:
            return None
        sys.meta_path.remove(self)
        spec: ModuleSpec | None = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            loader, meet, load = spec.loader, self.meet, spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                load(module)
                meet(module)

            loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec
