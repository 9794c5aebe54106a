"""Einstein sums: PyTorch's equations, and its lists of numbers."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np

from gradwright.base.errors import kind
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase
from gradwright.face.functions.algebra.matrices import same_dtype
from gradwright.face.functions.diagonal import diagonal
from gradwright.face.functions.shape import permute
from gradwright.face.reading.torch import tensor_list
from gradwright.ops import linalg as _linalg

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

__all__ = ["einsum"]

_LETTERS = ascii_uppercase + ascii_lowercase


def einsum(equation: str | Tensor, *operands: Any) -> Tensor:
    """Sum of products over named dims: ``einsum("ij,jk->ik", a, b)``; ``...`` stands for any leading dims.

    Without ``->`` the result has the ``...`` dims and then, in alphabetical order, the letters that occur once. Dims
    may also be numbers from 0 to 51: ``einsum(a, [0, 1], b, [1, 2], [0, 2])``. Three tensors or more are multiplied
    two at a time, in an order that opt_einsum chooses where it is installed, else NumPy.

    Raises RuntimeError if the equation does not fit the operands, ValueError for a number out of range.
    """
    if isinstance(equation, TensorBase) and operands and isinstance(operands[0], (list, tuple)):
        equation, operands = _from_lists((equation, *operands))
    if not isinstance(equation, str):
        raise TypeError(f"einsum(): argument 'equation' (position 1) must be str, not {kind(equation)}")
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    xs = tensor_list("einsum", operands, "operands")
    for x in xs[1:]:
        same_dtype("einsum()", xs[0], x, "m1 and m2")
    terms, result = _parsed(equation, xs)
    for k, term in enumerate(terms):
        xs[k], terms[k] = _without_repeats(xs[k], term)
    for which in _path(terms, result, xs) if len(xs) > 2 else ():
        chosen = [(xs[i], terms[i]) for i in which]
        rest = [i for i in range(len(xs)) if i not in which]
        xs, terms = [xs[i] for i in rest], [terms[i] for i in rest]
        if not xs:
            return _run(chosen, result)
        kept = "".join(dict.fromkeys(c for _, t in chosen for c in t if c in result or any(c in u for u in terms)))
        xs.append(_run(chosen, kept))
        terms.append(kept)
    return _run(list(zip(xs, terms, strict=True)), result)


def _run(operands: Sequence[tuple[Any, str]], result: str) -> Any:
    if len(operands) == 1:
        ((x, term),) = operands
        summed = tuple(i for i, c in enumerate(term) if c not in result)
        left = [c for c in term if c in result]
        return permute(x.sum(summed, dtype=x.dtype) if summed else x, [left.index(c) for c in result])
    equation = ",".join(t for _, t in operands) + "->" + result
    names = dict(zip(dict.fromkeys(c for c in equation if c not in ",->"), _LETTERS, strict=False))
    return apply(_linalg.einsum, [x for x, _ in operands], {"equation": "".join(names.get(c, c) for c in equation)})


def _path(terms: Sequence[str], result: str, xs: Sequence[Any]) -> Any:
    """Which operands to multiply, step by step; a product joins the end of the list."""
    names = dict(zip(dict.fromkeys("".join(terms)), _LETTERS, strict=False))
    text = ",".join("".join(names[c] for c in t) for t in terms) + "->" + "".join(names[c] for c in result)
    try:
        found = importlib.import_module("opt_einsum").contract_path(text, *(x.array.shape for x in xs), shapes=True)
        return found[0]
    except ImportError:
        return np.einsum_path(text, *(np.broadcast_to(0.0, x.array.shape) for x in xs), optimize="greedy")[0][1:]


def _from_lists(arguments: Sequence[Any]) -> tuple[str, tuple[Any, ...]]:
    """The equation that lists of numbers after each tensor, and perhaps one for the result, stand for."""

    def text(numbers: Any) -> str:
        for n in numbers:
            if n is not Ellipsis and not (isinstance(n, int) and 0 <= n < len(_LETTERS)):
                raise ValueError(f"einsum(): subscripts must be in the range [0, 52) or Ellipsis, but got {n}")
        return "".join("..." if n is Ellipsis else _LETTERS[n] for n in numbers)

    pairs = len(arguments) // 2
    equation = ",".join(text(n) for n in arguments[1 : 2 * pairs : 2])
    result = "->" + text(arguments[-1]) if len(arguments) % 2 else ""
    return equation + result, tuple(arguments[: 2 * pairs : 2])


def _without_repeats(x: Any, term: str) -> tuple[Any, str]:
    """The diagonal over each letter that stands twice in a term."""
    for c in dict.fromkeys(term):
        while term.count(c) > 1:
            i = term.index(c)
            j = term.index(c, i + 1)
            x, term = diagonal(x, 0, i, j), term[:i] + term[i + 1 : j] + term[j + 1 :] + c
    return x, term


def _checked(equation: str, part: str) -> str:
    """``part`` of an equation, of letters and one ``...`` at most."""
    for c in part.replace("...", "", 1):
        if c == ".":
            raise RuntimeError(f"einsum(): found '.' that is not part of any ellipsis in {equation!r}")
        if not (c.isascii() and c.isalpha()):
            raise RuntimeError(f"einsum(): invalid subscript {c!r} in {equation!r}, subscripts must be in [a-zA-Z]")
    return part


def _parsed(equation: str, xs: list[Any]) -> tuple[list[str], str]:
    """The letters of each operand and of the result, ellipses spelt out; dims of size 1 are stretched in ``xs``."""
    left, arrow, result = equation.replace(" ", "").partition("->")
    terms = [_checked(equation, term) for term in left.split(",")]
    _checked(equation, result)
    if len(terms) != len(xs):
        fewer = "more" if len(terms) < len(xs) else "fewer"
        raise RuntimeError(
            f"einsum(): {fewer} operands were provided than specified in the equation: {equation!r} has {len(terms)} "
            f"operands, but got {len(xs)} tensors"
        )
    own = [x.array.ndim - len(t) + 3 if "..." in t else 0 for t, x in zip(terms, xs, strict=True)]
    dots = "".join(map(chr, range(1040, 1040 + max(own))))
    for k, (term, x) in enumerate(zip(terms, xs, strict=True)):
        terms[k] = term.replace("...", dots[len(dots) - own[k] :]) if own[k] >= 0 else term.replace("...", "")
        if len(terms[k]) != x.array.ndim:
            raise RuntimeError(
                f"einsum(): the number of subscripts in the equation ({len(terms[k])}) does not match the number of "
                f"dimensions ({x.array.ndim}) for operand {k}"
            )
    joined = "".join(terms)
    if arrow:
        result = result.replace("...", dots)
    else:
        result = dots + "".join(sorted(c for c in set(joined) if joined.count(c) == 1 and c not in dots))
    for c in result:
        if c not in joined or result.count(c) > 1:
            wrong = "appears more than once" if c in joined else "does not appear in the equation for any input operand"
            raise RuntimeError(f"einsum(): output subscript {c} {wrong}")
    _stretch(terms, xs)
    return terms, result


def _stretch(terms: Sequence[str], xs: list[Any]) -> None:
    """Broadcast the dims of size 1 to their letter's size. RuntimeError if sizes differ."""
    sizes: dict[str, int] = {}
    for k, (term, x) in enumerate(zip(terms, xs, strict=True)):
        for c, n in zip(term, x.array.shape, strict=True):
            if sizes.setdefault(c, n) != n and (1 not in (n, sizes[c]) or term.count(c) > 1):
                raise RuntimeError(
                    f"einsum(): subscript {c} has size {n} for operand {k} which does not broadcast with previously "
                    f"seen size {sizes[c]}"
                )
            sizes[c] = n if sizes[c] == 1 else sizes[c]
    for k, (term, x) in enumerate(zip(terms, xs, strict=True)):
        full = tuple(sizes[c] for c in term)
        if x.array.shape != full:
            xs[k] = x.expand(full)
