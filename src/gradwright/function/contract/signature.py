"""What a Function class says of itself before it runs: forward's parameters, and whether its other methods fit them."""

from __future__ import annotations

import ast
import difflib
import functools
import inspect
from contextvars import ContextVar
from types import CodeType
from typing import Any

from gradwright.base.cpython.bytecode import returned
from gradwright.base.errors import kind
from gradwright.base.source_line import is_own
from gradwright.engine.base import TensorBase
from gradwright.engine.strict import warn

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_CONTEXT = frozenset(["ctx", "context", "self", "cls", "_", "_ctx"])


tolerant: ContextVar[bool] = ContextVar("whether what is wrong with a class is noted instead of raised", default=False)


def root(cls: Any) -> Any:
    """`Function` itself, of a class made from it."""
    return next(c for c in cls.__mro__ if "_derivative" in c.__dict__)


def has_setup(cls: Any) -> bool:
    """Whether forward gets its inputs alone, and `setup_context` the ctx."""
    return cls.setup_context is not root(cls).setup_context


def run_forward(cls: Any, ctx: Any, args: Any) -> Any:
    """The result of forward; afterwards ``ctx`` is set up."""
    if not has_setup(cls):
        return cls.forward(ctx, *args)
    result = cls.forward(*args)
    cls.setup_context(ctx, tuple(args), result)
    return result


def parameters(cls: Any) -> list[inspect.Parameter]:
    """The parameters of forward that take its inputs: all but ctx."""
    found = list(inspect.signature(cls.forward).parameters.values())
    return found if has_setup(cls) else found[1:]


def define(cls: Any, body: dict[str, Any]) -> None:
    """Check a Function class that is being defined, with this body.

    Raises TypeError if its jvp or vmap cannot take what they will be called with, or as `check` does; RuntimeError if
    it has both a vmap and generate_vmap_rule. While `tolerant` is set the class gets the error as ``_refused``, and is
    there all the same.
    """
    try:
        if cls is not root(cls):
            if cls.generate_vmap_rule and cls.vmap is not root(cls).vmap:
                raise RuntimeError(
                    f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden "
                    "vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod "
                    "to avoid ambiguity."
                )
            if "jvp" in body:
                _check_takes(cls, "jvp", "ctx and a tangent for", ("ctx",))
            if "vmap" in body:
                _check_takes(cls, "vmap", "info, in_dims and", ("info", "in_dims"))
        if "_user" not in body:
            check(cls)
    except (TypeError, RuntimeError) as e:
        if not tolerant.get():
            raise
        cls._refused = e


def _check_takes(cls: Any, name: str, what: str, first: tuple[str, ...]) -> None:
    """Raise TypeError unless a method can take ``first`` and then as many arguments as forward."""
    taken = parameters(cls)
    if any(p.kind not in _POSITIONAL for p in taken):  # *args, or by keyword only
        return
    signature = inspect.signature(getattr(cls, name))
    least = sum(p.default is p.empty for p in taken)
    if not any(_takes(signature, len(first) + n) for n in range(least, len(taken) + 1)):
        raise TypeError(f"{cls.__name__}.{name} must take {what} each argument of forward "
                        f"({', '.join(p.name for p in taken)}), but its signature is {name}{signature}")  # fmt: skip


def instead(name: str, ctx: Any = None) -> str:
    """A method of a ctx's class that may be meant to be ``name``, for the end of a message."""
    cls = getattr(ctx, "_function", None)
    if cls is None:
        return ""
    near = difflib.get_close_matches(name, [n for n in vars(cls) if n[0] != "_"], 1, 0.7)
    return f" {cls.__name__} has {near[0]!r}: call it {name!r}, if it is meant to be that." if near else ""


def check(cls: Any) -> None:
    """Raise TypeError if what a class defines cannot work, however it is called.

    What is old-style, abstract, or not to be known before it runs is let through.
    """
    name = cls.__name__
    for method in ("forward", "setup_context", "backward", "vjp"):
        own = _signature(cls, method)
        if own is not None and [*own.parameters][:2] == ["self", "ctx"]:
            raise TypeError(f"{name}: {method} is a static method, which gets no self: write @staticmethod above it, "
                            f"and {method}(ctx, ...){_at(cls, method)}")  # fmt: skip
    forward = _signature(cls, "forward")
    takes_context = not has_setup(cls)
    if forward is not None:
        first = next(iter(forward.parameters.values()), None)
        if not takes_context and first is not None and first.name == "ctx":
            raise TypeError(f"{name}: forward takes ctx although there is a setup_context: with that, forward gets the "
                            f"inputs alone{_at(cls, 'forward')}")  # fmt: skip
        if takes_context and first is None:
            raise TypeError(f"{name}: forward takes no arguments; its first one is ctx: write forward(ctx, ...)"
                            f"{_at(cls, 'forward')}")  # fmt: skip
        alone = takes_context and len(forward.parameters) == 1 and first is not None and first.kind in _POSITIONAL
        if alone and first is not None and first.name not in _CONTEXT and _backward(cls) is not None:
            raise TypeError(
                f"{name}: forward takes only {first.name!r}, in the place of ctx: write forward(ctx, {first.name}), "
                f"or define setup_context(ctx, inputs, output){_at(cls, 'forward')}"
            )
    if has_setup(cls):
        setup = _signature(cls, "setup_context")
        if setup is not None and not _takes(setup, 3):
            raise TypeError(f"{name}: setup_context is called with (ctx, inputs, output), but is defined as "
                            f"setup_context{setup}{_at(cls, 'setup_context')}")  # fmt: skip
    which = _backward(cls)
    if which is None:
        return
    backward = _signature(cls, which)
    if backward is not None and not any(_takes(backward, n) for n in range(2, 2 + len(backward.parameters))):
        raise TypeError(f"{name}: {which} is called with (ctx, *grad_outputs), but is defined as {which}{backward}"
                        f"{_at(cls, which)}")  # fmt: skip
    if forward is not None:
        _check_count(cls, which)
    if forward is not None and backward is not None:
        _check_outputs(cls, which, backward)


def _backward(cls: Any) -> str | None:
    """The name of the derivative that a class has; None if it has none, or both."""
    own = [n for n in ("backward", "vjp") if getattr(cls, n) is not getattr(root(cls), n)]
    return own[0] if len(own) == 1 else None


def _signature(cls: Any, name: str) -> inspect.Signature | None:
    """The signature of ``cls.name``, if it is the user's own; None if it cannot be known."""
    fn = getattr(cls, name)
    if is_own(getattr(getattr(fn, "__code__", None), "co_filename", "")) and not hasattr(fn, "__wrapped__"):
        return None  # Function's own
    try:
        return inspect.signature(fn)
    except (TypeError, ValueError):
        return None


def _at(cls: Any, name: str) -> str:
    """The place of a method, for the end of a message."""
    code = getattr(inspect.unwrap(getattr(cls, name)), "__code__", None)
    return f"\n  {name} is at {code.co_filename}:{code.co_firstlineno}" if code is not None else ""


def check_returned(node: Any, result: tuple[Any, ...]) -> None:
    """Warn if the backward of ``node`` has returned nothing because there is no ``return`` in it."""
    if result == (None,) and lacks_return(node._derivative_written()):
        warn(f"{node._function.__name__}: backward returned nothing: there is no return in it, so no gradient reaches "
             f"the inputs.\n  backward is at {node._written('backward')}\n"
             "Return one gradient for each input of forward.")  # fmt: skip


def dense(returned: Any, place: str, method: str, node: Any) -> Any:
    """The tensor that a sparse one which a method of a Function has returned stands for; RuntimeError if it is none."""
    found = returned.to_dense() if hasattr(returned, "to_dense") else returned
    if not isinstance(found, TensorBase):
        raise RuntimeError(f"{type(node).__name__}: expected Variable or None (got {kind(returned)}) {place}; {method} "
                           f"is at {node._written(method)}: return a tensor, such as gradwright.as_tensor() makes of "
                           "it")  # fmt: skip
    return found


def lacks_return(fn: Any) -> bool:
    """Whether a function has no ``return``, as far as its source can be read."""
    code = getattr(inspect.unwrap(fn), "__code__", None)
    return isinstance(code, CodeType) and _lacks_return(code)


@functools.lru_cache(256)
def _lacks_return(code: CodeType) -> bool:
    try:
        source = inspect.getsource(code)
        tree = ast.parse(f"if 1:\n{source}" if source[:1].isspace() else source)
    except (OSError, SyntaxError):
        return False
    function = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)), None)
    return code.co_name != "<lambda>" and function is not None and not _returns(function)


def _returns(node: ast.AST) -> bool:
    """Whether there is a ``return`` in a statement, those of functions inside left aside."""
    return any(isinstance(n, ast.Return) or (not isinstance(n, _SCOPES) and _returns(n))
               for n in ast.iter_child_nodes(node))  # fmt: skip


_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def _takes(signature: inspect.Signature, n: int) -> bool:
    try:
        signature.bind(*[None] * n)
    except TypeError:
        return False
    return True


def _check_count(cls: Any, which: str) -> None:
    """Raise TypeError if every return of backward is a tuple, written out, that fits no call of forward."""
    taken = parameters(cls)
    if any(p.kind not in _POSITIONAL for p in taken):
        return
    least, most = sum(p.default is p.empty for p in taken), len(taken)
    counts = _returned(getattr(cls, which))
    if not counts or any(least <= n <= most or 0 < n - most <= spare for n, spare in counts):
        return
    shown = " or ".join(dict.fromkeys(str(n) for n, _ in counts))
    names = ", ".join(p.name for p in taken)
    expected = most if least == most else f"{least} to {most}"
    raise TypeError(
        f"{cls.__name__}: {which} returns {shown} gradient{'s' * (shown != '1')}, but forward takes {expected} "
        f"input{'s' * (most > 1)} "
        f"({names}): return one for each, None for those that have none"
        f"{_at(cls, which)}"
    )


def _check_outputs(cls: Any, which: str, backward: inspect.Signature) -> None:
    """Raise TypeError if every return of forward is a tuple, written out, for which backward takes too few or many."""
    counts = [] if hasattr(getattr(cls, which), "__wrapped__") else _returned(cls.forward)  # JAX's takes residuals
    if counts and not any(_takes(backward, 1 + n) for n, _ in counts):
        shown = " or ".join(dict.fromkeys(str(n) for n, _ in counts))
        raise TypeError(f"{cls.__name__}: forward returns {shown} outputs, but {which} is defined as {which}{backward} "
                        f"and is called with ctx and a gradient for each output{_at(cls, which)}")  # fmt: skip


def _returned(fn: Any) -> list[tuple[int, int]]:
    """What a function returns, as `returned` says it; of one behind `once_differentiable`, that one."""
    while hasattr(fn, "__wrapped__") and is_own(getattr(getattr(fn, "__code__", None), "co_filename", "")):
        fn = fn.__wrapped__
    code = getattr(fn, "__code__", None)
    return returned(code) if isinstance(code, CodeType) and not hasattr(fn, "__wrapped__") else []
