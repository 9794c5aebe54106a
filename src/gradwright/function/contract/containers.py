"""Containers with tensors in them: lists, tuples, named tuples, dictionaries and dataclasses, to any depth.

`flatten` makes of a value its tensors and a `Tree`, its structure; `unflatten` makes it again, of other
tensors or of anything else. A value without tensors remains what it is, a container too.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from gradwright.backends.devices import device
from gradwright.base.dtypes import Size, dtype
from gradwright.engine.base import TensorBase

TENSORLESS = frozenset([type(None), bool, int, float, complex, str, bytes, slice, range, type, type(Ellipsis),
                        type(len), type(lambda: None), Size, dtype, device])  # fmt: skip
"""The classes of most arguments that are neither tensors nor containers."""


class _Tensor:
    """Stands in a tree where a tensor was."""


TENSOR = _Tensor()


class Tree:
    """A container without its tensors.

    Attributes:
        like: a copy, with None where tensors were.
        keys: the indices, keys or field names of its parts.
        parts: for each a Tree, `TENSOR`, or what else is there.
    """

    __slots__ = ("keys", "like", "parts")

    def __init__(self, value: Any, keys: Sequence[Any], parts: list[Any]) -> None:
        self.keys, self.parts = keys, parts
        self.like = filled(value, keys, [None if p is TENSOR or type(p) is Tree else p for p in parts])

    def __repr__(self) -> str:
        return f"<Tree of {described(self.like)}>"


def holds_tensors(value: Any) -> bool:
    """Whether a value is a container with a tensor in it."""
    return not isinstance(value, TensorBase) and _holds(value, ())


def _holds(value: Any, above: tuple[int, ...]) -> bool:
    if isinstance(value, TensorBase):
        return True
    keys = None if id(value) in above else _keys(value)
    if not keys:
        return False
    above = (*above, id(value))
    return any(v.__class__ not in TENSORLESS and _holds(v, above) for v in _values(value, keys))


def flatten(value: Any, leaves: list[Any], above: tuple[int, ...] = ()) -> Any:
    """The structure of a value, whose tensors are appended to ``leaves`` in order.

    A tensor leaves `TENSOR`, a container of tensors a `Tree`, anything else itself.
    """
    if isinstance(value, TensorBase):
        leaves.append(value)
        return TENSOR
    if value.__class__ in TENSORLESS or id(value) in above:
        return value
    keys = _keys(value)
    if keys is None or not keys:
        return value
    n = len(leaves)
    above = (*above, id(value))
    parts = [v if v.__class__ in TENSORLESS else flatten(v, leaves, above) for v in _values(value, keys)]
    return value if len(leaves) == n else Tree(value, keys, parts)


def unflatten(rest: Any, leaves: Iterator[Any]) -> Any:
    """A value again, with the next of ``leaves`` in the place of each tensor."""
    if rest is TENSOR:
        return next(leaves)
    if type(rest) is not Tree:
        return rest
    return filled(rest.like, rest.keys, [unflatten(p, leaves) for p in rest.parts])


def shaped(rest: Any, leaves: Iterator[Any], other: Any) -> Any:
    """As `unflatten`, but with ``other`` for everything that is no tensor."""
    if rest is TENSOR:
        return next(leaves)
    if type(rest) is not Tree:
        return other
    return filled(rest.like, rest.keys, [shaped(p, leaves, other) for p in rest.parts])


def paths(rest: Any, name: str) -> Iterator[str]:
    """The name of each tensor, given that of the whole: ``weights[2]``, ``batch['x']``, ``state.mean``."""
    if rest is TENSOR:
        yield name
    elif type(rest) is Tree:
        for key, part in zip(rest.keys, rest.parts, strict=True):
            yield from paths(part, step(rest.like, name, key))


def step(container: Any, name: str, key: Any) -> str:
    """The name of one part of a container of this name."""
    if isinstance(container, dict) or not isinstance(key, str):
        return f"{name}[{key!r}]"
    return f"{name}.{key}"


def answers(rest: Any, answer: Any, name: str) -> Iterator[Any]:
    """For each tensor the answer to it, of an answer in the shape of the value.

    None answers for a whole container; what is no tensor is answered by None or by itself, so that
    ``dataclasses.replace(state, mean=...)`` will do. A list answers for a tuple and a tuple for a list; a dictionary
    of its fields for a dataclass or a named tuple. Raises ValueError, naming the place, if it is of another shape, or
    not None for something that is no tensor.
    """
    if rest is TENSOR:
        yield answer
    elif type(rest) is not Tree:
        if answer is not rest and not _is_nothing(answer):
            raise ValueError(f"expected None for {name}, which is no tensor, but got {described(answer)}")
    elif answer is None:
        yield from [None] * sum(1 for _ in paths(rest, name))
    else:
        for key, part, given in zip(rest.keys, rest.parts, _matching(rest, answer, name), strict=True):
            yield from answers(part, given, step(rest.like, name, key))


def _matching(rest: Tree, answer: Any, name: str) -> list[Any]:
    """The parts of an answer to a container, in the order of its keys."""
    like, keys = rest.like, rest.keys
    named = not isinstance(like, dict) and isinstance(keys[0], str)
    if isinstance(answer, dict) and (named or isinstance(like, dict)):
        if unknown := [k for k in answer if k not in keys]:
            raise ValueError(f"there is no {step(like, name, unknown[0])}, but it was given; known: {list(keys)}")
        return [answer.get(k) for k in keys]
    if is_dataclass(like):
        if isinstance(answer, type(like)):
            return _values(answer, keys)
    elif not isinstance(like, dict) and isinstance(answer, (list, tuple)):
        if len(answer) == len(keys):
            return list(answer)
        raise ValueError(f"expected {len(keys)} values for {name}, a {described(like)}, but got {len(answer)}")
    raise ValueError(f"expected one like {name}, which is a {described(like)}, but got {described(answer)}")


class Parts(list[Any]):
    """The parts of a container, and their keys."""

    keys: Sequence[Any] = ()


def parts(value: Any) -> Parts:
    """The parts of a container; none of anything else."""
    keys = None if value.__class__ in TENSORLESS else _keys(value)
    if keys is None:
        return Parts()
    found = Parts(_values(value, keys))
    found.keys = keys
    return found


def _is_nothing(answer: Any) -> bool:
    """Whether an answer is None, or a container of nothing else."""
    if answer is None:
        return True
    keys = None if isinstance(answer, TensorBase) else _keys(answer)
    return keys is not None and all(map(_is_nothing, _values(answer, keys)))


def described(value: Any) -> str:
    """A value as messages call it: ``list of 3``, ``dict of 'x', 'y'``, ``Tensor``."""
    keys = None if isinstance(value, TensorBase) else _keys(value)
    if keys is None:
        return "Tensor" if isinstance(value, TensorBase) else type(value).__name__
    what = ", ".join(map(repr, keys)) if isinstance(value, dict) or (keys and isinstance(keys[0], str)) else len(keys)
    return f"{type(value).__name__} of {what}"


def _keys(value: Any) -> Sequence[Any] | None:
    """The keys of the parts of a container; None of anything else."""
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, tuple):
        return getattr(value, "_fields", None) or range(len(value))
    if isinstance(value, list):
        return range(len(value))
    if is_dataclass(value) and not isinstance(value, type):
        return [f.name for f in fields(value) if hasattr(value, f.name)]
    return None


def _values(value: Any, keys: Sequence[Any]) -> list[Any]:
    if isinstance(value, dict):
        return [value[k] for k in keys]
    return list(value) if isinstance(value, (list, tuple)) else [getattr(value, k) for k in keys]


def filled(like: Any, keys: Sequence[Any], values: list[Any]) -> Any:
    """A copy of a container with these values for its parts. No constructor runs."""
    if isinstance(like, tuple):
        return tuple.__new__(type(like), values)
    made = copy.copy(like)
    if isinstance(like, dict):
        made.update(zip(keys, values, strict=True))
    elif isinstance(like, list):
        made[:] = values
    else:
        for key, value in zip(keys, values, strict=True):
            object.__setattr__(made, key, value)
    return made


def arrays(values: Iterable[Any], numbers: bool = False) -> Iterator[Any]:
    """The arrays among inputs or results, in lists and dictionaries, too; with ``numbers``, floats as such."""
    for value in values:
        if isinstance(value, TensorBase):
            yield value.array
        elif hasattr(value, "dtype") and hasattr(value, "shape"):
            yield value
        elif numbers and isinstance(value, (float, complex)):
            yield np.asarray(value)
        elif isinstance(value, (list, tuple, dict)):
            yield from arrays(value.values() if isinstance(value, dict) else value, numbers)


def only_tensors(values: Any) -> bool:
    """Whether a value is a tuple of tensors and nothing else."""
    if values.__class__ is not tuple:
        return False
    for value in values:  # noqa: SIM110 - a generator would cost more than the loop, on every call
        if not isinstance(value, TensorBase):
            return False
    return True


def among(t: Any, many: Sequence[Any]) -> bool:
    """Whether ``t`` itself is one of ``many`` (``in`` would compare values)."""
    for other in many:  # noqa: SIM110 - a generator would cost more than the loop, on every call
        if other is t:
            return True
    return False
