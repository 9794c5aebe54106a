"""``torch.jit``: functions and modules run as the Python that they are."""

from __future__ import annotations

import functools
from collections.abc import Callable
from concurrent import futures
from contextlib import ExitStack
from types import TracebackType, UnionType
from typing import Any, Final, TypeVar, Union, get_args, get_origin

from gradwright.base.absent import Absent
from gradwright.face.reference import attach
from gradwright.nn.module import Module

__all__ = [
    "Attribute", "Error", "Final", "Future", "ScriptFunction", "ScriptModule", "annotate", "enable_onednn_fusion",
    "export", "fork", "freeze", "ignore", "interface", "is_scripting", "is_tracing", "isinstance", "load",
    "onednn_fusion_enabled", "optimize_for_inference", "optimized_execution", "run_frozen_optimizations", "save",
    "script", "script_if_tracing", "script_method", "set_fusion_strategy", "strict_fusion", "trace", "trace_module",
    "unused", "wait",
]  # fmt: skip

F = TypeVar("F")
_MEND = "programs run here as the Python that they are; gradwright.compile makes one program of a function"
_is = isinstance


class _Scripted(type):
    def __instancecheck__(cls, instance: object) -> bool:
        found = cls is ScriptModule and _is(instance, Module) and "_is_scripted" in vars(instance)
        return found or super().__instancecheck__(instance)


class ScriptModule(Module, metaclass=_Scripted):
    """A module to derive from. `script` and `trace` give back modules as they are, which are its instances then."""


ScriptFunction = CompilationUnit = RecursiveScriptModule = Absent("torch.jit.ScriptFunction", _MEND)
load = Absent("torch.jit.load", "a scripted module is a program of PyTorch's own: load its state_dict instead")
save = Absent("torch.jit.save", "save the module's state_dict() with gradwright.save")


class Error(RuntimeError):
    """What a scripted function raises; here each raises what it raises."""


def script(obj: F, *_: Any, **__: Any) -> F:
    """``obj`` as it is; a module is a `ScriptModule` from then on."""
    if _is(obj, Module):
        object.__setattr__(obj, "_is_scripted", True)
    return obj


def script_method(fn: F) -> F:
    """``fn`` as it is."""
    return fn


export = script_if_tracing = interface = _overload = _overload_method = script_method


def ignore(drop: Any = False, **_: Any) -> Any:
    """``drop`` as it is, if it is a function; with an option, a decorator that leaves functions as they are."""
    return drop if callable(drop) else script_method


unused = ignore


def freeze(mod: F, *_: Any, **__: Any) -> F:
    """The module as it is."""
    return mod


optimize_for_inference = freeze


def trace(func: F, *_: Any, **__: Any) -> F:
    """The function or module as it is: it is run at each call, and may take another way then."""
    return script(func)


trace_module = trace


def annotate(the_type: Any, the_value: F) -> F:
    """The value."""
    return the_value


def Attribute(value: F, type: Any = None) -> F:
    """The value."""
    return value


def isinstance(obj: Any, target_type: Any) -> bool:
    """Whether ``obj`` is an instance of the type, or of one of several.

    Of a union it is by being one of its members; of a list, dict or tuple type by what it holds, too: ``["a"]`` is no
    ``List[int]``. RuntimeError for one of these that does not say of what, as ``List`` and ``list``.
    """
    if _is(target_type, (tuple, list)):
        return any(isinstance(obj, t) for t in target_type)
    origin, members = get_origin(target_type) or target_type, get_args(target_type)
    if origin in (list, dict, tuple) and not hasattr(target_type, "__args__"):
        raise RuntimeError(f"Attempted to use {target_type} without a contained type: say of what, as in list[int]")
    if origin in (Union, UnionType):
        return any(isinstance(obj, t) for t in members)
    if origin is list:
        return _is(obj, list) and all(isinstance(v, members[0]) for v in obj)
    if origin is dict:
        return _is(obj, dict) and all(isinstance(k, members[0]) and isinstance(v, members[1]) for k, v in obj.items())
    if origin is tuple:
        if members[1:] == (...,):
            return _is(obj, tuple) and all(isinstance(v, members[0]) for v in obj)
        return _is(obj, tuple) and len(obj) == len(members) and all(map(isinstance, obj, members))
    return target_type is Any or _is(obj, origin)


def is_scripting() -> bool:
    """Whether this runs as a script of PyTorch's: never."""
    return False


is_tracing = onednn_fusion_enabled = is_scripting


class strict_fusion:
    """A context without effect."""

    def __init__(self, *_: Any) -> None:
        pass

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


optimized_execution = strict_fusion


def set_fusion_strategy(strategy: Any) -> None:
    """Nothing."""


enable_onednn_fusion = run_frozen_optimizations = set_fusion_strategy


class Future(futures.Future[Any]):
    """What a function will return."""

    def wait(self) -> Any:
        """What it has returned; raises what it has raised."""
        return self.result()

    value = wait

    def then(self, callback: Callable[[Future], Any]) -> Future:
        """What the callback makes of this future when that is done, or what it raises, of whatever class."""
        out = Future()
        self.add_done_callback(lambda done: _settle(out, functools.partial(callback, self)))
        return out


def _settle(future: Future, call: Callable[[], Any]) -> None:
    """Give the future what the call returns or raises; what is no Exception, such as Ctrl-C, is raised here as well."""

    def keep(kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> bool:
        if error is not None and not future.done():
            future.set_exception(error)
        return _is(error, Exception)

    with ExitStack() as stack:
        stack.push(keep)
        future.set_result(call())


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future:
    """A future of ``func(*args, **kwargs)``, which is run at once, in this thread."""
    out = Future()
    _settle(out, functools.partial(func, *args, **kwargs))
    return out


def wait(future: Future) -> Any:
    """What the function of `fork` has returned."""
    return future.wait()


attach(globals(), "pytorch")
