"""Reductions in C: what joins two numbers, what each begins with, and in which dtypes they are made."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from gradwright.compilation.by_c.ctypes_of import BOOL, NAMES, literal
from gradwright.compilation.node import Node

_JOIN = {"sum": "{0} += {1};", "prod": "{0} *= {1};", "any": "{0} |= {1};", "all": "{0} &= {1};",
         "max": "{0} = MOST({0}, {1});", "min": "{0} = LEAST({0}, {1});"}  # fmt: skip
_CLAUSE = {"sum": "+", "prod": "*", "any": "|", "all": "&", "max": "most", "min": "least"}


class Sum(NamedTuple):
    """A reduction in a loop: which axes stay, and the strides of its result over all."""

    node: Node
    kind: str
    kept: tuple[bool, ...]
    strides: tuple[int, ...]

    @property
    def near(self) -> Any:
        """The dtype in which a block is reduced."""
        return np.dtype(np.uint8) if self.kind in ("any", "all") else self.node.dtype

    @property
    def far(self) -> Any:
        """The dtype in which blocks are joined."""
        return np.dtype(np.float64) if self.kind in ("sum", "prod") and self.near.kind == "f" else self.near

    def start(self, dtype: Any) -> str:
        """What a reduction of nothing is."""
        if self.kind in ("sum", "any"):
            value: Any = 0
        elif self.kind in ("prod", "all"):
            value = 1
        elif dtype.kind == "f":
            value = -math.inf if self.kind == "max" else math.inf
        else:
            info = np.iinfo(dtype) if dtype != BOOL else None
            value = (0, 1)[self.kind == "min"] if info is None else info.min if self.kind == "max" else info.max
        return str(literal(value, dtype))

    @property
    def clause(self) -> str:
        """What a loop of vectors calls it."""
        kind = _CLAUSE[self.kind]
        return kind if kind in "+*|&" else f"{kind}_{_short(self.near)}"

    def join(self, to: str, value: str) -> str:
        """The statement that adds a value to a place."""
        return _JOIN[self.kind].format(to, value)


def _short(dtype: Any) -> str:
    return f"{dtype.kind}{8 * dtype.itemsize}"


def extremes() -> str:
    """Declarations of the largest and the smallest for every type; a NaN stays."""
    lines = []
    for dtype, name in NAMES.items():
        if dtype == BOOL:
            continue
        for kind, macro in (("max", "MOST"), ("min", "LEAST")):
            start = Sum(None, kind, (), ()).start(dtype)  # type: ignore[arg-type]
            word = f"{_CLAUSE[kind]}_{_short(dtype)}"
            lines.append(f"#pragma omp declare reduction({word} : {name} : omp_out = {macro}(omp_out, omp_in)) "
                         f"initializer(omp_priv = {start})")  # fmt: skip
    return "\n".join(lines)
