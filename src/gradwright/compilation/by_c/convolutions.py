"""Products with sliding windows as C text: with columns, block after block, that BLAS multiplies, or without.

Without columns, tiles of results are kept in registers, over windows that lie side by side. Nothing is laid out: what a
tile takes is read where it lies. Threads share the tiles. A tile is so large that a processor that begins two products
of vectors at a time is kept busy.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import NamedTuple

from gradwright.compilation.by_c.elements import NAMES
from gradwright.compilation.by_c.lowered import Lowered
from gradwright.compilation.by_c.memory import Memory, pointer
from gradwright.compilation.by_c.places import in_order
from gradwright.compilation.by_c.windows import Windows
from gradwright.compilation.node import Node

_ROWS, _PLAIN, _TURNED = 101, 111, 112  # of CBLAS


class _Axis(NamedTuple):
    """An axis along which windows slide: entries, windows, and how they lie; ``pitch`` is the array's stride."""

    size: int
    windows: int
    kernel: int
    stride: int
    dilation: int
    before: int
    pitch: int

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
            if not alone or last.pitch != self.inner:
                break
            self.inner *= last.size
            self.axes.pop()

    @property
    def whole(self) -> bool:
        """Whether there is one window at each place, of one entry, and these lie one after another."""
        return len(self.axes) == 1 and self.axes[0].inside and all(
            a.kernel == a.stride == 1 and a.pitch == self.inner and a.windows == a.size for a in self.axes)  # fmt: skip

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
        rest = self._level(k + 1, name, f"{start} + a{k} * {axis.pitch}LL", adds)
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
        at = f"x + ({start} + (begin * {axis.stride}LL + off) * {axis.pitch}LL)"
        lines.append(f"{'' if adds else 'const '}{name} *at = {at};")
        if not axis.inside:
            if not adds:
                lines.append(f"for (long i = 0; i < (begin - {low}) * {inner}; i++) to[i] = 0;")
            lines.append(f"to += (begin - {low}) * {inner};")
        if axis.stride == 1 and axis.pitch == inner:
            body = "at[i] += to[i];" if adds else "to[i] = at[i];"
            lines += [f"long n = (end - begin) * {inner};", "#pragma omp simd", f"for (long i = 0; i < n; i++) {body}"]
        else:
            step = axis.stride * axis.pitch
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
        to, pitch = (f"y + {here} + first * {plane}LL", channel) if direct else ("cols", "n")
        text.append(f"    {gemm}({_ROWS}, {_TURNED}, {_PLAIN}, {height}, n, {out}, 1, {rows}, {height}, b + {results}, "
                    f"{places}, 0, {to}, {pitch});")  # fmt: skip
        if not direct:
            text.append(f"    columns_{number}(y + {here}, cols, first, last);")
    else:
        to, again = (f"(i * {groups} + g)", "first > 0") if way.kind == "weigh" else ("g", "i + first > 0")
        text.append(f"    {gemm}({_ROWS}, {_PLAIN}, {_TURNED}, {out}, {height}, n, 1, a + {results}, {places}, {cols}, "
                    f"{step}, {again}, y + {to} * {out * height}LL, {height});")  # fmt: skip
    return "\n".join([*text, "  }", "}\n"])


VECTORS = """
#if defined(__AVX512F__)
#define WIDTH 64
#elif defined(__AVX__)
#define WIDTH 32
#else
#define WIDTH 16
#endif
#if defined(__clang__)
#define FUSED __attribute__((noinline))
#pragma STDC FP_CONTRACT ON
#else
#define FUSED __attribute__((noinline, optimize("fp-contract=fast")))
#endif
typedef float float_v __attribute__((vector_size(WIDTH), aligned(4), may_alias));
typedef double double_v __attribute__((vector_size(WIDTH), aligned(8), may_alias));
typedef int float_m __attribute__((vector_size(WIDTH), aligned(4), may_alias));
typedef long long double_m __attribute__((vector_size(WIDTH), aligned(8), may_alias));
static const int float_keep[32] = {[16 ... 31] = -1};
static const long long double_keep[16] = {[8 ... 15] = -1};
"""
"""FUSED: products are added before they are rounded, as BLAS does it. Of keep the last entries of a vector are kept."""
_TIMES, _WEIGHED = (6, 2), (3, 6)
"""How large tiles are: results by vectors of windows; results by entries of a window."""
_PARTS, _NEAR = 32, 4096
"""How many parts threads share; how many products are added in their own precision, such sums being added in double."""


def direct(number: int, node: Node, lowered: Lowered, memory: Memory) -> str:
    """The function ``static void windows_<number>(char **P)``."""
    way = lowered.how[node]
    assert isinstance(way, Windows)
    made = _Convolution(number, node, way, lowered)
    text, tasks, body = made.times() if way.kind == "times" else made.weighed()
    parts = min(_PARTS, tasks)
    lines = [*text, f"static void part_{number}(char **P, long part) {{"]
    for name, operand in zip(("a", "b", "bias"), way.operands, strict=False):
        lines.append(f"  {declared(operand, lowered, memory) % name}")
    first, last = (f"{tasks}LL * {k} / {parts}" for k in ("part", "(part + 1)"))
    lines.append(f"  {declared(node, lowered, memory, const=False) % 'y'}")
    lines.append(f"  for (long turn = {first}, last = {last}; turn < last; turn++) {{")
    lines += [*(f"    {line}" for line in body), "  }", "}"]
    lines.append(f"static void windows_{number}(char **P) {{ ((parallel_t) P[0])(part_{number}, P, {parts}); }}\n")
    return "\n".join(lines)


def _blocks(n: int, most: int) -> list[tuple[int, int, int]]:
    """``n`` in blocks of one size, and a smaller one for the rest: from where, to where, and how large."""
    size = min(n, most)
    end = n - n % size
    return [(0, end, size), (end, n, n - end)] if end < n else [(0, end, size)]


class _Convolution:
    """A convolution, or its adjoint by the weight, over lines of windows.

    Attributes:
        run: how many windows there are in a line, side by side.
        lines: how many lines there are along the other axes.
        places: how many windows there are in an image.
    """

    def __init__(self, number: int, node: Node, way: Windows, lowered: Lowered) -> None:
        first, images = way.operands[:2]
        self.number, self.kernel, self.height, self.name = number, way.lattice.kernel, way.height, NAMES[node.dtype]
        self.n, channels = images.shape[:2]
        self.groups, self.out = first.shape[:2] if way.kind == "times" else first.shape[1:3]
        self.image, self.channel, *steps = lowered.places[images].strides
        self.each = channels // self.groups
        self.strides = [m * s for m, s in zip(way.lattice.stride, steps, strict=True)]
        self.dilations = [m * s for m, s in zip(way.lattice.dilation, steps, strict=True)]
        *self.lines, self.run = way.windows
        self.places, self.biased = prod(way.windows), len(way.operands) == 3
        self._lanes = f"  enum {{ L = sizeof({self.name}_v) / sizeof({self.name}) }};"

    def _begin(self, rest: str) -> tuple[list[str], str]:
        """For the number of a line in an image statements, and the expression for where its first window begins."""
        found, terms = [], ["0"]
        for k in reversed(range(len(self.lines))):
            found.append(f"long p{k} = {rest} % {self.lines[k]};")
            rest = f"({rest} / {self.lines[k]})"
            terms.append(f"p{k} * {self.strides[k]}LL")
        return found, " + ".join(terms)

    # -- results --

    def times(self) -> tuple[list[str], int, list[str]]:
        """Definitions, the number of tasks, and what is done in one: all results of a group for a line of an image."""
        t, lines = self.name, prod(self.lines)
        widths = sorted({_TIMES[1], 1}, reverse=True)
        blocks = _blocks(self.out, _TIMES[0])
        text = [line for (_, _, m), v in product(blocks, widths) for line in self._tile(m, v)]
        text += [f"static void line_{self.number}(const {t} *x, const {t} *a, const {t} *bias, {t} *y) {{", self._lanes,
                 "  long j = 0;"]  # fmt: skip
        for v in widths:
            text.append(f"  for (; j + {v} * L <= {self.run}; j += {v} * L) {{")
            text += [*self._tiles(blocks, v), "  }"]
        text += [f"  if (j < {self.run}) {{", f"    j = {self.run} - L;"]  # some windows once more
        text += [*self._tiles(blocks, 1), "  }", "}"]
        found, start = self._begin("turn")
        bias = f"bias + g * {self.out}LL" if self.biased else "0"
        return text, self.n * self.groups * lines, [
            *found, f"long g = turn / {lines} % {self.groups}, i = turn / {lines * self.groups};",
            f"const {t} *x = b + i * {self.image}LL + g * {self.each * self.channel}LL + {start};",
            f"{t} *to = y + turn / {lines} * {self.out * self.places}LL + turn % {lines} * {self.run}LL;",
            f"line_{self.number}(x, a + g * {self.out * self.height}LL, {bias}, to);",
        ]  # fmt: skip

    def _tiles(self, blocks: list[tuple[int, int, int]], v: int) -> Iterator[str]:
        for first, last, m in blocks:
            bias = "bias + o" if self.biased else "0"
            yield f"    for (long o = {first}; o < {last}; o += {m})"
            yield (f"      tile_{self.number}_{m}_{v}(x + j, a + o * {self.height}LL, {bias}, "
                   f"y + o * {self.places}LL + j);")  # fmt: skip

    def _tile(self, m: int, v: int) -> Iterator[str]:
        t, both = self.name, [*product(range(m), range(v))]
        yield f"static FUSED void tile_{self.number}_{m}_{v}(const {t} *x, const {t} *a, const {t} *bias, {t} *y) {{"
        yield self._lanes
        for o, k in both:
            yield f"  {t}_v s{o}_{k} = ({t}_v) {{}}{f' + bias[{o}]' * self.biased};"
        yield f"  for (long c = 0; c < {self.each}; c++)"
        for k, size in enumerate(self.kernel):
            yield f"  for (long k{k} = 0; k{k} < {size}; k{k}++)"
        at = " + ".join([f"x + c * {self.channel}LL", *(f"k{k} * {s}LL" for k, s in enumerate(self.dilations))])
        yield f"  {{ const {t} *at = {at};"
        yield from (f"    const {t}_v v{k} = *(const {t}_v *) (at + {k} * L);" for k in range(v))
        yield from (f"    s{o}_{k} += a[{o * self.height}] * v{k};" for o, k in both)
        yield "    a++; }"
        yield from (f"  *({t}_v *) (y + {o * self.places}LL + {k} * L) = s{o}_{k};" for o, k in both)
        yield "}"

    # -- weights --

    def weighed(self) -> tuple[list[str], int, list[str]]:
        """Definitions, the number of tasks, and the code of one: a few weights, of which each is one large sum."""
        outs, entries = (_blocks(n, most) for n, most in zip((self.out, self.height), _WEIGHED, strict=True))
        at = product(range(self.each), *map(range, self.kernel))
        off = (c * self.channel + sum(map(int.__mul__, place, self.dilations)) for c, *place in at)
        text = [f"static const long off_{self.number}[] = {{{', '.join(map(str, off))}}};"]
        for (_, _, m), (_, _, q) in product(outs, entries):
            text += self._weights(m, q)
        some, many = (-(-n // blocks[0][2]) for n, blocks in ((self.out, outs), (self.height, entries)))
        body = [
            f"long q = turn % {many} * {entries[0][2]}, o = turn / {many} % {some} * {outs[0][2]};",
            f"long g = turn / {some * many};",
            f"const {self.name} *given = a + (g * {self.out} + o) * {self.places}LL;",
            f"const {self.name} *images = b + g * {self.each * self.channel}LL;",
            f"{self.name} *to = y + (g * {self.out} + o) * {self.height}LL + q;",
        ]  # fmt: skip
        for (_, end, m), (_, last, n) in product(outs, entries):
            call = f"weights_{self.number}_{m}_{n}(given, images, off_{self.number} + q, to)"
            body.append(f"if (o < {end} && q < {last}) {{ {call}; continue; }}")
        return text, self.groups * some * many, body

    def _weights(self, m: int, n: int) -> Iterator[str]:
        t, both, per = self.name, [*product(range(m), range(n))], prod(self.lines)
        yield (f"static FUSED void weights_{self.number}_{m}_{n}(const {t} *a, const {t} *b, const long *off, "
               f"{t} *y) {{")  # fmt: skip
        yield self._lanes
        yield from (f"  const {t} *b{q} = b + off[{q}];" for q in range(n))
        yield from (f"  double t{o}_{q} = 0;" for o, q in both)
        lines, most = self.n * per, max(1, _NEAR // self.run)
        yield f"  for (long from = 0; from < {lines}; from += {most}) {{"
        yield from (f"    {t}_v s{o}_{q} = {{}};" for o, q in both)
        yield f"    for (long line = from; line < {lines} && line < from + {most}; line++) {{"
        found, start = self._begin(f"(line % {per})")
        yield from (f"      {line}" for line in found)
        yield f"      long at = line / {per} * {self.image}LL + {start};"
        whole = self.groups * self.out * self.places
        yield f"      const {t} *given = a + line / {per} * {whole}LL + line % {per} * {self.run}LL;"
        yield f"      for (long j = 0; j + L <= {self.run}; j += L) {{"
        yield from self._added(m, n, "j")
        yield f"      }}\n      if ({self.run} % L) {{"
        most = 16 if t == "float" else 8
        yield f"        const {t}_m keep = *(const {t}_m *) ({t}_keep + {most} - L + {self.run} % L);"
        yield from self._added(m, n, f"{self.run} - L", keep=True)
        yield "      }\n    }"
        for o, q in both:
            yield f"    for (long l = 0; l < L; l++) t{o}_{q} += s{o}_{q}[l];"
        yield "  }"
        yield from (f"  y[{o * self.height + q}] = t{o}_{q};" for o, q in both)
        yield "}"

    def _added(self, m: int, n: int, j: str, keep: bool = False) -> Iterator[str]:
        def read(name: str, at: str) -> str:
            t = self.name
            what = f"({t}_v) (*(const {t}_m *) ({at}) & keep)" if keep else f"*(const {t}_v *) ({at})"
            return f"        const {t}_v {name} = {what};"

        yield from (read(f"u{o}", f"given + {o * self.places}LL + {j}") for o in range(m))
        yield from (read(f"v{q}", f"b{q} + at + {j}") for q in range(n))
        yield from (f"        s{o}_{q} += u{o} * v{q};" for o, q in product(range(m), range(n)))
