"""`compile`, as users call it."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from functools import partial, update_wrapper, wraps
from types import MethodType
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

from gradwright.backends.numpy import NUMPY
from gradwright.base.compiler.find import find
from gradwright.base.source_line import warn
from gradwright.compilation.by_c import COMPILERS, C, CannotCompileError
from gradwright.compilation.by_numpy.plan import Plan
from gradwright.compilation.by_xla import Xla
from gradwright.compilation.compiled import CompileWarning, Programs
from gradwright.compilation.explain import METHODS
from gradwright.compilation.node import Program, Runner

if TYPE_CHECKING:
    from gradwright.nn.module import Module

BACKENDS = ("auto", "plan", "c", "xla", "eager")
TORCHS = {"inductor": "auto", "aot_eager": "plan"}
_CHECKS = ("first", "always", "never")


P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)
M = TypeVar("M", bound="Module")


class Options(TypedDict, total=False):
    """The options of `compile`."""

    backend: str
    exact: bool
    check: str
    fullgraph: bool
    dynamic: bool | None
    mode: Any
    options: Any
    disable: bool


class Compiled(Protocol[P, R_co]):
    """A compiled function: called as the function is, and asked about its programs (see `docs/compiling.md`)."""

    explain: Callable[..., Any]
    source: Callable[..., str]
    guards: Callable[..., Any]
    reset: Callable[[], None]
    programs: Programs

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


@overload
def compile(function: M, **options: Unpack[Options]) -> M: ...
@overload
def compile(function: Callable[P, R_co], **options: Unpack[Options]) -> Compiled[P, R_co]: ...
@overload
def compile(function: None = None, **options: Unpack[Options]) -> Callable[[Callable[P, R_co]], Compiled[P, R_co]]: ...
def compile(function: Any = None, *, backend: str = "auto", exact: bool = False, check: str = "first",
            fullgraph: bool = False, dynamic: bool | None = None, mode: Any = None, options: Any = None,
            disable: bool = False) -> Any:  # fmt: skip
    """A function that does what ``function`` does, as a program that is made of one of its runs.

    ``function`` is any function of tensors: a formula, a training step with its backward pass and optimiser, a module.
    The first call runs it; the second one, too, and leaves a program; the third runs both and compares them: results,
    gradients, everything written. From then on calls run the program, unless that has proved slower than the function.
    Whatever the function has read besides (tensors outside, numbers, attributes, flags) is looked at before: if it is
    not as it was, the function is run again and leaves another program; after eight, it runs eagerly, with a warning
    that says what varied.

    Args:
        function: a function or a module; without one, a decorator is returned. A module comes back as one of its class
            that shares everything with it: parameters, buffers, hooks, mode.
        backend: "c" (loops in C, by the system's compiler), "plan" (NumPy, with its memory laid out before), "xla"
            (JAX's compiler: the ``jax`` extra), "auto" (C where there is a compiler, else plan; or what the environment
            variable ``GRADWRIGHT_COMPILE`` names), "eager" (the function itself). PyTorch's "inductor" is "auto", its
            "aot_eager" is "plan".
        exact: numbers are the eager run's to the bit, as it is under ``gradwright.kernels("numpy")``.
        check: "first" (of each program the runs 1, 4, 16, 64 ... are compared), "always" (each run, for tests; one that
            differs raises AssertionError), "never".
        fullgraph: what cannot be compiled is a RuntimeError, not a run that is eager.
        dynamic: whether a first dimension may vary in one program: None (once it has varied), True or False.
        mode, options: PyTorch's; without effect.
        disable: return ``function`` itself.

    Returns:
        A function with the same name and doc, and with ``explain()``, ``source()``, ``guards()`` and ``reset()``.

    Raises:
        TypeError: ``function`` cannot be called.
        ValueError: ``backend`` or ``check`` is none of those.

    >>> w = gw.tensor([1.0, 2.0], requires_grad=True)
    >>> @gw.compile
    ... def step(x):
    ...     loss = ((w * x) ** 2).sum()
    ...     loss.backward()
    ...     with gw.no_grad():
    ...         w.sub_(0.1 * w.grad)
    ...     w.grad = None
    ...     return loss
    >>> [round(step(gw.ones(2)).item(), 4) for _ in range(4)]
    [5.0, 3.2, 2.048, 1.3107]
    """
    settings: dict[str, Any] = {"exact": exact, "check": check, "dynamic": dynamic}
    options = {**settings, "backend": backend, "fullgraph": fullgraph}
    if function is None:
        return partial(compile, **options, disable=disable)
    if not callable(function):
        raise TypeError(f"compile(): expected a function or a module, but got {type(function).__name__}")
    if check not in _CHECKS:
        raise ValueError(f"compile(): check must be one of {', '.join(map(repr, _CHECKS))}, but got {check!r}")
    backend = TORCHS.get(backend, backend)
    if backend == "auto":
        backend = os.environ.get("GRADWRIGHT_COMPILE") or "auto"
    make = runner_of(backend, exact)
    if disable or backend == "eager":
        return function
    if isinstance(function, type):
        raise TypeError("compile(): expected a function or a module, but got a class: compile what it makes")
    settings["strict"] = fullgraph
    if backend == "auto" and find("CC", COMPILERS) is not None:
        settings["other"] = runner_of("plan", exact)
    if hasattr(function, "forward") and hasattr(function, "_parameters"):
        return _module(function, partial(Programs, make=make, **settings), options)
    made = _Method if isinstance(function, MethodType) else _function
    return made(function, Programs(function, make, **settings), options)


def runner_of(backend: str, exact: bool) -> Callable[[Program], Any]:
    """The backends that make a program ready, by name."""
    if backend not in BACKENDS:
        raise ValueError(f"compile(): backend must be one of {', '.join(map(repr, BACKENDS))}, but got {backend!r}")
    by_numpy = backend == "plan" or (backend == "auto" and find("CC", COMPILERS) is None)
    own = Xla if backend == "xla" else Plan if by_numpy else _c
    told: list[bool] = [] if backend in ("plan", "c") else [True]

    def make(program: Program) -> Runner:
        if program.library is NUMPY:
            return own(program, exact)
        if not told:
            told.append(True)
            warn(f"compile: backend={backend!r} makes programs of NumPy's arrays; those of {program.library.name} are "
                 "run by XLA (backend='xla')", CompileWarning)  # fmt: skip
        return Xla(program, exact)

    return make


def _c(program: Program, exact: bool) -> Runner:
    try:
        return C(program, exact)
    except CannotCompileError as e:
        warn(f"compile: programs are run by NumPy (backend='plan'), since C cannot be compiled: {e}", CompileWarning)
        return Plan(program, exact)


def _function(function: Callable[..., Any], programs: Programs, options: dict[str, Any]) -> Any:
    @wraps(function)
    def compiled(*args: Any, **kwargs: Any) -> Any:
        return programs.call(args, kwargs)

    compiled.programs = programs  # type: ignore[attr-defined]
    for name, f in METHODS.items():
        setattr(compiled, name, partial(f, programs))
    return compiled


class _Method:
    """A compiled method of an object: with a copy of the object, it is one of that."""

    def __init__(self, method: Any, programs: Programs, options: dict[str, Any]) -> None:
        update_wrapper(self, method)
        self.programs, self._options = programs, options
        vars(self).update({name: partial(f, programs) for name, f in METHODS.items()})

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.programs.call(args, kwargs)

    def __deepcopy__(self, memo: Any) -> Any:
        return compile(copy.deepcopy(self.programs.function, memo), **self._options)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return partial(compile, **self._options), (self.programs.function,)


def _module(module: Any, make: Callable[[Any], Programs], options: dict[str, Any]) -> Any:
    """A module over the same attributes, of a class of its own below that of the module, whose call is compiled."""
    out: Any = object.__new__(_compiled_class(module, make, options))
    object.__setattr__(out, "__dict__", module.__dict__)
    return out


def compile_in_place(module: Any, **options: Any) -> None:
    """Let the calls of a module be compiled from now on, as those of what `compile` returns."""
    made = compile(module, **options)
    if made is not module:
        module.__class__ = type(made)


def _compiled_class(module: Any, make: Callable[[Any], Programs], options: dict[str, Any]) -> Any:
    cls = type(module)
    plain = object.__new__(cls)
    object.__setattr__(plain, "__dict__", module.__dict__)
    programs = make(plain)

    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        return programs.call(args, kwargs)

    def deepcopy(self: Any, memo: Any) -> Any:
        return compile(copy.deepcopy(plain, memo), **options)

    def reduce(self: Any, protocol: Any) -> Any:
        return partial(compile, **options), (plain,)

    told = {name: staticmethod(partial(f, programs)) for name, f in METHODS.items() if not hasattr(cls, name)}
    return type(cls.__name__, (cls,), {**told, "__call__": call, "__module__": cls.__module__, "__doc__": cls.__doc__,
                                       "__qualname__": cls.__qualname__, "programs": programs,
                                       "__deepcopy__": deepcopy, "__reduce_ex__": reduce})  # fmt: skip
