"""Reading and adding by index as C text. An index that is out of range ends the call: NumPy then says so."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod

from gradwright.compilation.by_c.ctypes_of import NAMES
from gradwright.compilation.by_c.gathers import Gather
from gradwright.compilation.by_c.memory import Memory, pointer
from gradwright.compilation.by_c.places import Place, in_order
from gradwright.compilation.node import Node


def gather(number: int, node: Node, way: Gather, places: Callable[[Node], Place], memory: Memory) -> str:
    """The function ``static int gather_<number>(char **P)``; it returns 1 if an index is out of range."""

    def declared(x: Node, what: str, const: bool = True) -> str:
        place, kind = places(x), NAMES[x.dtype]
        at = pointer(memory.spots[place.root], kind, place.start, x.dtype.itemsize, const)
        return f"  {'const ' * const}{kind} *{what} = {at};"

    values = way.operands[: -len(way.axes)]
    lines = [f"static int gather_{number}(char **P) {{", declared(node, "y", const=False)]
    lines += [declared(i, f"p{k}") for k, i in enumerate(way.indices)]
    if way.kind != "zeros":
        lines.append(declared(values[0], "x"))
    if way.kind != "take":
        lines.append(declared(values[-1], "src"))
        size = f"{prod(way.whole)} * sizeof *y"
        lines.append(f"  __builtin_mem{'cpy(y, x' if way.kind == 'add' else 'set(y, 0'}, {size});")
    far = places(values[0]).strides if way.kind == "take" else in_order(way.whole)
    near = in_order(way.shape) if way.kind == "take" else places(values[-1]).strides
    last = max((k for at in way.at for k in at), default=-1)
    indent = "  "
    for k in range(last + 1):
        lines.append(f"{indent}for (long i{k} = 0; i{k} < {way.shape[k]}; i{k}++) {{")
        indent += "  "
    for k, (index, axis, at) in enumerate(zip(way.indices, way.axes, way.at, strict=True)):
        steps = zip(at, places(index).strides, strict=True)
        lines.append(f"{indent}long j{k} = (long) p{k}[{_sum(steps)}];")
        lines.append(f"{indent}if (j{k} < 0) j{k} += {way.whole[axis]};")
        lines.append(f"{indent}if ((unsigned long) j{k} >= {way.whole[axis]}UL) return 1;")
    picked = [f"j{k} * {far[axis]}LL" for k, axis in enumerate(way.axes)]
    there = [(k, far[line]) for k, line in enumerate(way.lines) if line >= 0]
    lines.append(f"{indent}long there = {' + '.join([*picked, _sum(t for t in there if t[0] <= last)])};")
    lines.append(f"{indent}long here = {_sum((k, s) for k, s in enumerate(near) if k <= last)};")
    lines += [f"{indent}for (long i{k} = 0; i{k} < {way.shape[k]}; i{k}++)" for k in range(last + 1, len(way.shape))]
    inner = f"there + {_sum(t for t in there if t[0] > last)}"
    outer = f"here + {_sum((k, s) for k, s in enumerate(near) if k > last)}"
    done = f"y[{outer}] = x[{inner}];" if way.kind == "take" else f"y[{inner}] += src[{outer}];"
    lines.append(f"{indent}  {done}")
    lines += ["  " * k + "}" for k in range(last + 1, 0, -1)]
    return "\n".join([*lines, "  return 0;", "}\n"])


def _sum(steps: Iterable[tuple[int, int]]) -> str:
    return " + ".join(f"i{k} * {s}LL" for k, s in steps if s) or "0"
