"""What is done line by line along an axis, as C text."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from gradwright.compilation.by_c.elements import BOOL, NAMES
from gradwright.compilation.by_c.lines import RUNNING, Line
from gradwright.compilation.by_c.loops import CLAUSE, JOIN, Sum, short
from gradwright.compilation.by_c.memory import Memory, pointer
from gradwright.compilation.by_c.places import Place, in_order
from gradwright.compilation.node import Node

_FEW = 16
"""So many entries are put in order one by one, before they are merged."""


def lines(number: int, node: Node, way: Line, places: Callable[[Node], Place], memory: Memory) -> str:
    """The function ``static void lines_<number>(char **P)``."""
    place, x = places(way.operand), way.operand
    shape, strides, axis = place.shape, place.strides, way.axis
    if axis is None:  # then it lies in order
        shape, strides, axis = (prod(shape),), (1,), 0
    n, step = shape[axis], strides[axis]
    reduced = way.kind in ("argmax", "argmin")
    long = 1 if reduced else node.shape[axis]
    after = in_order((*shape[:axis], long, *shape[axis + 1 :]))
    kind, made = NAMES[x.dtype], NAMES[node.dtype]
    axes = [k for k in range(len(shape)) if k != axis and shape[k] > 1]
    inner = [k for k in axes if k > axis] if way.kind in RUNNING else []
    here = " + ".join([f"i{k} * {after[k]}LL" for k in axes]) or "0"
    there = " + ".join([f"i{k} * {strides[k]}LL" for k in axes]) or "0"

    def loops(over: list[int]) -> list[str]:
        return [f"  for (long i{k} = 0; i{k} < {shape[k]}; i{k}++)" for k in over]

    first = [
        f"static void lines_{number}(char **P) {{",
        f"  {made} *to = {pointer(memory.spots[node], made, 0, node.dtype.itemsize, False)};",
        f"  const {kind} *from = {pointer(memory.spots[place.root], kind, place.start, x.dtype.itemsize, True)};",
    ]
    if way.kind in RUNNING:
        last = f"to[{here} + (k - 1) * {after[axis]}LL]" if inner else "p"
        body = [f"  {{ {made} p = 0;", f"  for (long k = 0; k < {n}; k++)", *loops(inner), "  {",
                f"    {made} t = from[{there} + k * {step}LL];",
                f"    if (k) {{ p = {last}; {JOIN[way.kind].format('p', 't')} }} else p = t;",
                f"    to[{here} + k * {after[axis]}LL] = p;", "  }}"]  # fmt: skip
        return "\n".join([*first, *loops([k for k in axes if k not in inner]), *body, "}\n"])
    get = f"from[{there} + k * {step}LL]"
    if reduced:
        found = Sum(node, way.kind[3:], (), ())
        own = np.dtype(np.uint8) if x.dtype == BOOL else x.dtype
        clause = f"{CLAUSE[found.kind]}_{short(own)}"
        body = [f"  {{ {kind} t = {found.start(own)}; int at = {n};",
                f"  #pragma omp simd reduction({clause}:t)",
                f"  for (long k = 0; k < {n}; k++) {{ {kind} v = {get}; {found.join('t', 'v')} }}",
                "  #pragma omp simd reduction(min:at)",
                f"  for (int k = 0; k < {n}; k++) {{ {kind} v = {get};",
                f"    int o = v == t || v != v ? k : {n}; at = o < at ? o : at; }}",
                f"  to[{here}] = at; }}"]  # fmt: skip
        return "\n".join([*first, *loops(axes), *body, "}\n"])
    size = np.dtype([("v", x.dtype), ("at", np.int64)], align=True).itemsize
    entries = pointer(memory.scratch(2 * n * size), "char", 0, 1, False)
    first[:0] = [_sorting(number, kind, way.falling)]
    body = [f"  {{ entry_{number} *a = (entry_{number} *) {entries}, *b = a + {n};",
            f"  for (long k = 0; k < {n}; k++) {{ a[k].v = {get}; a[k].at = k; }}",
            f"  a = sorted_{number}(a, b, {n});",
            f"  for (long k = 0; k < {long}; k++)",
            f"    to[{here} + k * {after[axis]}LL] = a[k].{'v' if way.kind == 'sort' else 'at'}; }}"]  # fmt: skip
    return "\n".join([*first, *loops(axes), *body, "}\n"])


def _sorting(number: int, kind: Any, falling: bool) -> str:
    """A function that sorts, and keeps the order of equal ones; NaN is the largest."""
    less = ">" if falling else "<"
    nan = "a.v != a.v && b.v == b.v" if falling else "b.v != b.v && a.v == a.v"
    return f"""
typedef struct {{ {kind} v; long long at; }} entry_{number};
static inline int before_{number}(entry_{number} a, entry_{number} b) {{ return a.v {less} b.v || ({nan}); }}
static entry_{number} *sorted_{number}(entry_{number} *a, entry_{number} *b, long n) {{
  for (long low = 0; low < n; low += {_FEW})
    for (long k = low + 1; k < low + {_FEW} && k < n; k++) {{
      entry_{number} e = a[k];
      long j = k;
      for (; j > low && before_{number}(e, a[j - 1]); j--) a[j] = a[j - 1];
      a[j] = e;
    }}
  for (long w = {_FEW}; w < n; w *= 2) {{
    for (long low = 0; low < n; low += 2 * w) {{
      long i = low, m = low + w < n ? low + w : n, j = m, end = m + w < n ? m + w : n;
      for (long k = low; k < end; k++) b[k] = i < m && (j == end || !before_{number}(a[j], a[i])) ? a[i++] : a[j++];
    }}
    entry_{number} *t = a; a = b; b = t;
  }}
  return a;
}}"""
