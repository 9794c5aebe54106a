"""Numbers that code takes of tensors: whether it only returns them, or goes by them.

A program stands for the numbers that Python went by, so one of a step that ends in ``return loss.item()`` would stand
for one loss alone. Numbers are therefore followed while a run is traced: one may be kept in a variable, put into a
tuple, list or dictionary, and returned; then the program gives it anew. Where any other instruction takes it, the run
leaves no program, and the next one goes by the number at this place. A float is known by identity. For whole numbers
and for lists code is given a `Number` that stands for them, whose use ends the run; that must not have made anything
that stays. So it is done only where a program was there for the same state, and they were others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.compilation.watch.libraries import OWN, whose
from gradwright.engine.base import TensorBase

_MOVES = frozenset({
    "STORE_FAST", "STORE_FAST_STORE_FAST", "STORE_FAST_LOAD_FAST", "STORE_FAST_MAYBE_NULL", "RETURN_VALUE", "POP_TOP",
    "SWAP", "COPY",
})  # fmt: skip
_PUTS = frozenset({"BUILD_TUPLE", "BUILD_LIST", "BUILD_MAP", "BUILD_CONST_KEY_MAP", "LIST_APPEND", "MAP_ADD"})
_LOOKS = ("JUMP_IF", "GET_LEN", "MATCH")


class Again(Exception):  # noqa: N818 - no error: this run is made again eagerly, and the next one traced otherwise
    """A traced run has come upon something of which it should have known before."""


class Number:
    """What stands for a number, or for lists of them.

    Attributes:
        node: that of the array, whose it is; None as long as that is not known.
        how: "item", "tolist" or "float".
        stands: whether code has been given this in place of it.
        place: where it was asked for: the code, and the instruction.
    """

    __slots__ = ("how", "node", "numbers", "place", "stands")

    def __init__(self, numbers: Numbers, place: Any, node: Any = None, how: str = "") -> None:
        self.numbers, self.place, self.node, self.how = numbers, place, node, how
        self.stands = True

    def _used(self, *_: Any) -> Any:
        self.numbers.use(self)

    __bool__ = __eq__ = __ne__ = __hash__ = __str__ = __repr__ = __format__ = _used


class Numbers:
    """The numbers that code has taken in one run.

    Attributes:
        used: the places where code goes by them, to which more are added.
        is_on: whether those of other places are followed.
        stand_in: whether code may be given a `Number`, whose use ends the run.
        given: those that were not.
        caught: whether code was seen to use one of them.
    """

    def __init__(self, used: set[Any], is_on: bool = True, stand_in: bool = True) -> None:
        self.used, self.is_on, self.stand_in = used, is_on, stand_in
        self.given: list[Number] = []
        self.caught = False
        self._asking: Any = None
        self._floats: dict[int, tuple[float, Number]] = {}

    def call(self, callee: Any, args: list[Any], place: Any) -> Any:
        """A call is about to be made at a place; a `Number` if it is known to give a float of a tensor."""
        if not self.is_on or place in self.used:
            return None
        if callee is float and len(args) == 1 and isinstance(args[0], TensorBase):
            self._asking = place, "float"
            return Number(self, place)
        if len(args) < 2:
            code = getattr(getattr(callee, "__func__", callee), "__code__", None)
            name = getattr(callee, "__name__", "")
            t = getattr(callee, "__self__", args[0] if args else None)
            if name in ("item", "tolist") and isinstance(t, TensorBase) and code is not None and whose(code) == OWN:
                self._asking = place, name
        return None

    def give(self, node: Any) -> Any:
        """What stands for the number that the call which has been announced asks for; None if it gets the number."""
        if self._asking is None:
            return None
        place, how = self._asking
        self._asking = None
        number = Number(self, place, node, how)
        number.stands = how == "tolist" or (how == "item" and node.dtype.kind != "f")
        if number.stands and not self.stand_in:
            return None
        self.given.append(number)
        if number.stands:
            return number
        found = float(node.value.item())
        self._floats[id(found)] = found, number
        return found

    def of(self, value: Any) -> Number | None:
        """The number that a value stands for; the first of those in a tuple, list or dictionary."""
        kind = type(value)
        if isinstance(value, Number):
            return value
        if kind is float:
            return self._floats.get(id(value), (0.0, None))[1]
        if kind in (tuple, list, dict):
            parts = value.values() if kind is dict else value
            return next((n for v in parts if (n := self.of(v)) is not None), None)
        return None

    def use(self, *numbers: Number) -> None:
        """Code goes by numbers. Raises `Again` where one of them is but stood for."""
        self.caught = True
        self.used.update(number.place for number in numbers)
        if any(number.stands for number in numbers):
            raise Again

    @property
    def stand(self) -> bool:
        """Whether code has been given something that stands for a number."""
        return any(number.stands for number in self.given)

    def give_up(self) -> None:
        """It is not known which of them code goes by, if none was caught."""
        if not self.caught:
            self.used.update(number.place for number in self.given)

    def close(self) -> None:
        """Code may see all its variables: from now on it is given the numbers. Raises `Again` if it has some."""
        self.is_on = False
        if self.given:
            self.use(*self.given)

    def follow(self, name: str, arg: int, stack: list[Any], step: Callable[[], None]) -> None:
        """Follow an instruction, which ``step`` does on a stack. Raises `Again`."""
        self._asking = None
        if not self.given:
            step()
            return
        held = [(k, value, number) for k, value in enumerate(stack) if (number := self.of(value)) is not None]
        if held and held[-1][0] == len(stack) - 1 and name.startswith(_LOOKS):
            self.use(held[-1][2])
        step()
        for k, value, number in held:
            if (k < len(stack) and stack[k] is value) or name in _MOVES:
                continue
            if name not in _PUTS:
                self.use(number)
                continue
            stack[-1 if name.startswith("BUILD") else -arg] = number

    def returned(self, value: Any, is_seen: bool) -> None:
        """Code returns a value; whether that is known to be where the calling code is followed. Raises `Again`."""
        if self.given and not is_seen and (number := self.of(value)) is not None:
            self.use(number)
