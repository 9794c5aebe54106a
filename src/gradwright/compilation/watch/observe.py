"""One observed run of a function: what its Python code read, and what it did beside computing with tensors.

A compiled step does not run the Python code again. So all that this code read must be known, and asked again before
each call (`gradwright.compilation.watch.guards`); and where it did something beside, the step stays as it is.

The code that is observed is the user's and that of other packages, and the modules of ``gradwright.nn``, instruction by
instruction (``sys.settrace`` with opcode events). What is not known to be harmless is refused.
"""

from __future__ import annotations

import copyreg
import gc
import inspect
import random
import sys
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from gradwright.base.changes import SWITCHES, declarations
from gradwright.base.cpython.frames import frame
from gradwright.base.formatting import OPTIONS
from gradwright.base.source_line import Place
from gradwright.compilation.watch import libraries
from gradwright.compilation.watch.calls import Calls
from gradwright.compilation.watch.contents import UnreadError
from gradwright.compilation.watch.effects import UNSEEN, Effects, frozen
from gradwright.compilation.watch.guards import (
    ATTRIBUTE,
    CALLED_WITH,
    EQUAL,
    FAULTS,
    GOT,
    ITEM,
    LENGTH,
    Guard,
    Source,
    is_atom,
)
from gradwright.compilation.watch.instructions import OPCODES
from gradwright.compilation.watch.libraries import (
    OBSERVED,
    OWN,
    STANDARD,
    is_ours,
    is_told_of_end,
    is_tuple_of_ours,
    whose,
)
from gradwright.compilation.watch.numbers import Numbers
from gradwright.compilation.watch.reads import BUFFERS, BYTES, Reads
from gradwright.compilation.watch.stack import LostError, Stack
from gradwright.engine.base import TensorBase
from gradwright.engine.mode import is_grad_enabled, is_inference_mode_enabled
from gradwright.function.contract.reached import ABSENT, closure

_IMPORT = "<frozen importlib._bootstrap>"
_LOST = (LostError, UnreadError, *FAULTS, AssertionError, OverflowError, RecursionError)
_ASKS = ("get_", "is_", "are_")
"""How the names of functions of gradwright's begin that say how something has been set."""
_SUSPENDS = 0x20 | 0x80 | 0x200


def _grad_mode() -> tuple[bool, bool]:
    return is_grad_enabled(), is_inference_mode_enabled()


def _random_states() -> tuple[Any, ...]:
    """Where the generators are from which all may draw."""
    state: Any = np.random.get_state()  # noqa: NPY002 - it is looked at, not drawn from
    return random.getstate(), state[1].tobytes(), *state[2:]


class Refusal:
    """Why a step cannot be compiled: the line, and the reason with the mend."""

    __slots__ = ("place", "reason")

    def __init__(self, place: Place | None, reason: str) -> None:
        self.place, self.reason = place, reason

    def __str__(self) -> str:
        return f"{self.place}\n    {self.reason}" if self.place else self.reason

    __repr__ = __str__


class Observation:
    """The observations of one run of a function.

    Attributes:
        result: what it returned.
        guards: what it read, in order.
        refusals: what it did that a program would not do.
    """

    def __init__(self) -> None:
        self.result: Any = None
        self.guards: list[Guard] = []
        self.refusals: list[Refusal] = []


def observed(function: Callable[..., Any], args: Any = (), kwargs: Any = None,
             adopt: Callable[[Any], Any] = lambda tensor: None,
             then: Callable[[Any], Any] = lambda result: None,
             numbers: Numbers | None = None) -> Observation:  # fmt: skip
    """Run ``function(*args, **kwargs)`` once, and see what its Python code reads and does.

    Lists, tuples and dictionaries in ``args`` and ``kwargs``, and the plain values in them, are the caller's to
    compare; other objects in there are guarded like all that is outside.

    Args:
        function: what to run.
        args, kwargs: its arguments.
        adopt: called with each tensor as soon as the code has it in hand.
        then: called with the result; the code that this runs is observed, too.
        numbers: are told of the numbers that the code takes of tensors.

    Inside of another observed run it only runs the function, which that one observes.

    Raises what the function raises.
    """
    if isinstance(getattr(sys.gettrace(), "__self__", None), _Observer):
        found = Observation()
        found.result = function(*args, **kwargs or {})
        then(found.result)
        found.refusals.append(Refusal(None, "it runs inside of a step that is observed itself"))
        return found
    observer = _Observer(adopt, numbers or Numbers(set(), is_on=False))
    try:
        return observer.run(function, tuple(args), dict(kwargs or {}), then)
    finally:
        observer.reads.forget()


class _Observer:
    def __init__(self, adopt: Callable[[Any], Any], numbers: Numbers) -> None:
        self.found = Observation()
        self.reads = Reads(adopt, numbers)
        self.effects = Effects(self.reads, self.refuse)
        self.calls = Calls(self.reads, self.effects)
        self.frames: dict[Any, Stack] = {}
        self.made: dict[int, Stack] = {}
        self.candidates: dict[int, list[Any]] = {}
        self.asks: dict[Any, tuple[Any, tuple[Any, ...]]] = {}
        self.refused: set[Any] = set()
        self.first: Any = None
        self.importing = False

    # -- the run --

    def run(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], then: Any) -> Observation:
        given = [*args, *kwargs.values()]
        for value in given:
            self.give(value)
        code = getattr(getattr(function, "__func__", function), "__code__", None)
        if code is not None and code.co_flags & _SUSPENDS:
            self.refuse("the step is a generator or asynchronous: it runs piece by piece, later.")
        before, collects, mode, drawn = sys.gettrace(), gc.isenabled(), _grad_mode(), _random_states()
        gc.collect(0)  # so that what is young from now on was made in the call
        gc.disable()
        try:
            self.switches()
            self.enter(function, args, kwargs)
            frame().f_trace_opcodes = True  # Python 3.12 shows instructions only if a frame has asked before
            sys.settrace(self.event)
            try:
                self.found.result = function(*args, **kwargs)
                then(self.found.result)
            finally:
                sys.settrace(before)
            self.effects.returned(self.found.result)
            if _grad_mode() != mode:
                self.refuse("the step leaves the grad mode or inference mode changed. Change it by a `with` block.")
            if _random_states() != drawn:
                self.refuse("random numbers of Python's or of NumPy's are drawn, which a program would keep as they "
                            "are. Use gradwright's, or draw them outside of the step.")  # fmt: skip
        finally:
            if collects:
                gc.enable()
            self.frames.clear()
        self.finish()
        return self.found

    def switches(self) -> None:
        """What holds for the whole process, or this thread, is read by every step."""
        known, step, note = self.reads.known, self.reads.step, self.reads.note
        source = step(known(declarations).source, ITEM, 0)
        note(source, declarations[0], "declarations", "switch")
        for name, switch in SWITCHES.items():
            note(step(known(switch).source, GOT), switch.get(), name, "switch")

    def enter(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """The call itself, as a call that code makes."""
        self.first = self.calls.call(function, list(args), kwargs).function

    def give(self, value: Any, depth: int = 0) -> None:
        """An argument: containers are read without a guard, and may not be changed."""
        if isinstance(value, TensorBase):
            self.reads.meet(value)
            self.reads.given[id(value)] = value
        elif isinstance(value, (list, tuple, dict)) and depth < 20:
            self.reads.give(value)
            for part in value.values() if isinstance(value, dict) else value:
                self.give(part, depth + 1)
        elif isinstance(value, BUFFERS):
            self.refuse(f"an argument {BYTES}")
        elif not is_atom(value):
            self.reads.known(value)

    def finish(self) -> None:
        """Ask all guards again: the step itself may have changed what it read."""
        self.found.guards = self.reads.guards
        for guard in self.reads.guards:
            if not guard.holds():
                self.reads.place = guard.place
                name, value = guard.name, guard.value
                if guard.kind is EQUAL and type(value) in (int, float, complex, bool):
                    self.refuse(frozen(name, guard.of, value))
                else:
                    mend = "Write into it, as by copy_()" if isinstance(value, TensorBase) else "Keep it in a tensor"
                    self.refuse(f"`{name}` ({guard.of}) is another one after the step: it would be frozen as it was. "
                                f"{mend}, or change it outside of the step.")  # fmt: skip

    def refuse(self, reason: str) -> None:
        """Note why it cannot be compiled, with the line that runs."""
        place = self.reads.place
        which = (place.line if place else 0, place.code if place else None, reason)
        if which not in self.refused:
            self.refused.add(which)
            self.found.refusals.append(Refusal(place, reason))

    # -- events --

    def event(self, frame: Any, event: str, arg: Any) -> Any:
        """A frame begins, or goes on."""
        name = frame.f_code.co_filename  # most frames are a library's, called by it
        kind = libraries.known.get(name, OBSERVED)
        if self.importing or (kind != OBSERVED and name != _IMPORT and frame.f_back not in self.frames):
            return None
        try:
            return self.entering(frame)
        except _LOST as lost:
            called = frame.f_code.co_qualname
            self.refuse(f"a call of `{called}` could not be followed ({type(lost).__name__}: {lost}).")
            return None

    def entering(self, frame: Any) -> Any:
        """The trace function of a frame."""
        code = frame.f_code
        parent = self.frames.get(frame.f_back)
        kind = OWN if is_tuple_of_ours(frame) else whose(code)
        if code.co_filename == _IMPORT and code.co_name == "_find_and_load":
            self.importing = True
            frame.f_trace_lines = False
            return self.imported
        if kind != OBSERVED:
            if parent is None:
                return None
            given = _given(frame, code)
            if kind == OWN and is_told_of_end(given):
                return None
            parent.expects = ""
            self.library(frame, code, kind, parent, given)
            if parent.result is None:
                return None
            frame.f_trace_lines = False
            return self.returning
        if frame not in self.frames:
            self.begin(frame, code, parent)
        frame.f_trace = self.inside  # Python 3.13 shows instructions only of frames that have one
        frame.f_trace_lines = False
        frame.f_trace_opcodes = True
        return self.inside

    def library(self, frame: Any, code: CodeType, kind: str, parent: Stack, given: list[Any]) -> None:
        """Observed code has called code of a library, by whatever way, with these arguments."""
        module = frame.f_globals.get("__name__") or ""
        if kind == OWN:
            if code.co_name not in libraries.OWN_EFFECTS:
                parent.unseen = False
            for value in given:
                self.effects.read(value, whole=True, ours=True)
            if code.co_name in ("__repr__", "__str__", "__format__"):
                self.effects.read(OPTIONS, whole=True)
            if code.co_name.startswith(_ASKS) and all(map(is_atom, given)) and parent.result is not None:
                self.asks[frame] = parent.result.function, tuple(given)
            if module.startswith(libraries.OWN_PACKAGES):
                self.refuse(f"`{module}` runs ({code.co_qualname}): {UNSEEN}")
        elif kind == STANDARD:
            if module.partition(".")[0] in libraries.MODULES or module in ("importlib._bootstrap", "_frozen_importlib"):
                parent.unseen = False
                if module == "copy":
                    self.effects.read(copyreg.dispatch_table)
                asks = module in libraries.READ_OBJECTS or code.co_qualname in libraries.ASKS_OBJECTS
                for value in given if asks else ():
                    self.effects.read(value, whole=True)
                for value in given[: code.co_argcount]:
                    self.effects.object_read(value)
            elif parent.result is None or parent.result.function is None:
                self.refuse(f"`{module}.{code.co_qualname}` runs: {UNSEEN}")
        else:
            parent.unseen = False
            for value in given:
                self.effects.read(value, whole=True)
            if module.endswith(".arrayprint"):
                self.refuse("an array is written as text, which depends on NumPy's print options. Do it outside.")

    def imported(self, frame: Any, event: str, arg: Any) -> Any:
        """A module has been loaded, which is done once, whoever asks first."""
        if event == "return":
            self.importing = False
        return self.imported

    def returning(self, frame: Any, event: str, arg: Any) -> Any:
        """Of code that is not observed, what it returns is seen."""
        if event == "return":
            parent = self.frames.get(frame.f_back)
            function, given = self.asks.pop(frame, (None, ()))
            if function is not None and is_atom(arg):
                source = self.reads.step(self.reads.known(function).source, CALLED_WITH, given)
                self.reads.note(source, arg, f"{function.__name__}()", "switch")
            if parent is not None:
                parent.returned(frame.f_code, arg)
        return self.returning

    def inside(self, frame: Any, event: str, arg: Any) -> Any:
        """Something happens in an observed frame."""
        shadow = self.frames.get(frame)
        if shadow is None:
            return None
        if event == "opcode":
            if not shadow.lost:
                self.reads.place = Place(frame.f_code, frame.f_lasti)
                self.reads.ours = shadow.ours
                try:
                    self.unseen(shadow)
                    shadow.advance(frame, self.made)
                except _LOST as lost:
                    shadow.lost = True
                    plain = isinstance(lost, UnreadError)
                    why = f"{lost}" if plain else f"this line could not be followed ({type(lost).__name__}: {lost})."
                    self.refuse(why)
        elif event == "exception":
            shadow.raised = True
        elif event == "return":
            self.unseen(shadow)
            last = shadow.last
            if last is None and not shadow.raised:
                self.refuse("this interpreter does not show the instructions of the step.")
            if last is None or last.name != "YIELD_VALUE":
                self.frames.pop(frame, None)
            parent = self.frames.get(frame.f_back)
            seen = frame.f_back.f_code is _RUN if parent is None else parent.returned(frame.f_code, arg)
            self.reads.numbers.returned(arg, seen)
        return self.inside

    def unseen(self, shadow: Stack) -> None:
        """A call of something that was not known has been made: it was Python code, or is refused."""
        if shadow.unseen:
            shadow.unseen = False
            self.refuse("something that cannot be followed is called here. Give it a name first: f = ...; f(...)")
        if shadow.expects:
            name, shadow.expects = shadow.expects, ""
            self.refuse(f"the attribute `{name}` is found by compiled code: {UNSEEN}")

    def begin(self, frame: Any, code: CodeType, parent: Stack | None) -> None:
        """A new frame."""
        first = frame.f_locals.get(code.co_varnames[0]) if code.co_argcount else None
        if parent is not None:
            parent.begun(code, first)
            parent.unseen, parent.expects = False, ""
        functions, outer = self.functions_of(frame, code, first, parent)
        self.frames[frame] = Stack(self.calls, code, functions, outer, OPCODES)
        if parent is None:
            self.arguments(frame, code)
        for function in functions:
            self.function(function)

    def arguments(self, frame: Any, code: CodeType) -> None:
        """Code that was not called by observed code may have been given what was there before."""
        count = code.co_argcount + code.co_kwonlyargcount
        for name in code.co_varnames[:count]:
            value = frame.f_locals.get(name)
            if is_atom(value) or isinstance(value, TensorBase) or self.reads.is_outside(value):
                continue
            if isinstance(value, dict) and not gc.is_tracked(value):  # it may be old, too
                self.reads.register(value, Source.of(value), name)

    def function(self, function: Any) -> None:
        """The code and the default arguments of a function are read by a call."""
        if is_ours(function.__code__):
            return
        known = self.reads.known(function)
        code = function.__code__
        self.reads.note_attribute(function, "__code__", code, "function")
        step, note, name = self.reads.step, self.reads.note, function.__qualname__
        if function.__defaults__:
            source = step(known.source, ATTRIBUTE, "__defaults__")
            self.reads.guard(source, LENGTH, len(function.__defaults__), f"{name}.__defaults__", "default arguments")
            first = code.co_argcount - len(function.__defaults__)
            for k, value in enumerate(function.__defaults__):
                note(step(source, ITEM, k), value, code.co_varnames[first + k], f"default argument of {name}")
        for key, value in (function.__kwdefaults__ or {}).items():
            source = step(step(known.source, ATTRIBUTE, "__kwdefaults__"), ITEM, key)
            note(source, value, key, f"default argument of {name}")

    def functions_of(self, frame: Any, code: CodeType, first: Any, parent: Stack | None
                     ) -> tuple[list[Any], Stack | None]:  # fmt: skip
        """The functions from outside whose code runs in a frame, and where it was defined if that was in this call."""
        outer = self.made.get(id(code))
        called = parent.result.function if parent is not None and parent.result is not None else self.first
        if parent is None:
            self.first = None
        if called is None:
            called = self.calls.generators.get(id(code))
        if isinstance(called, FunctionType) and called.__code__ is code:
            return ([called], None) if self.reads.is_outside(called) or outer is None else ([], outer)
        if outer is not None and (code.co_name.startswith("<") or is_ours(code)):
            return [], outer
        if not code.co_freevars and not code.co_argcount and not code.co_kwonlyargcount:
            return [], outer
        found = self.named(frame, code, first)
        if not found:
            if id(code) not in self.candidates:
                self.candidates[id(code)] = [f for f in gc.get_referrers(code) if isinstance(f, FunctionType)]
            found = [f for f in self.candidates[id(code)] if _is_closed_over(f, frame)]
        return [f for f in found if outer is None or self.reads.is_outside(f)], outer

    def named(self, frame: Any, code: CodeType, first: Any) -> list[Any]:
        """A function that is found by its name."""
        for kind in (type(first), first):
            if isinstance(kind, type):
                for owner in kind.__mro__:
                    held = owner.__dict__.get(code.co_name)
                    found = _unwrapped(held, code)
                    if found is not None:
                        self.reads.of_kind(kind, owner, code.co_name, held)
                        return [found]
        found = _unwrapped(frame.f_globals.get(code.co_name), code)
        return [] if found is None or code.co_freevars else [found]  # other functions may share the code of a closure


def _given(frame: Any, code: CodeType) -> list[Any]:
    """The arguments of a frame that begins."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    held = frame.f_locals
    return [held.get(name) for name in code.co_varnames[:count]]


def _is_closed_over(function: Any, frame: Any) -> bool:
    """Whether a function shares the variables that a frame sees."""
    return all(frame.f_locals.get(spot.name, ABSENT) is spot.get() for spot in closure(function))


def _unwrapped(value: Any, code: CodeType) -> Any:
    """The function of which a value is made, if it has this code."""
    for one in (value, getattr(value, "__func__", None), getattr(value, "fget", None), getattr(value, "fset", None)):
        if isinstance(one, FunctionType) and one.__code__ is code:
            return one
    return None


_RUN = _Observer.run.__code__
