"""Sliding windows as C text: laid out as columns, block after block, and multiplied by BLAS."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from gradwright.compilation.by_c.ctypes_of import NAMES
from gradwright.compilation.by_c.lowered import Lowered
from gradwright.compilation.by_c.memory import Memory, pointer
from gradwright.compilation.by_c.places import in_order
from gradwright.compilation.by_c.windows import Windows
from gradwright.compilation.node import Node

_ROWS, _PLAIN, _TURNED = 101, 111, 112  # of CBLAS


class _Axis(NamedTuple):
    """An axis along which windows slide: entries, windows, and how they lie; ``far`` is the array's stride."""

    size: int
    windows: int
    kernel: int
    stride: int
    dilation: int
    before: int
    far: int

    @property
    def inside(self) -> bool:
        """Whether all windows lie in the array."""
        reach = (self.windows - 1) * self.stride + (self.kernel - 1) * self.dilation
        return self.before <= 0 and reach - self.before < self.size


class _Sliding:
    """How windows lie in an array: axes, and how many entries, one after another, each of their places stands for."""

    def __init__(self, way: Windows, strides: Sequence[int]) -> None:
        lattice = way.lattice
        rows = zip(way.size, way.windows, lattice.kernel, lattice.stride, lattice.dilation,
                   (p[0] for p in lattice.padding), strides, strict=True)  # fmt: skip
        self.axes = [_Axis(*row) for row in rows]
        self.inner = 1
        while len(self.axes) > 1:
            last = self.axes[-1]
            alone = last.kernel == last.stride == 1 and last.before == 0 and last.windows == last.size
            if not alone or last.far != self.inner:
                break
            self.inner *= last.size
            self.axes.pop()

    @property
    def whole(self) -> bool:
        """Whether there is one window at each place, of one entry, and these lie one after another."""
        return len(self.axes) == 1 and self.axes[0].inside and all(
            a.kernel == a.stride == 1 and a.far == self.inner and a.windows == a.size for a in self.axes)  # fmt: skip

    def text(self, head: str, name: str, channels: int, channel: int, adds: bool) -> str:
        """A function from an image to its columns, or, if it ``adds``, back.

        The windows from line ``first`` to ``last`` of the first axis are handled: columns have these alone.
        """
        kind = ("const ", "") if adds else ("", "const ")
        lines = [f"static void {head}({kind[1]}{name} *x, {kind[0]}{name} *to, long first, long last) {{"]
        lines.append(f"  for (long c = 0; c < {channels}; c++)")
        for k, axis in enumerate(self.axes):
            lines.append(f"  for (long k{k} = 0; k{k} < {axis.kernel}; k{k}++)")
        lines.append("  {")
        lines += [f"    {line}" for line in self._level(0, name, f"c * {channel}LL", adds)]
        return "\n".join([*lines, "  }", "}\n"])

    def _level(self, k: int, name: str, start: str, adds: bool) -> list[str]:
        axis = self.axes[k]
        low, high = ("first", "last") if k == 0 else ("0", str(axis.windows))
        if k == len(self.axes) - 1:
            return self._run(k, low, high, name, start, adds)
        plane = prod(a.windows for a in self.axes[k + 1 :]) * self.inner
        at = f"i{k} * {axis.stride}LL + k{k} * {axis.dilation}LL - {axis.before}LL"
        lines = [f"for (long i{k} = {low}; i{k} < {high}; i{k}++) {{", f"  long a{k} = {at};"]
        if not axis.inside:
            fill = "" if adds else f"__builtin_memset(to, 0, {plane} * sizeof *to); "
            lines.append(f"  if (a{k} < 0 || a{k} >= {axis.size}) {{ {fill}to += {plane}; continue; }}")
        rest = self._level(k + 1, name, f"{start} + a{k} * {axis.far}LL", adds)
        return [*lines, *("  " + line for line in rest), "}"]

    def _run(self, k: int, low: str, high: str, name: str, start: str, adds: bool) -> list[str]:
        """The last axis: zeros, what lies in the array, zeros."""
        axis, inner = self.axes[k], self.inner
        lines = [f"long off = k{k} * {axis.dilation}LL - {axis.before}LL, begin = {low}, end = {high};"]
        if not axis.inside:
            first, last = f"({axis.stride - 1} - off) / {axis.stride}", f"({axis.size - 1} - off) / {axis.stride} + 1"
            lines += [
                f"if (off < 0 && begin < {first}) begin = {first};",
                f"if (off >= {axis.size}) end = begin; else if (end > {last}) end = {last};",
                f"if (begin > {high}) begin = {high};", "if (end < begin) end = begin;",
            ]  # fmt: skip
        at = f"x + ({start} + (begin * {axis.stride}LL + off) * {axis.far}LL)"
        lines.append(f"{'' if adds else 'const '}{name} *at = {at};")
        if not axis.inside:
            if not adds:
                lines.append(f"for (long i = 0; i < (begin - {low}) * {inner}; i++) to[i] = 0;")
            lines.append(f"to += (begin - {low}) * {inner};")
        if axis.stride == 1 and axis.far == inner:
            body = "at[i] += to[i];" if adds else "to[i] = at[i];"
            lines += [f"long n = (end - begin) * {inner};", "#pragma omp simd", f"for (long i = 0; i < n; i++) {body}"]
        else:
            step = axis.stride * axis.far
            there, here = f"at[i * {step}LL + j]", f"to[i * {inner} + j]"
            body = f"{there} += {here};" if adds else f"{here} = {there};"
            lines += ["for (long i = 0; i < end - begin; i++)", f"  for (long j = 0; j < {inner}; j++) {body}"]
        lines.append(f"to += (end - begin) * {inner};")
        if not axis.inside:
            if not adds:
                lines.append(f"for (long i = 0; i < ({high} - end) * {inner}; i++) to[i] = 0;")
            lines.append(f"to += ({high} - end) * {inner};")
        return lines


def columns(number: int, node: Node, lowered: Lowered, memory: Memory) -> str:
    """The function ``static void windows_<number>(char **P)``."""
    way = lowered.how[node]
    assert isinstance(way, Windows)
    return (_alone if way.kind in ("fold_windows", "padded") else _multiplied)(number, node, way, lowered, memory)


def declared(node: Node, lowered: Lowered, memory: Memory, const: bool = True) -> str:
    """The declaration of a pointer to a node's first entry, ``%s`` being its name."""
    place = lowered.places[node]
    spot, name = memory.spots[place.root], NAMES[node.dtype]
    return f"{'const ' * const}{name} *%s = {pointer(spot, name, place.start, node.dtype.itemsize, const)};"


def _alone(number: int, node: Node, way: Windows, lowered: Lowered, memory: Memory) -> str:
    """Windows added up, or an array copied into zeros."""
    name, n = NAMES[node.dtype], len(way.size)
    lead, (x,) = prod(node.shape[:-n]), way.operands
    lines = [f"static void windows_{number}(char **P) {{", f"  {declared(x, lowered, memory) % 'x'}",
             f"  {declared(node, lowered, memory, const=False) % 'y'}",
             f"  __builtin_memset(y, 0, {prod(node.shape)} * sizeof *y);"]  # fmt: skip
    if way.kind == "fold_windows":
        sliding = _Sliding(way, in_order(way.size))
        body = sliding.text(f"add_{number}", name, lead, prod(way.size), adds=True)
        lines.append(f"  add_{number}(y, x, 0, {way.windows[0]});")
    else:
        body, inside = "", in_order(node.shape)
        start = sum(p[0] * s for p, s in zip(way.lattice.padding, inside[-n:], strict=True))
        strides = lowered.places[x].strides
        for k, m in enumerate(x.shape):
            lines.append(f"  for (long i{k} = 0; i{k} < {m}; i{k}++)")
        to, at = (" + ".join(f"i{k} * {s}LL" for k, s in enumerate(s)) for s in (inside, strides))
        lines.append(f"    y[{start} + {to}] = x[{at}];")
    return "\n".join([*([body] if body else []), *lines, "}\n"])


def _multiplied(number: int, node: Node, way: Windows, lowered: Lowered, memory: Memory) -> str:
    """A product with columns, block after block."""
    name, height, places = NAMES[node.dtype], way.height, prod(way.windows)
    plane = prod(way.windows[1:])
    first, second = way.operands[:2]
    image = second if way.kind in ("times", "weigh", "weighed") else node
    n, channels = image.shape[:2]
    if way.kind in ("times", "spread"):
        groups, out = first.shape[:2]
    else:
        groups, out = first.shape[1:3]
    lies = lowered.places[image]
    sliding = _Sliding(way, lies.strides[2:])
    each, channel = channels // groups, lies.strides[1]
    adds = way.kind == "spread"
    direct = sliding.whole
    text = [] if direct else [sliding.text(f"columns_{number}", name, each, channel, adds)]
    text += [f"static void windows_{number}(char **P) {{", f"  {declared(first, lowered, memory) % 'a'}",
             f"  {declared(second, lowered, memory) % 'b'}", f"  {declared(node, lowered, memory, const=False) % 'y'}",
             f"  {name} *cols = {pointer(memory.columns, name, 0, 1, False)};"]  # fmt: skip
    biased = len(way.operands) == 3
    if biased:
        text.append(f"  {declared(way.operands[2], lowered, memory) % 'bias'}")
    if adds and not direct:
        text.append(f"  __builtin_memset(y, 0, {prod(node.shape)} * sizeof *y);")
    here = f"i * {lies.strides[0]}LL + g * {each * channel}LL"
    rows, results = f"a + g * {out * height}LL", f"(i * {groups} + g) * {out * places}LL + first * {plane}LL"
    text += [f"  for (long i = 0; i < {n}; i++)", f"  for (long g = 0; g < {groups}; g++)",
             f"  for (long first = 0, last; first < {way.windows[0]}; first = last) {{",
             f"    last = first + {way.step} < {way.windows[0]} ? first + {way.step} : {way.windows[0]};",
             f"    long n = (last - first) * {plane};"]  # fmt: skip
    letter, number_ = ("s", 1) if name == "float" else ("d", 2)
    gemm = f"(({letter}gemm_t) P[{number_}])"
    cols, step = (f"b + {here} + first * {plane}LL", str(channel)) if direct else ("cols", "n")
    if not direct and not adds:
        text.append(f"    columns_{number}(b + {here}, cols, first, last);")
    if way.kind == "times":
        if biased:
            text += [f"    for (long o = 0; o < {out}; o++) {{", f"      {name} *to = y + {results} + o * {places}LL;",
                     f"      for (long p = 0; p < n; p++) to[p] = bias[g * {out} + o];", "    }"]  # fmt: skip
        text.append(f"    {gemm}({_ROWS}, {_PLAIN}, {_PLAIN}, {out}, n, {height}, 1, {rows}, {height}, {cols}, "
                    f"{step}, {int(biased)}, y + {results}, {places});")  # fmt: skip
    elif adds:
        to, far = (f"y + {here} + first * {plane}LL", channel) if direct else ("cols", "n")
        text.append(f"    {gemm}({_ROWS}, {_TURNED}, {_PLAIN}, {height}, n, {out}, 1, {rows}, {height}, b + {results}, "
                    f"{places}, 0, {to}, {far});")  # fmt: skip
        if not direct:
            text.append(f"    columns_{number}(y + {here}, cols, first, last);")
    else:
        to, again = (f"(i * {groups} + g)", "first > 0") if way.kind == "weigh" else ("g", "i + first > 0")
        text.append(f"    {gemm}({_ROWS}, {_PLAIN}, {_TURNED}, {out}, {height}, n, 1, a + {results}, {places}, {cols}, "
                    f"{step}, {again}, y + {to} * {out * height}LL, {height});")  # fmt: skip
    return "\n".join([*text, "  }", "}\n"])
