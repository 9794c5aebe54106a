"""Every operation, one module a family. A formula knows only `xp`; see `gradwright.op` for how one is declared."""

from gradwright.ops import (
    activation,
    arithmetic,
    complex,  # noqa: A004 - what the family is called
    conv,
    decompose,
    distance,
    elementary,
    fft,
    index,
    linalg,
    loss,
    norm,
    order,
    piecewise,
    pool,
    recurrent,
    reduce,
    resize,
    scan,
    scatter,
    sets,
    shape,
    solve,
    special,
)
from gradwright.ops.declare import table

__all__ = [
    "activation", "arithmetic", "complex", "conv", "decompose", "distance", "elementary", "fft", "index", "linalg",
    "loss", "norm", "order", "piecewise", "pool", "recurrent", "reduce", "resize", "scan", "scatter", "sets", "shape",
    "solve", "special", "table",
]  # fmt: skip
