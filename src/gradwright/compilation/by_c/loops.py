"""A step that is a loop, as C text: its axes joined where memory allows, cut in blocks, shared out among threads.

Products that are added are rounded once: one operation for two, where only the last digits of sums see it. A fused
x y - z is not 0 where the rounded x y is z. So a product is fused into a sum over entries, and into x y + z for
a single number z, if all that comes of it in the program are sums over entries, sums and products: no root, logarithm,
denominator or comparison may meet what was 0. And never into a sum with another product: x x - y y stays 0 for equal
x and y.
"""

from __future__ import annotations

import math
from collections.abc import Set
from math import prod
from typing import Any, NamedTuple

import numpy as np

from gradwright.compilation.by_c import symbols
from gradwright.compilation.by_c.elements import BOOL, NAMES, Element, cast, literal, suffix, variable
from gradwright.compilation.by_c.lowered import Lowered, Reduction
from gradwright.compilation.by_c.memory import Memory, Spot, pointer
from gradwright.compilation.by_c.places import in_order
from gradwright.compilation.by_c.steps import Step, in_step, operands
from gradwright.compilation.node import CONSTANT, Node

JOIN = {"sum": "{0} += {1};", "prod": "{0} *= {1};", "any": "{0} |= {1};", "all": "{0} &= {1};",
        "max": "{0} = MOST({0}, {1});", "min": "{0} = LEAST({0}, {1});"}  # fmt: skip
CLAUSE = {"sum": "+", "prod": "*", "any": "|", "all": "&", "max": "most", "min": "least"}


class Sum(NamedTuple):
    """A reduction in a loop: which axes stay, the strides of its result over all, whether all is added in double."""

    node: Node
    kind: str
    kept: tuple[bool, ...]
    strides: tuple[int, ...]
    nearer: bool = False

    @property
    def dtype(self) -> Any:
        """The dtype in which a block is reduced."""
        return self.wide if self.nearer else self._own

    @property
    def _own(self) -> Any:
        return np.dtype(np.uint8) if self.kind in ("any", "all") else self.node.dtype

    @property
    def wide(self) -> Any:
        """The dtype in which blocks are joined."""
        return np.dtype(np.float64) if self.kind in ("sum", "prod") and self._own.kind == "f" else self._own

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
        kind = CLAUSE[self.kind]
        return kind if kind in "+*|&" else f"{kind}_{short(self.dtype)}"

    def join(self, to: str, value: str) -> str:
        """The statement that adds a value to a place."""
        return JOIN[self.kind].format(to, value)


def short(dtype: Any) -> str:
    """A dtype in few letters."""
    return f"{dtype.kind}{8 * dtype.itemsize}"


def extremes() -> str:
    """Declarations of the largest and the smallest for every type; a NaN stays."""
    lines = []
    for dtype, name in NAMES.items():
        if dtype == BOOL:
            continue
        for kind, macro in (("max", "MOST"), ("min", "LEAST")):
            start = Sum(None, kind, (), ()).start(dtype)  # type: ignore[arg-type]
            word = f"{CLAUSE[kind]}_{short(dtype)}"
            lines.append(f"#pragma omp declare reduction({word} : {name} : omp_out = {macro}(omp_out, omp_in)) "
                         f"initializer(omp_priv = {start})")  # fmt: skip
    return "\n".join(lines)


MACROS = """
#if defined(__FMA__) || defined(__aarch64__)
#define fused(a, b, c) __builtin_fma(a, b, c)
#define fusedf(a, b, c) __builtin_fmaf(a, b, c)
#else
#define fused(a, b, c) ((a) * (b) + (c))
#define fusedf(a, b, c) ((a) * (b) + (c))
#endif
"""
_TAME = frozenset({"add", "subtract", "multiply", "negative", "square", "copy", "astype", "positive"})


def tame(lowered: Lowered) -> set[Node]:
    """What ends in results by nothing but sums and products, as far as the program goes."""
    wild = [node for node in lowered.nodes if not lowered.rounds(node)]
    for user in lowered.nodes:
        wild += [root for operand in operands(lowered, user)
                 if not _takes(lowered, user, root := lowered.root(operand))]  # fmt: skip
    found = set(lowered.nodes) - set(wild)
    while wild:
        node = wild.pop()
        if node in lowered.how:
            before = {lowered.root(operand) for operand in operands(lowered, node)} & found
            found -= before
            wild += before
    return found


def fused_in(step: Step, lowered: Lowered, memory: Memory, tame: Set[Node]) -> set[Node]:
    """The products of a loop that are computed only within what takes them: a sum, a difference, or a reduction."""
    users: dict[Node, list[Node]] = {}
    for node in step.nodes:
        for operand in operands(lowered, node):
            users.setdefault(lowered.root(operand), []).append(node)
    ends: set[Node] = set()  # in sums of this loop, and only there
    for node in reversed(step.nodes):
        within = all(_sum(lowered, user) or user in ends for user in users.get(node, ()))
        if within and node not in memory.materialized and node in tame:
            ends.add(node)
    found: set[Node] = set()
    for node in step.nodes:
        if not is_product(lowered, node) or node not in ends or len(users[node]) != 1:
            continue
        (user,) = users[node]
        if _sum(lowered, user):
            found.add(node)
        elif user.op in ("add", "subtract") and user.dtype == node.dtype:
            others = [o for o in operands(lowered, user) if lowered.root(o) is not node]
            if all(prod(o.shape) == 1 and not is_product(lowered, lowered.root(o)) for o in others):
                found.add(node)
    return found


def is_product(lowered: Lowered, node: Node) -> bool:
    """Whether a node is a product of two of its own floating-point numbers, entry by entry."""
    way = lowered.how.get(node)
    floats = isinstance(way, Element) and node.dtype.kind == "f" and all(d == node.dtype for d in way.dtypes)
    return floats and node.op in ("multiply", "square")


def _takes(lowered: Lowered, user: Node, node: Node) -> bool:
    """Whether what takes a node is a sum, a product, or a quotient of which it is the numerator."""
    way = lowered.how[user]
    if isinstance(way, Reduction):
        return way.kind == "sum"
    if not isinstance(way, Element):
        return False
    if user.op in ("divide", "true_divide"):
        return not any(isinstance(o, Node) and lowered.root(o) is node for o in way.operands[1:])
    return user.op in _TAME


def _sum(lowered: Lowered, node: Node) -> bool:
    way = lowered.how[node]
    return isinstance(way, Reduction) and way.kind == "sum" and node.dtype == way.operand.dtype


def fused(op: str, product: tuple[str, str], other: str, first: bool, dtype: object) -> str:
    """The expression for a product and what it is added to or subtracted from; ``first``: the product stands first."""
    x, y = product
    if op == "subtract":
        x, other = (x, f"-({other})") if first else (f"-({x})", other)
    return f"fused{suffix(dtype)}({x}, {y}, {other})"


BLOCK, SHORT = 4096, 256
"""So many entries are added in their own precision; such sums are added in double precision. Kernels built ahead, which
are to be as near to exact as NumPy's sums, add fewer, or those of single precision in double at once."""
_LINES = 64
"""So many lines are added up, entry by entry, in their own precision."""
_PARTS, _WORK = 32, 1 << 17
"""How many parts a loop has that threads share, and the work, in entries times operations, from which it has them."""
_TILE, _ALONG, _FAR = 16, (64, 8), 1024
"""How long tiles are along the axis that one array lies along, and along the last: less if entries lie a multiple of
so many bytes apart there, since these share their places in the cache, which holds few of them."""
_HEAVY = frozenset({
    "exp", "log", "sin", "cos", "tan", "tanh", "power", "pow", "erf", "special.erf", "expm1", "log1p", "atan", "sinh",
    "cosh", "logaddexp", "atan2", "arctan", "asin", "acos", "special.erfc",
})  # fmt: skip


class Access(NamedTuple):
    """What is read or written in a loop: its name in C, its type, where it lies, and its strides over the axes."""

    name: str
    dtype: Any
    spot: Spot
    start: int
    strides: tuple[int, ...]
    written: bool = False


class Loop:
    """One loop.

    Attributes:
        text: its function in C, ``static void loop_<number>(char **P, long part)``, and, if reductions are left to
            join, ``join_<number>(char **P)``.
        parts: in how many parts it is called.
        joined: whether there is something to join.
    """

    def __init__(self, number: int, step: Step, lowered: Lowered, memory: Memory, tame: Set[Node] = frozenset(),
                 split: bool = True) -> None:  # fmt: skip
        self.number, self.step, self.lowered, self.memory, self.split = number, step, lowered, memory, split
        self._reads: dict[tuple[Any, ...], Access] = {}
        self._writes: list[Access] = []
        self._body: list[str] = []
        self._names: dict[Node, str] = {}
        self._sums: list[Sum] = []
        self._inside: dict[Node, str] = {}
        self._fused = fused_in(step, lowered, memory, tame)
        self._products: dict[str, tuple[str, str]] = {}
        assert step.space is not None
        for node in step.nodes:
            self._compute(node)
        work = math.prod(step.space) * sum(16 if n.op in _HEAVY else 1 for n in step.nodes)
        self.shape = self._joined(step.space)
        self.block = BLOCK if split or all(s.dtype != s.node.dtype for s in self._sums if s.kind == "sum") else SHORT
        self._lay_out(split and work >= _WORK)
        self.text = self._function() + self._joining()

    def _compute(self, node: Node) -> None:
        way: Any = self.lowered.how[node]
        if isinstance(way, Element):
            given = [self._operand(o, node.shape, d) for o, d in zip(way.operands, way.dtypes, strict=True)]
            if node in self._fused:
                self._names[node] = f"({given[0]} * {given[-1]})"
                self._products[self._names[node]] = given[0], given[-1]
                return
            name = self._names[node] = f"t{len(self._names)}"
            self._body.append(f"{variable(node.dtype)} {name} = {self._written(node, way, given)};")
            if node in self.memory.materialized:
                spot, place = self.memory.spots[node], self.lowered.places[node]
                target = self.memory.in_place.get(node)
                if target is not None:
                    place = self.lowered.places[target]
                access = Access(f"w{len(self._writes)}", node.dtype, spot, place.start, place.over(node.shape), True)
                self._writes.append(access)
                self._inside[node] = access.name
            return
        name = self._operand(way.operand, way.operand.shape, node.dtype if way.kind in ("sum", "prod") else None)
        if way.kind in ("any", "all") and way.operand.dtype != BOOL:
            name = f"({name} != 0)"
        kept = tuple(k for k, n in zip(way.kept, way.operand.shape, strict=True) if n != 1)
        space: Any = self.step.space
        inner = in_order(tuple(n for k, n in zip(kept, space, strict=True) if k))
        rest = iter(inner)
        self._sums.append(Sum(node, way.kind, kept, tuple(next(rest) if k else 0 for k in kept), not self.split))
        self._body.append(f"@{len(self._sums) - 1}@{name}")

    def _written(self, node: Node, way: Element, given: list[str]) -> str:
        for first, (product, other) in ((True, given), (False, given[::-1])) if node.op in ("add", "subtract") else ():
            if product in self._products:
                return fused(node.op, self._products[product], other, first, node.dtype)
        return way.write(given, node.dtype)

    def _joined_to(self, s: Sum, to: str, value: str) -> str:
        """The statement that adds an entry to the sums of its block."""
        if value in self._products:
            return f"{to} = {fused('add', self._products[value], to, True, s.dtype)};"
        return s.join(to, value)

    def _operand(self, operand: Any, shape: tuple[int, ...], dtype: Any) -> str:
        """The C expression for an operand's entry, as ``dtype``, None being its own."""
        if not isinstance(operand, Node):
            return str(literal(operand, dtype))
        own = operand.dtype
        dtype = own if dtype is None else dtype
        place = self.lowered.places[operand]
        root = place.root
        if root.op == CONSTANT and root.args[0].size == 1:
            value = symbols.known()(root.args[0].item())
            return str(literal(value, own)) if own == dtype else cast(str(literal(value, own)), own, dtype)
        if root in self._names and in_step(self.lowered, operand, shape):
            return cast(self._names[root], own, dtype)
        key = (root, place.start, place.over(shape))
        if key not in self._reads:
            self._reads[key] = Access(f"x{len(self._reads)}", own, self.memory.spots[root], *key[1:])
        return cast(f"{self._reads[key].name}_", own, dtype)

    def _joined(self, space: tuple[int, ...]) -> tuple[int, ...]:
        """The space with axes joined that all memory takes as one; strides and the like are changed along."""
        rows: list[list[Any]] = [list(a.strides) for a in (*self._reads.values(), *self._writes)]
        rows += [list(s.strides) for s in self._sums]
        masks = [list(s.kept) for s in self._sums]
        shape = list(space)
        k = len(shape) - 2
        while k >= 0:
            if all(r[k] == r[k + 1] * shape[k + 1] for r in rows) and all(m[k] == m[k + 1] for m in masks):
                shape[k : k + 2] = [shape[k] * shape[k + 1]]
                for row in (*rows, *masks):
                    del row[k]
            k -= 1
        if not shape:
            shape = [1]
            for row in rows:
                row.append(1)
            for row in masks:
                row.append(False)
        strides = iter(rows)
        self._reads = {key: a._replace(strides=tuple(next(strides))) for key, a in self._reads.items()}
        self._writes = [a._replace(strides=tuple(next(strides))) for a in self._writes]
        self._sums = [s._replace(strides=tuple(next(strides)), kept=tuple(m))
                      for s, m in zip(self._sums, masks, strict=True)]  # fmt: skip
        return tuple(shape)

    def _lay_out(self, large: bool) -> None:
        """Decide about blocks, parts, and how each reduction comes about."""
        *outer, inner = self.shape
        reduced = any(not s.kept[-1] for s in self._sums)
        self.turned = self._turned_axis()
        self.blocked = self.turned is None and inner > self.block and (reduced or (large and not outer))
        self.outer = [*outer, -(-inner // self.block)] if self.blocked else outer
        if self.turned is not None:
            self.outer[self.turned] = -(-self.outer[self.turned] // _TILE)
        self.threaded = 0
        if large:
            while self.threaded < len(self.outer) and math.prod(self.outer[: self.threaded]) < _PARTS:
                self.threaded += 1
        turns = math.prod(self.outer[: self.threaded])
        self.parts = min(_PARTS, turns) if turns else 1
        self.direct, self.scratch, self.lines = {}, {}, {}
        for k, s in enumerate(self._sums):
            kept = [*s.kept[:-1], *([s.kept[-1]] if self.blocked else []), s.kept[-1]]
            first = kept.index(False) if False in kept else len(kept)
            if not any(kept[first:]) and first >= self.threaded and first < len(kept):
                self.direct[k] = first
            else:
                size = math.prod(n for n, stays in zip(self.shape, s.kept, strict=True) if stays)
                self.scratch[k] = (self.memory.scratch(size * self.parts * s.wide.itemsize), size)
                if s.dtype != s.wide and s.kept[-1] and not any(s.kept[:-1]):
                    self.lines[k] = self.memory.scratch(size * self.parts * s.dtype.itemsize)
        self.joined = bool(self.scratch)

    def _turned_axis(self) -> int | None:
        """The axis along which an array lies that is read across the last one: then the loop goes tile by tile."""
        for read in self._reads.values():
            if abs(read.strides[-1]) >= _TILE <= self.shape[-1] and not self._sums:
                for axis, (n, step) in enumerate(zip(self.shape[:-1], read.strides, strict=False)):
                    if abs(step) == 1 and n > 1:
                        return axis
        return None

    def _variable(self, level: int) -> str:
        return f"tile{level}" if level == self.turned else f"i{level}"

    def _index(self, access_strides: tuple[int, ...]) -> str:
        """Where an access begins in the innermost loop."""
        terms = []
        for k, step in enumerate(access_strides[:-1]):
            if step:
                terms.append(f"i{k} * {step}LL")
        if self.blocked and access_strides[-1]:
            terms.append(f"low * {access_strides[-1]}LL")
        return " + ".join(terms) or "0"

    def _function(self) -> str:
        lines = [f"static void loop_{self.number}(char **P, long part) {{"]
        for access in (*self._reads.values(), *self._writes):
            kind = "const " * (not access.written) + NAMES[access.dtype]
            at = pointer(access.spot, NAMES[access.dtype], access.start, access.dtype.itemsize, not access.written)
            lines.append(f"  {kind} *{access.name} = {at};")
        for k, (spot, size) in self.scratch.items():
            s = self._sums[k]
            name = NAMES[s.wide]
            lines.append(f"  {name} *a{k} = {pointer(spot, name, 0, 1, False)} + part * {size}LL;")
            lines.append(f"  for (long k = 0; k < {size}; k++) a{k}[k] = {s.start(s.wide)};")
        for k in self.direct:
            s = self._sums[k]
            name = NAMES[s.node.dtype]
            at = pointer(self.memory.spots[s.node], name, 0, s.node.dtype.itemsize, False)
            lines.append(f"  {name} *a{k} = {at};")
        for k, spot in self.lines.items():
            s, size = self._sums[k], self.scratch[k][1]
            name = NAMES[s.dtype]
            lines.append(f"  {name} *n{k} = {pointer(spot, name, 0, 1, False)} + part * {size}LL;")
            lines.append(f"  for (long k = 0; k < {size}; k++) n{k}[k] = {s.start(s.dtype)};")
        if self.lines:
            lines.append("  long lines = 0;")
        lines += ["  " + line for line in self._nest(0)]
        lines += ["  " + line for line in self._lines_joined()]
        return "\n".join([*lines, "}\n"])

    def _lines_joined(self) -> list[str]:
        """What adds the sums of a few lines to those of all."""
        found = []
        for k in self.lines:
            s, size = self._sums[k], self.scratch[k][1]
            join = s.join(f"a{k}[k]", f"n{k}[k]")
            found.append(f"for (long k = 0; k < {size}; k++) {{ {join} n{k}[k] = {s.start(s.dtype)}; }}")
        return found

    def _nest(self, level: int) -> list[str]:
        lines: list[str] = []
        mine = [k for k, first in self.direct.items() if first == level and level < len(self.outer)]
        for k in mine:
            s = self._sums[k]
            lines.append(f"{NAMES[s.wide]} d{k} = {s.start(s.wide)};")
        if level < len(self.outer):
            n = self.outer[level]
            if level < self.threaded:
                if level == 0:
                    total = math.prod(self.outer[: self.threaded])
                    first, last = (f"{total}LL * {k} / {self.parts}" for k in ("part", "(part + 1)"))
                    lines.append(f"for (long turn = {first}, last = {last}; turn < last; turn++) {{")
                    rest = "turn"
                    for j in reversed(range(self.threaded)):
                        value = rest if j == 0 else f"{rest} % {self.outer[j]}"
                        lines.append(f"  long {self._variable(j)} = {value};")
                        rest = f"({rest} / {self.outer[j]})"
                    lines += ["  " + line for line in self._nest(self.threaded)] + ["}"]
            else:
                i = self._variable(level)
                lines.append(f"for (long {i} = 0; {i} < {n}; {i}++) {{")
                lines += ["  " + line for line in self._nest(level + 1)] + ["}"]
        else:
            lines += self._innermost()
        for k in mine:
            s = self._sums[k]
            lines.append(f"a{k}[{self._result(s)}] = {cast(f'd{k}', s.wide, s.node.dtype)};")
        return lines

    def _result(self, s: Sum, inner: str = "") -> str:
        """Where the result of a reduction lies, at these axes that stay."""
        terms = [f"i{k} * {step}LL" for k, step in enumerate(s.strides[:-1]) if step]
        if inner and s.strides[-1]:
            terms.append(f"{inner} * {s.strides[-1]}LL")
        return " + ".join(terms) or "0"

    def _innermost(self) -> list[str]:
        n = self.shape[-1]
        if self.turned is None:
            return self._line("0", str(n))
        k, size = self.turned, self.shape[self.turned]
        far = any(r.strides[-1] and r.strides[-1] * r.dtype.itemsize % _FAR == 0 for r in self._reads.values())
        along = _ALONG[far]
        begin, end = f"tile{k} * {_TILE}LL", f"(tile{k} + 1) * {_TILE}LL"
        return [
            f"for (long from = 0; from < {n}; from += {along}) {{",
            f"  long to = from + {along} < {n} ? from + {along} : {n}, end = {end} < {size} ? {end} : {size};",
            f"  for (long i{k} = {begin}; i{k} < end; i{k}++) {{",
            *(f"    {line}" for line in self._line("from", "to")),
            "  }", "}",
        ]  # fmt: skip

    def _line(self, low: str, high: str) -> list[str]:
        """The innermost loop, from and to these."""
        n = self.shape[-1]
        lines: list[str] = []
        if self.blocked:
            block = len(self.outer) - 1
            most = self.block
            lines.append(f"long low = i{block} * {most}LL, high = {n}LL - low < {most} ? {n}LL - low : {most};")
            high = "high"
        body: list[str] = []
        for access in (*self._reads.values(), *self._writes):
            name = f"{access.name}p"
            kind = "const " * (not access.written) + NAMES[access.dtype]
            lines.append(f"{kind} *{name} = {access.name} + ({self._index(access.strides)});")
            step = access.strides[-1]
            if not access.written:
                read = f"{name}[{_times(step)}]"
                read = f"{read} != 0" if access.dtype == BOOL else read
                line = f"{variable(access.dtype)} {access.name}_ = {read};"
                (body if step else lines).append(line)
        clauses = []
        after = []
        for line in self._body:
            if not line.startswith("@"):
                body.append(line)
                continue
            _, number, name = line.split("@", 2)
            k = int(number)
            s = self._sums[k]
            if s.kept[-1]:
                offset = "low + i" if self.blocked else "i"
                where = self._result(s, f"({offset})")
                join = self._joined_to if k in self.lines or s.dtype == s.wide else Sum.join
                body.append(join(s, f"{'n' if k in self.lines else 'a'}{k}[{where}]", name))
                continue
            lines.append(f"{NAMES[s.dtype]} r{k} = {s.start(s.dtype)};")
            clauses.append(f"reduction({s.clause}:r{k})")
            body.append(self._joined_to(s, f"r{k}", name))
            if k in self.scratch:
                after.append(s.join(f"a{k}[{self._result(s)}]", f"r{k}"))
            elif self.direct[k] == len(self.outer):
                after.append(f"a{k}[{self._result(s)}] = r{k};")
            else:
                after.append(s.join(f"d{k}", f"r{k}"))
        if self.lines:
            most = _LINES * (-(-n // self.block) if self.blocked else 1)
            after += [f"if (++lines == {most}) {{", *self._lines_joined(), "lines = 0; }"]
        for node, name in self._inside.items():
            access = next(a for a in self._writes if a.name == name)
            body.append(f"{name}p[{_times(access.strides[-1])}] = {self._names[node]};")
        if n == 1:
            return [*lines, "{ const long i = 0; (void) i;", *("  " + b for b in body), "}", *after]
        pragma = " ".join(["#pragma omp simd", *clauses])
        return [*lines, pragma, f"for (long i = {low}; i < {high}; i++) {{", *("  " + b for b in body), "}", *after]

    def _joining(self) -> str:
        if not self.scratch:
            return ""
        lines = [f"static void join_{self.number}(char **P) {{"]
        for k, (spot, size) in self.scratch.items():
            s = self._sums[k]
            wide, own = NAMES[s.wide], NAMES[s.node.dtype]
            to = pointer(self.memory.spots[s.node], own, 0, s.node.dtype.itemsize, False)
            join = s.join("t", f"a[part * {size}LL + k]")
            lines += [
                f"  {{ const {wide} *a = {pointer(spot, wide, 0, 1, True)}; {own} *out = {to};",
                f"    for (long k = 0; k < {size}; k++) {{",
                f"      {wide} t = a[k];",
                f"      for (long part = 1; part < {self.parts}; part++) {join}",
                f"      out[k] = {cast('t', s.wide, s.node.dtype)}; }} }}",
            ]
        return "\n".join([*lines, "}\n"])

    @property
    def calls(self) -> str:
        """The statements that run it."""
        run = f"loop_{self.number}(P, 0);"
        if self.parts > 1:
            run = f"((parallel_t) P[0])(loop_{self.number}, P, {self.parts});"
        return run + (f" join_{self.number}(P);" if self.joined else "")


def _times(step: int) -> str:
    return "i" if step == 1 else "0" if step == 0 else f"i * {step}LL"
