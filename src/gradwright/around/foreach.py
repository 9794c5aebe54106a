"""``torch._foreach_add`` and the like: an operation on each tensor of a list, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright import linalg
from gradwright.tensor import Tensor

_UNARY = [
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma",
    "log", "log10", "log1p", "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh",
    "sqrt", "tan", "tanh", "trunc",
]  # fmt: skip
_OTHERS = [
    "add", "sub", "mul", "div", "pow", "maximum", "minimum", "clamp_max", "clamp_min", "lerp", "addcmul", "addcdiv",
]  # fmt: skip
NAMES = [
    *(f"_foreach_{name}{end}" for name in (*_UNARY, *_OTHERS) for end in ("", "_")),
    "_foreach_clone", "_foreach_copy_", "_foreach_max", "_foreach_norm", "_foreach_zero_",
]  # fmt: skip


def _each(name: str) -> Callable[..., Any]:
    method = getattr(Tensor, {"maximum": "clamp_min", "minimum": "clamp_max"}.get(name.rstrip("_"), name.rstrip("_")))
    writes = name.endswith("_") or name == "zero"

    def call(self: Any, *others: Any, **options: Any) -> Any:
        n = len(self)
        scalars = options.pop("scalars", None)
        value = options.pop("value", scalars)
        if name.rstrip("_") in ("addcmul", "addcdiv") and len(others) == 3:
            value, others = others[2], others[:2]
        rows = [[_part(other, k, n, name) for other in others] for k in range(n)]
        found = []
        for k, x in enumerate(self):
            given = dict(options) if value is None else {**options, "value": _part(value, k, n, name)}
            out = method(x, *rows[k], **given)
            if writes:
                x.copy_(out)
            found.append(out)
        return None if writes else tuple(found)

    call.__name__ = call.__qualname__ = f"_foreach_{name}"
    call.__doc__ = f"`Tensor.{name}` of each tensor of a list, with numbers, a tensor, or a list of either beside it."
    return call


def _part(other: Any, k: int, n: int, name: str) -> Any:
    if isinstance(other, Tensor) and name.startswith("addc"):
        return other[k].item()
    if isinstance(other, (list, tuple)):
        if len(other) != n:
            raise RuntimeError(f"_foreach_{name}: Tensor lists must have the same number of tensors, got {n} and "
                               f"{len(other)}")  # fmt: skip
        return other[k]
    return other


def _foreach_clone(self: Any) -> tuple[Any, ...]:
    """A copy of each."""
    return tuple(x.clone() for x in self)


def _foreach_copy_(self: Any, src: Any, non_blocking: bool = False) -> None:
    """Write each of ``src`` into its partner."""
    for x, y in zip(self, src, strict=True):
        x.copy_(y)


def _foreach_zero_(self: Any) -> None:
    """Write zeros into each."""
    for x in self:
        x.zero_()


def _foreach_max(self: Any) -> tuple[Any, ...]:
    """The largest entry of each."""
    return tuple(x.max() for x in self)


def _foreach_norm(self: Any, ord: Any = 2, dtype: Any = None) -> tuple[Any, ...]:
    """The vector norm of each."""
    return tuple(linalg.vector_norm(x, ord, dtype=dtype) for x in self)


globals().update({f"_foreach_{name}{end}": _each(name + end) for name in (*_UNARY, *_OTHERS) for end in ("", "_")})
