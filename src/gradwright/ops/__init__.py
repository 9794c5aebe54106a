"""Every operation, one module a family. A formula knows only `xp`; see `gradwright.op` for how one is declared."""

from gradwright.op import table
from gradwright.ops import activation, arithmetic, elementary, index, linalg, piecewise, reduce, shape

__all__ = ["activation", "arithmetic", "elementary", "index", "linalg", "piecewise", "reduce", "shape", "table"]
