"""Optimisers as rules: functions of a parameter, its gradient, state and settings, that return new values.

A rule is written once, in the language of the formulas: against `xp`, without writing in place, without a branch on a
value. It is run in one of two ways.

`Ruled` runs it for one parameter after another, on arrays of any library, or on tensors, where the step is recorded.

`Fused` runs a rule that works entry by entry over many parameters of NumPy's at once, in one pass over few large
buffers. The state of many parameters of one dtype lies end to end in a few flat buffers, a `Block`; what the user finds
in ``optimizer.state[p]`` are views of these; see `gradwright.backends.fused`. Nothing is taken for granted from one
step to the next: a parameter's memory may be exchanged, and its state replaced.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from types import ModuleType
from typing import Any

from gradwright.backends import namespace
from gradwright.backends.devices import device_of
from gradwright.backends.fused import Memory, is_large, is_numpy, sharing
from gradwright.backends.in_place import InPlace
from gradwright.base import dtypes
from gradwright.base.cpython.at_once import at_once
from gradwright.base.errors import size
from gradwright.engine import mode
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.grad_mode import no_grad
from gradwright.engine.memory import writable
from gradwright.engine.version import bump_all
from gradwright.engine.view import assign_all, check_writable
from gradwright.engine.watch import repeated, setting, used
from gradwright.face import xp
from gradwright.face.tensor import Tensor
from gradwright.optim.optimizer import Stepping, number

_FORMS = {bool, tuple, type(None)}


class Ruled(Stepping):
    """An optimiser that has a rule. A subclass defines `_remembered` or `_initial_state`, `_numbers` and `_rule`."""

    _decay = "added"
    """What ``weight_decay`` does unless an option says it: "added" to the gradient, "decoupled", or the rule's."""
    _takes_complex = True

    _remembered: tuple[str, ...] = ()
    """The arrays that are remembered of a parameter, beside the number of steps, unless `_initial_state` says it."""

    def _initial_state(self, *shape: Any, **options: Any) -> tuple[dict[str, float], dict[str, float]]:
        """What is remembered of a parameter of some shape, with initial values: numbers, and arrays.

        A number whose name begins with an underscore is not part of the state that users see; it is zero for state
        that comes from elsewhere.
        """
        return {"step": 0.0}, dict.fromkeys(self._remembered, 0.0)

    def _shape(self, name: str, shape: Any) -> Any:
        """The shape of the state under a name: that of the parameter."""
        return shape

    def _numbers(self, xp: Any, *args: Any, **given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """The numbers of one step: the new ones of those that are kept, and those that the rule is given.

        ``given`` are the options, and the numbers that are kept, as floats or as values of `xp` in float64. What is
        None, a bool or a tuple says which formula is meant; all else is handed to the rule in the dtype of its arrays.
        """
        raise NotImplementedError

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, *args: Any, **given: Any) -> dict[str, Any]:
        """The formula: the new parameter, "p", and the new arrays of its state, by name.

        ``given`` are the arrays and the numbers. Complex numbers come as pairs of real ones, 16-bit ones as float32.
        """
        raise NotImplementedError

    def _step(self, xp: Any, now: dict[str, Any], options: dict[str, Any]) -> tuple[Any, ...]:
        """What `whole` needs to know, the numbers to keep, and those that the rule is given."""
        kept, given = self._numbers(xp, **now, **options)
        decay = options.get("weight_decay", 0)
        decays = "decoupled" if options.get("decoupled_weight_decay") else self._decay
        if decays == "the rule's" or (isinstance(decay, (int, float)) and decay == 0):
            decays = ""
        else:
            given["decay"] = 1 - options["lr"] * decay if decays == "decoupled" else decay
        forms: dict[str, Any] = {}
        numbers: dict[str, Any] = {}
        for name, value in given.items():
            (forms if type(value) in _FORMS else numbers)[name] = value
        return (self._rule, bool(options.get("maximize")), decays, tuple(forms.items())), kept, numbers

    def _advance(self, group: dict[str, Any]) -> None:
        recorded = bool(group.get("differentiable"))
        options = group if recorded else plain(group)
        for p in group["params"]:
            if getattr(p, "_grad", None) is not None:
                self._advance_one(p, options, recorded)

    def _held(self, p: Any, numbers: dict[str, float], arrays: dict[str, float]) -> dict[str, Any]:
        """What users see of a parameter's state: what they have put there, in the parameter's library, or the start."""
        held, shape = self.state[p] if numbers or arrays else {}, tuple(p.shape)
        starts = {name: start for name, start in (numbers | arrays).items() if name[0] != "_"}
        shapes = {name: () if name in numbers else self._shape(name, shape) for name in starts}
        check_state(held, shapes, shape)
        at, found = device_of(p.array), {}
        for name, start in starts.items():
            value = held.get(name)
            if isinstance(value, TensorBase):
                used((value,))
                found[name] = value if device_of(value.array) == at else wrap(at.hold(value.array))
            else:
                dtype = number_dtype() if name in numbers else p.dtype
                first = start_of(start, dtype) if value is None else value
                found[name] = xp.zeros_like(p, shape=shapes[name], dtype=dtype) + first
        return found

    def _advance_one(self, p: Any, options: dict[str, Any], recorded: bool) -> None:
        """A step for one parameter, of tensors; gradients flow through it if it is ``recorded``."""
        used((p, p._grad))
        if p.is_complex() and not self._takes_complex:
            raise RuntimeError(f"{type(self).__name__} does not support complex parameters")
        numbers, arrays = self._initial_state(tuple(p.shape), **options)
        held = self.state[p] if numbers or arrays else {}
        begun = any(held.get(name) is not None for name in arrays)
        found = self._held(p, numbers, arrays)
        new, *values = self._stepped_by(options, recorded, begun, (p, p._grad), found, numbers, arrays)
        made = dict(zip(found, values, strict=True))
        here = {name for name in found if not recorded and held.get(name) is found[name]}
        assign_all([(p, new), *[(found[name], made.pop(name)) for name in here]], (held.update, made))

    def _stepped_by(self, options: dict[str, Any], recorded: bool, begun: bool, pair: tuple[Any, Any],
                    found: dict[str, Any], numbers: dict[str, float], arrays: dict[str, float]) -> Any:  # fmt: skip
        """The new parameter, and what is remembered of it, as tensors."""

        def step(p: Any, g: Any, *values: Any) -> list[Any]:
            kind = dtypes.float32 if p.dtype.itemsize == 2 else p.dtype.to_real()
            held = dict(zip(found, values, strict=True))

            def wide(t: Any) -> Any:
                return xp.astype(xp.view_as_real(t) if p.is_complex() else t, kind, copy=False)

            def narrow(t: Any, like: Any = p) -> Any:
                return xp.astype(xp.view_as_complex(t) if p.is_complex() else t, like.dtype, copy=False)

            now: dict[str, Any] = {"dtype": p.dtype}
            for name, start in numbers.items():
                hidden = 0.0 if begun else start
                now[name] = xp.reshape(xp.astype(held[name], dtypes.float64), ()) if name in held else hidden
            form, kept, given = self._step(xp, now, options)
            given = {name: Number(xp.reshape(xp.astype(value, dtypes.float64), ()), kind)
                     if isinstance(value, Tensor) else value for name, value in given.items()}  # fmt: skip
            state = {name: wide(held[name]) for name in arrays}
            new = whole(*form)(_Meeting(), p=wide(p), g=wide(g), **state, **given)
            return [narrow(new["p"]), *[narrow(new[name], held[name]) if name in arrays else
                                        xp.astype(kept[name], number_dtype()) for name in held]]  # fmt: skip

        tensors = (*pair, *found.values())
        return step(*tensors) if recorded else repeated((id(options), begun, *found), step, tensors)


class Number:
    """A number that a rule is given as a tensor: in double precision until it meets an array, as Python's floats are.

    Attributes:
        tensor: a 0-d tensor.
        dtype: that of the arrays that it meets.
    """

    def __init__(self, tensor: Any, dtype: Any) -> None:
        self.tensor, self.dtype = tensor, dtype

    def with_other(self, f: Callable[[Any, Any], Any], other: Any, swapped: bool) -> Any:
        """What an operator makes of it and another value."""
        is_number = not isinstance(other, TensorBase)
        mine = self.tensor if is_number else met(self)
        theirs = other.tensor if isinstance(other, Number) else other
        found = f(theirs, mine) if swapped else f(mine, theirs)
        return Number(found, self.dtype) if is_number else found

    def __neg__(self) -> Number:
        return Number(-self.tensor, self.dtype)


def _operator(f: Callable[[Any, Any], Any], swapped: bool = False) -> Callable[[Number, Any], Any]:
    return lambda x, other: x.with_other(f, other, swapped)


for _f in (operator.add, operator.sub, operator.mul, operator.truediv):
    setattr(Number, f"__{_f.__name__}__", _operator(_f))
    setattr(Number, f"__r{_f.__name__}__", _operator(_f, swapped=True))
for _f in (operator.lt, operator.gt):
    setattr(Number, f"__{_f.__name__}__", _operator(_f))


def met(x: Any) -> Any:
    """A number as the tensor that meets arrays; all else as it is."""
    if not isinstance(x, Number):
        return x
    return xp.astype(x.tensor, x.dtype) if x.tensor.dtype is dtypes.float64 else x.tensor


class _Meeting:
    """The namespace of tensors, for rules that are given numbers as tensors."""

    def __getattr__(self, name: str) -> Any:
        f = getattr(xp, name)
        if isinstance(f, (dtypes.dtype, ModuleType)):
            return f
        return lambda *args, **kwargs: f(*map(met, args), **kwargs)


def plain(options: dict[str, Any]) -> dict[str, Any]:
    """Options in which what may be a tensor of one element is a Python number."""
    if not mode.now().watches:
        return {name: value if value.__class__ in _READ or name == "params" else number(value)
                for name, value in options.items()}  # fmt: skip
    taken = {name: value if name == "params" else setting(options, name) for name, value in options.items()}
    return {name: number(options[name]) if value is NotImplemented else value for name, value in taken.items()}


_READ = frozenset({float, int, bool, type(None)})
"""Classes of options that are as they are."""


def whole(rule: Callable[..., Any], maximize: bool, decays: str, forms: tuple[Any, ...]) -> Callable[..., Any]:
    """The rule, behind what all have in common: the sign of the gradient, and the decay of weights."""

    def step(xp: Any, p: Any, g: Any, decay: Any = None, **given: Any) -> dict[str, Any]:
        g = -g if maximize else g
        if decays == "decoupled":
            p = decay * p
        elif decays:
            g = g + decay * p
        return rule(xp, p, g, **dict(forms), **given)

    return step


def average(mean: Any, x: Any, keep: Any) -> Any:
    """An average, moved towards x."""
    return keep * mean + (1 - keep) * x


def number_dtype() -> dtypes.dtype:
    """The dtype in which "step" and other numbers are kept."""
    return dtypes.float64 if dtypes.default() is dtypes.float64 else dtypes.float32


def start_of(value: float, dtype: dtypes.dtype) -> complex:
    """An initial value for arrays of a dtype: both parts of a complex number begin there."""
    return complex(value, value) if dtype.is_complex else value


def check_state(held: dict[str, Any], shapes: dict[str, Any], shape: Any) -> None:
    """Raise KeyError if a part of a parameter's state is missing, RuntimeError if one has another shape."""
    missing = [name for name in shapes if name not in held]
    if 0 < len(missing) < len(shapes):
        raise KeyError(
            f"{', '.join(missing)}: missing in the state of a parameter of shape {size(shape)}, which has "
            f"{', '.join(name for name in shapes if name in held)}: empty it to begin anew"
        )
    for name, expected in shapes.items():
        value = held.get(name)
        found = expected if value is None else tuple(getattr(value, "shape", ()))
        if found != expected and (expected or found != (1,)):
            raise RuntimeError(f"The size of {name} {size(found)}, in the state of a parameter of shape {size(shape)}, "
                               f"must be {size(expected)}: is it another parameter's?")  # fmt: skip


class Fused(Ruled):
    """An optimiser whose rule works element by element, on parameters of any shape."""

    def _advance(self, group: dict[str, Any]) -> None:
        params = [p for p in group["params"] if getattr(p, "_grad", None) is not None]
        if group["differentiable"]:
            super()._advance(group)
            return
        used([*params, *[p._grad for p in params]])
        options = plain(group)
        if others := [p for p in params if not is_numpy(p.array)]:
            for p in others:
                self._advance_one(p, options, False)
            params = [p for p in params if is_numpy(p.array)]
        places = self._places(params, *self._initial_state(**options))
        if mode.now() is not mode.UNRECORDED:  # somebody looks on
            for p in params:
                check_writable(p, False)
        for block, slots in places.items():
            for run, now in block.memory.runs(slots):
                form, kept, given = self._step(block.xp, now, options)
                rule = _in_place(form, ("p", "g", *block.memory.buffers), tuple(given))
                grads = [p._grad.array for p in block.params[run.start : run.stop]]
                calls = block.memory.updates(run, grads, rule, given.values()) + block.memory.remembering(run, kept)
                bump_all([p._counter for p in block.params[run.start : run.stop]])
                at_once(calls)

    @no_grad()
    def _begin(self, params: list[Any], numbers: dict[str, float], arrays: dict[str, float]) -> None:
        """Make the state of parameters before the first step."""
        for p in params:
            if not is_numpy(p.array):
                self.state[p] = self._held(p, numbers, arrays)
        self._places([p for p in params if is_numpy(p.array)], numbers, arrays)

    def _places(self, params: list[Any], numbers: dict[str, float], arrays: dict[str, float]) -> Any:
        """The places of parameters, as numbers in blocks; new blocks are made for strangers."""
        places: dict[int, tuple[Block, int]] = vars(self).setdefault("_where", {})
        names = (*numbers, *arrays)
        strangers = [
            p for p in params
            if (place := places.get(id(p))) is None or place[0].names != names or not place[0].knows(place[1])
        ]  # fmt: skip
        while True:
            for block in _laid_out(strangers, self.state, numbers, arrays):
                places.update((id(p), (block, i)) for i, p in enumerate(block.params))
            found: dict[Block, list[int]] = {}
            starts: dict[Block, dict[str, Any]] = {}
            strangers = []
            for p in params:
                block, i = places[id(p)]
                if block.held[i]:
                    if block not in starts:
                        starts[block] = block.starts(numbers, arrays)
                    if not block.settle(i, self.state, starts[block]):
                        strangers.append(p)
                found.setdefault(block, []).append(i)
            if not strangers:
                return found


@lru_cache(maxsize=256)
def _in_place(form: tuple[Any, ...], arrays: tuple[str, ...], numbers: tuple[str, ...]) -> InPlace:
    return InPlace(whole(*form), arrays, numbers)


def is_wide(p: Any, held: Any, names: Iterable[str]) -> bool:
    """Whether numbers of more bits than a 16-bit parameter has were put into its state, to be kept as they are."""
    dtypes_of = [getattr(held.get(name), "dtype", p.dtype) for name in names] if held and p.dtype.itemsize == 2 else []
    return any(dtype.itemsize > 2 for dtype in dtypes_of)


def _laid_out(params: list[Any], state: Any, numbers: dict[str, float], arrays: dict[str, float]) -> Iterator[Block]:
    """Blocks for these parameters, one for each dtype, of theirs and of their state.

    Large parameters come last, so that the small ones are neighbours; but not where the order could matter.
    """
    by_dtype: dict[Any, dict[int, Any]] = {}
    for p in params:
        by_dtype.setdefault((p.array.dtype, is_wide(p, state.get(p), arrays)), {})[id(p)] = p
    for (_, wide), group in by_dtype.items():
        members = list(group.values())
        if not sharing([p.array for p in members]):
            members.sort(key=lambda p: is_large(p.array))
        yield Block(members, numbers, arrays, wide)


class Block:
    """The state of some parameters of one dtype.

    Attributes:
        params: the parameters.
        names: of each parameter's state.
        memory: where that lies.
        xp: the namespace of its arrays.
        held: for each parameter, what its state consists of: names, tensors and the arrays under these.
        wide: whether that is of float32, of parameters of 16 bits.
    """

    def __init__(self, params: list[Any], numbers: dict[str, float], arrays: dict[str, float], wide: bool) -> None:
        self.params, self.wide = params, wide
        self.names = (*numbers, *arrays)
        for p in params:
            check_writable(p, False)
        self.memory = Memory([writable(p) for p in params], arrays, numbers, number_dtype().dtype, wide)
        self.xp = namespace(self.memory.numbers)
        self._hides = any(name[0] == "_" for name in self.names)
        counters: dict[str, list[Any]] = {name: [0] for name in self.names}
        self.held = [
            [(name, wrap(a, None, counters[name]), a) for name, a in self.memory.views(i) if name[0] != "_"]
            for i in range(len(params))
        ]

    def knows(self, i: int) -> bool:
        """Whether parameter ``i`` still fits its place; it may have been given other memory."""
        p = self.params[i]
        if p.array is not self.memory.arrays[i]:
            if not self.memory.fits(i, p.array):
                return False
            check_writable(p, False)
            self.memory.place(i, writable(p))
        return True

    def starts(self, numbers: dict[str, float], arrays: dict[str, float]) -> dict[str, Any]:
        """Initial values as they are written into the memory."""
        dtype = dtypes.of(self.memory.arrays[0].dtype)
        return numbers | {name: start_of(value, dtype) for name, value in arrays.items()}

    def settle(self, i: int, state: Any, start: dict[str, Any]) -> bool:
        """See that what ``state`` has for parameter ``i`` are our views; what else it has, is copied into them.

        If it has nothing, that is what there is at the ``start``, which depends on the options of today. False if the
        numbers would not fit.
        """
        mine = state.get(self.params[i])
        if mine is None:
            mine = state[self.params[i]] = {}
        for name, t, array in self.held[i]:
            if mine.get(name) is not t or t.array is not array:
                break
        else:
            return True
        if is_wide(self.params[i], mine, self.memory.buffers) != self.wide:
            return False
        if mine:
            check_state(mine, {name: array.shape for name, _, array in self.held[i]}, self.memory.arrays[i].shape)
        if self._hides:
            begun = any(mine.get(name) is not None for name in self.memory.buffers)
            for name, array in self.memory.views(i):
                if name[0] == "_":
                    array[...] = 0.0 if begun else start[name]
        for name, t, array in self.held[i]:
            value = mine.get(name)
            if value is None:
                array[...] = start[name]
            elif value is not t or t.array is not array:
                array[...] = getattr(value, "array", value)
                t.array = array
        mine.update({name: t for name, t, _ in self.held[i]})  # at once: none is missing after an interrupt
        return True
