"""What may change from call to call, where random numbers stand and what Python code keeps: noted, and put back."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from gradwright.backends.generator import shared
from gradwright.engine.base import TensorBase
from gradwright.function.contract.reached import Spot, named


class Streams(NamedTuple):
    """The states of the generators of Python, NumPy, gradwright and, if it is there, PyTorch."""

    python: Any
    numpy: Any
    ours: bytes
    torch: Any

    @classmethod
    def now(cls) -> Streams:
        """As they are."""
        torch = known_torch()
        theirs = None if torch is None else torch.default_generator.get_state()
        return cls(random.getstate(), np.random.get_state(), shared.get_state(), theirs)  # noqa: NPY002 - the user's

    def put_back(self) -> None:
        """Draw on as from there."""
        random.setstate(self.python)
        np.random.set_state(self.numpy)  # noqa: NPY002 - the user's
        shared.set_state(self.ours)
        torch = known_torch()
        if torch is not None and self.torch is not None:
            torch.default_generator.set_state(self.torch)


def known_torch() -> Any:
    """PyTorch itself, if the program has imported it; it is never imported for this."""
    torch = sys.modules.get("torch")
    return torch if torch is not None and hasattr(torch, "_C") and hasattr(torch, "default_generator") else None


class State:
    """What the code of some functions names and may change: globals, closed-over values and attributes of both.

    Numbers, strings, lists, dictionaries, sets, arrays, tensors and generators of random numbers are put back; what
    objects of other kinds hold deeper inside, and what is written to files, is not.
    """

    def __init__(self, functions: Any) -> None:
        self.undo: list[Callable[[], None]] = []
        for spot in {(id(s.scope), s.key): s for function in functions for s in named(function)}.values():
            self._keep(spot)

    def _keep(self, spot: Spot) -> None:
        value = spot.get()
        change: Callable[[], None] | None = None
        if isinstance(value, (list, set, dict)):
            change = partial(_refill, value, value.copy())
        elif not (value is None or isinstance(value, (bool, int, float, complex, str, tuple))):
            change = _content(value)
            if change is None:
                return
        self.undo.append(lambda: None if spot.get() is value else spot.put(value))
        self.undo += [] if change is None else [change]

    def put_back(self) -> None:
        """Make it as it was."""
        for change in self.undo:
            change()


def state_between_calls(functions: Sequence[Any], owner: Any, kinds: tuple[type, ...]) -> dict[str, Any]:
    """The values of these kinds that last from call to call: on a class, and in what functions' code names."""
    found = {f"{owner.__name__}.{k}": v for k, v in vars(owner).items() if not k.startswith("_")}
    found |= {spot.name: spot.get() for function in functions for spot in named(function)}
    return {k: v for k, v in found.items() if isinstance(v, kinds)}


def _refill(value: Any, inside: Any) -> None:
    if isinstance(value, list):
        value[:] = inside
    elif value != inside:
        value.clear()
        value.update(inside)


def _content(value: Any) -> Callable[[], None] | None:
    """A function that restores the content of an array, a tensor or a generator."""
    if isinstance(value, np.ndarray) and value.dtype.kind != "O" and value.flags.writeable:
        before = value.copy()
        return lambda: _write(value, before)
    if isinstance(value, TensorBase) and isinstance(value.array, np.ndarray) and value.array.flags.writeable:
        array, before = value.array, value.array.copy()
        return lambda: _write(array, before)
    if isinstance(value, np.random.Generator):
        at = value.bit_generator.state
        return lambda: setattr(value.bit_generator, "state", at)
    if isinstance(value, np.random.RandomState):
        legacy = value.get_state()
        return lambda: value.set_state(legacy)
    if isinstance(value, random.Random):
        there = value.getstate()
        return lambda: value.setstate(there)
    torch = known_torch()
    if torch is not None and type(value) in (torch.Tensor, torch.nn.Parameter) and value.layout == torch.strided:
        held = value.detach().clone()
        return lambda: None if torch.equal(value.data, held) else value.data.copy_(held)
    return None


def _write(array: Any, before: Any) -> None:
    if array.tobytes() != before.tobytes():
        array[...] = before
