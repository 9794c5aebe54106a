"""``torch._foreach_add`` and the like: an operation on each tensor of a list, one after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.face import linalg
from gradwright.face.tensor import Tensor

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


_BESIDE = ("other", "exponent", "scalar", "scalars")
"""What the argument beside the list may be called."""


def _each(name: str) -> Callable[..., Any]:
    plain, writes = name.rstrip("_"), name.endswith("_")
    method = getattr(Tensor, {"maximum": "clamp_min", "minimum": "clamp_max"}.get(plain, plain) + "_" * writes)
    fused = plain in ("addcmul", "addcdiv")

    def call(self: Any, *others: Any, **options: Any) -> Any:
        if not fused:
            others += tuple(options.pop(argument) for argument in _BESIDE if argument in options)
        elif len(others) == 3:
            options["value"], others = others[2], others[:2]
        elif "scalars" in options:
            options["value"] = options.pop("scalars")
        power_of_number = name == "pow" and not isinstance(self, (list, tuple))
        n = len(others[0] if power_of_number else self)
        found = []
        for k in range(n):
            row = [_part(value, k, n, name) for value in (self, *others)]
            found.append(method(*row, **{key: _part(value, k, n, name) for key, value in options.items()}))
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
