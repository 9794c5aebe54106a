"""Matrix products as C text: calls of the BLAS that NumPy is linked with."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from math import prod
from typing import NamedTuple

from gradwright.compilation.by_c.elements import NAMES
from gradwright.compilation.by_c.lowered import Lowered, Product
from gradwright.compilation.by_c.memory import Memory, pointer
from gradwright.compilation.by_c.places import in_order
from gradwright.compilation.node import Node

_FORMS = (
    ("scipy_cblas_{}64_", "long long"), ("cblas_{}64_", "long long"), ("scipy_cblas_{}", "int"), ("cblas_{}", "int"),
)  # fmt: skip
FUNCTIONS = ("sgemm", "dgemm", "sgemv", "dgemv")


class Blas(NamedTuple):
    """Where the functions of `FUNCTIONS` lie, and C's type of their sizes."""

    addresses: tuple[int, ...]
    size: str


@cache
def find_blas() -> Blas | None:
    """NumPy's own, threads and all; None where it cannot be found, and NumPy must be asked for products."""
    try:
        core = import_module("numpy._core._multiarray_umath").__file__
        library = ctypes.CDLL(core)  # its symbols, and those of what it is linked with
    except (ImportError, OSError):
        return None
    for form, size in _FORMS:
        try:
            found = [getattr(library, form.format(name)) for name in FUNCTIONS]
        except AttributeError:
            continue
        return Blas(tuple(ctypes.cast(f, ctypes.c_void_p).value or 0 for f in found), size)
    return None


_ROWS, _PLAIN, _TURNED = 101, 111, 112  # of CBLAS
_ALONE, _WORK, _PARTS = 1 << 18, 1 << 19, 32
"""Multiplications up to which OpenBLAS takes no threads for a product, from how many on we do for many, and in how many
parts."""


def declarations(size: str) -> str:
    """The types of BLAS's functions, whose sizes are of a C type."""
    lines = []
    for letter, kind in (("s", "float"), ("d", "double")):
        rest = f"{size}, {size}, {kind}, const {kind} *, {size}, const {kind} *, {size}, {kind}, {kind} *, {size}"
        lines.append(f"typedef void (*{letter}gemm_t)(int, int, int, {size}, {rest});")
        lines.append(f"typedef void (*{letter}gemv_t)(int, int, {rest});")
    return "\n".join(lines)


class Matrix:
    """One operand: its rows and columns, where its first entry is, and the axes before the last two."""

    def __init__(self, lowered: Lowered, memory: Memory, node: Node, left: bool) -> None:
        place = lowered.places[node]
        shape, strides = place.shape, place.strides
        if len(shape) == 1:
            shape, strides = ((1, *shape), (0, *strides)) if left else ((*shape, 1), (*strides, 0))
        self.rows, self.columns = shape[-2:]
        self.down, self.along = strides[-2:]
        self.lead, self.lead_strides = shape[:-2], strides[:-2]
        name = NAMES[node.dtype]
        self.text = pointer(memory.spots[place.root], name, place.start, node.dtype.itemsize, True)

    @property
    def turned(self) -> bool:
        """Whether it lies column by column."""
        if self.along == 1 or self.columns == 1:
            return not (self.along == 1 or self.rows == 1 or self.down >= self.columns)
        return True

    @property
    def step(self) -> int:
        """From one row, or column if it is turned, to the next."""
        return max(self.along, self.rows, 1) if self.turned else max(self.down, self.columns, 1)

    def over(self, lead: tuple[int, ...]) -> tuple[int, ...]:
        """The strides of the axes before the last two in those that it is broadcast to."""
        own = tuple(0 if n == 1 else s for n, s in zip(self.lead, self.lead_strides, strict=True))
        return (0,) * (len(lead) - len(own)) + own


def product(number: int, node: Node, lowered: Lowered, memory: Memory) -> str:
    """The function ``static void product_<number>(char **P)``; of many small products threads take a few each."""
    way = lowered.how[node]
    assert isinstance(way, Product)
    a, b = Matrix(lowered, memory, way.left, True), Matrix(lowered, memory, way.right, False)
    lead = (*(a.lead if len(a.lead) > len(b.lead) else b.lead),)
    lead = tuple(max(x, y) for x, y in zip(_padded(a.lead, len(lead)), _padded(b.lead, len(lead)), strict=True))
    name, n = NAMES[node.dtype], prod(lead)
    strides = [a.over(lead), b.over(lead), tuple(s * a.rows * b.columns for s in in_order(lead))]
    at = [_plus(x, s) for x, s in zip("abc", strides, strict=True)]
    work = a.rows * a.columns * b.columns
    parts = min(_PARTS, n) if work <= _ALONE and n * work >= _WORK else 1
    first, last = (f"{n}LL * {k} / {parts}" for k in ("part", "(part + 1)"))
    lines = [f"static void products_{number}(char **P, long part) {{",
             f"  const {name} *a = {a.text}, *b = {b.text};",
             f"  {name} *c = {pointer(memory.spots[node], name, 0, node.dtype.itemsize, False)};",
             f"  for (long turn = {first}, last = {last}; turn < last; turn++) {{"]  # fmt: skip
    rest = "turn"
    for k, size in reversed([*enumerate(lead)]):
        lines.append(f"    long i{k} = {rest} % {size};")
        rest = f"({rest} / {size})"
    call = f"((parallel_t) P[0])(products_{number}, P, {parts})" if parts > 1 else f"products_{number}(P, 0)"
    lines += [f"    {_call(a, b, 's' if name == 'float' else 'd', at)}", "  }", "}"]
    return "\n".join([*lines, f"static void product_{number}(char **P) {{ {call}; }}\n"])


def _padded(lead: tuple[int, ...], n: int) -> tuple[int, ...]:
    return (1,) * (n - len(lead)) + lead


def _plus(name: str, strides: tuple[int, ...]) -> str:
    return " + ".join([name, *(f"i{k} * {s}LL" for k, s in enumerate(strides) if s)])


def _call(a: Matrix, b: Matrix, letter: str, at: list[str]) -> str:
    x, y, z = at
    gemm, gemv = (1, 3) if letter == "s" else (2, 4)
    if 1 in (a.rows, b.columns):
        m, turned, vector, step = (a, a.turned, y, b.down) if b.columns == 1 else (b, not b.turned, x, a.along)
        rows, columns = (m.columns, m.rows) if m.turned else (m.rows, m.columns)
        matrix = x if m is a else y
        return (f"(({letter}gemv_t) P[{gemv}])({_ROWS}, {_TURNED if turned else _PLAIN}, {rows}, {columns}, 1, "
                f"{matrix}, {m.step}, {vector}, {max(step, 1)}, 0, {z}, 1);")  # fmt: skip
    turns = [_TURNED if m.turned else _PLAIN for m in (a, b)]
    return (f"(({letter}gemm_t) P[{gemm}])({_ROWS}, {turns[0]}, {turns[1]}, {a.rows}, {b.columns}, {a.columns}, 1, "
            f"{x}, {a.step}, {y}, {b.step}, 0, {z}, {b.columns});")  # fmt: skip
