"""``torch.func.rearrange``: dims permuted, joined and split by a pattern such as "b (h w) c -> b c h w"."""

from __future__ import annotations

import math
import re
from typing import Any

from gradwright.engine.base import TensorBase
from gradwright.face.functions.join import stack

__all__ = ["rearrange"]


def _side(pattern: str, text: str, rest: list[str]) -> list[list[str]]:
    """One side of a pattern: the axes of each dim, where "..." are those of the ``rest``."""
    tokens = re.findall(r"\.\.\.|[A-Za-z_]\w*|[()]|1|\S", text)
    dims: list[list[str]] = []
    inside: list[str] | None = None
    for token in tokens:
        if token == "(" and inside is None:
            inside = []
        elif token == ")" and inside is not None:
            dims.append(inside)
            inside = None
        elif token == "..." and inside is None:
            dims += [[axis] for axis in rest]
        elif token in ("...", "1") or token.isidentifier():
            axes = rest if token == "..." else [] if token == "1" else [token]
            if inside is None:
                dims.append(axes)
            else:
                inside += axes
        else:
            raise ValueError(f"rearrange(): {token!r} in pattern {pattern!r}: expected names, 1, '...', and "
                             "parentheses that hold them")  # fmt: skip
    if inside is not None:
        raise ValueError(f"rearrange(): a parenthesis is not closed in pattern {pattern!r}")
    return dims


def rearrange(tensor: Any, pattern: str, **axes_lengths: int) -> Any:
    """The dims of ``tensor`` named by the left side of ``pattern``, in the order of its right side; as einops' is.

    In parentheses stand axes that are one dim; all their lengths but one are given by ``axes_lengths``. "..." are any
    others. Several tensors are stacked first.

    Raises ValueError unless both sides have the same axes, each once, and sizes go together.
    """
    x = tensor if isinstance(tensor, TensorBase) else stack(list(tensor))
    left, arrow, right = pattern.partition("->")
    if not arrow:
        raise ValueError(f"rearrange(): expected a pattern such as 'a b -> b a', but got {pattern!r}")
    shape: list[int] = [*x.shape]  # type: ignore[attr-defined]
    rest = [f"...{k}" for k in range(len(shape) - len(_side(pattern, left, [])))]
    given, wanted = _side(pattern, left, rest), _side(pattern, right, rest)
    axes, after = ([axis for dim in side for axis in dim] for side in (given, wanted))
    if sorted(axes) != sorted(after) or len({*axes}) < len(axes):
        raise ValueError(f"rearrange(): both sides of {pattern!r} must have the same axes, each once")
    if not axes_lengths.keys() <= {*axes}:
        raise ValueError(f"rearrange(): {', '.join(axes_lengths.keys() - {*axes})} in no dim of {pattern!r}")
    if len(given) != len(shape):
        raise ValueError(f"rearrange(): pattern {pattern!r} is of {len(given)} dims, but got size {tuple(shape)}")
    sizes = dict(axes_lengths)
    for dim, size in zip(given, shape, strict=True):
        open_ = [axis for axis in dim if axis not in sizes]
        known = math.prod(sizes[axis] for axis in dim if axis in sizes)
        if len(open_) > 1 or (not known or size % known if open_ else size != known):
            raise ValueError(f"rearrange(): a dim of size {size} cannot be ({' '.join(dim)}) with the lengths "
                             f"{axes_lengths} in {pattern!r}")  # fmt: skip
        sizes |= dict.fromkeys(open_, size // known) if open_ else {}
    x = x.reshape([sizes[axis] for axis in axes])  # type: ignore[attr-defined]
    x = x.permute([axes.index(axis) for axis in after])
    return x.reshape([math.prod(sizes[axis] for axis in dim) for dim in wanted])
