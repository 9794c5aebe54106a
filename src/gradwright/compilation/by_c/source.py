"""The C text of a program: a function for each step, and one for each stretch of steps that Python has no part in."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from math import prod
from typing import Any, NamedTuple

from gradwright.compilation.by_c.build import vector_functions
from gradwright.compilation.by_c.convolutions import VECTORS, columns, direct
from gradwright.compilation.by_c.elements import NAMES
from gradwright.compilation.by_c.functions import needed
from gradwright.compilation.by_c.gathers import Gather, Spread
from gradwright.compilation.by_c.line_text import lines
from gradwright.compilation.by_c.lines import Line
from gradwright.compilation.by_c.loops import JOIN, MACROS, Loop, extremes, tame
from gradwright.compilation.by_c.lowered import Check, Lowered
from gradwright.compilation.by_c.memory import Memory, pointer
from gradwright.compilation.by_c.places import Place, in_order
from gradwright.compilation.by_c.products import Blas, declarations, product
from gradwright.compilation.by_c.steps import Steps
from gradwright.compilation.by_c.windows import Windows
from gradwright.compilation.node import Node

_WRITTEN = {"add": JOIN["sum"], "zeros": JOIN["sum"], "prod": JOIN["prod"], "max": JOIN["max"], "put": "{0} = {1};"}


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
        lines.append(f"  __builtin_mem{'set(y, 0' if way.kind == 'zeros' else 'cpy(y, x'}, {size});")
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
    if way.kind == "take":
        lines.append(f"{indent}  y[{outer}] = x[{inner}];")
    else:
        lines.append(f"{indent}  {_WRITTEN[way.kind].format(f'y[{inner}]', f'src[{outer}]')}")
    lines += ["  " * k + "}" for k in range(last + 1, 0, -1)]
    return "\n".join([*lines, "  return 0;", "}\n"])


def spread(number: int, node: Node, way: Spread, places: Callable[[Node], Place], memory: Memory) -> str:
    """The function ``static void spread_<number>(char **P)``."""
    kind, place, size = NAMES[node.dtype], places(way.operand), node.dtype.itemsize
    to, base = pointer(memory.spots[node], kind, 0, size, False), "set(y, 0"
    if way.base is not None:
        of = places(way.base)
        base = f"cpy(y, {pointer(memory.spots[of.root], kind, of.start, size, True)}"
    lines = [f"static void spread_{number}(char **P) {{", f"  {kind} *y = {to};",
             f"  const {kind} *x = {pointer(memory.spots[place.root], kind, place.start, size, True)};",
             f"  __builtin_mem{base}, {prod(node.shape)} * sizeof *y);"]  # fmt: skip
    lines += [f"  for (long i{k} = 0; i{k} < {n}; i{k}++)" for k, n in enumerate(place.shape)]
    here, there = _sum(enumerate(place.strides)), _sum(enumerate(way.strides))
    return "\n".join([*lines, f"    y[{way.start} + {there}] = x[{here}];", "}\n"])


def _sum(steps: Iterable[tuple[int, int]]) -> str:
    return " + ".join(f"i{k} * {s}LL" for k, s in steps if s) or "0"


_UNARY = (
    "sqrt", "fabs", "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sin", "cos", "tan", "asin", "acos",
    "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "floor", "ceil", "trunc", "rint", "erf", "erfc",
)  # fmt: skip
_BINARY = ("pow", "atan2", "hypot", "copysign", "nextafter", "fmax", "fmod")
_BEGIN = """
typedef void (*parallel_t)(void (*)(char **, long), char **, long);
#define MOST(a, b) ((((a) > (b)) | ((a) != (a))) ? (a) : (b))
#define LEAST(a, b) ((((a) < (b)) | ((a) != (a))) ? (a) : (b))
#define WHOLE(kind, end, x) ({ __typeof__(x) x_ = (x); \
  x_ > -1 && x_ < 1 ? 0 : x_ >= -end && x_ < end ? (kind) x_ : (kind) (1ULL << (8 * sizeof(kind) - 1)); })
"""
"""WHOLE: of a cast there and back the compiler makes trunc(x), which differs for -0.5, NaN and what is large."""


class Source(NamedTuple):
    """A program in C.

    Attributes:
        text: all of it.
        stretches: what is done one after another: the number of a function ``run_<number>``, or a node to call.
        records: for each step its kind, its name, the nodes in it, and how many entries it has.
    """

    text: str
    stretches: list[int | Node]
    records: list[dict[str, Any]]


def source(lowered: Lowered, steps: Steps, memory: Memory, blas: Blas | None) -> Source:
    """The program in C."""
    text, stretches, records = functions(lowered, steps, memory)
    return Source(whole(text, blas, vector_functions()), stretches, records)


def whole(text: str, blas: Blas | None, vector: frozenset[str]) -> str:
    """Functions, and what they need before them; the C library has these of its own for whole vectors."""
    text = needed(text) + text
    return "\n".join([*_head(text, blas, vector), text])


def functions(lowered: Lowered, steps: Steps, memory: Memory, split: bool = True) -> Source:
    """The functions of a program; if not ``split``, its loops are not shared among threads."""
    texts, records, calls = list[tuple[str, str]](), [], []
    ends = tame(lowered)
    for k, step in enumerate(steps.steps):
        first = step.nodes[0]
        record: dict[str, Any] = {"nodes": step.nodes, "seconds": 0.0, "entries": 0}
        if step.space is not None:
            loop = Loop(k, step, lowered, memory, ends, split)
            texts.append((_about(step.nodes, f"{' x '.join(map(str, step.space)) or 'one entry'}"), loop.text))
            calls.append(loop.calls)
            entries = 1
            for n in step.space:
                entries *= n
            record |= {"kind": "C", "entries": entries}
        elif isinstance(check := lowered.how[first], Check):
            texts.append((_about(step.nodes, "check"), _checking(k, check, lowered, memory)))
            calls.append(f"if (check_{k}(P)) return number + 1;")
            record |= {"kind": "C"}
        elif isinstance(way := lowered.how[first], Windows):
            text = (direct if way.as_it_lies else columns)(k, first, lowered, memory)
            texts.append((_about(step.nodes, " x ".join(map(str, first.shape))), text))
            calls.append(f"windows_{k}(P);")
            record |= {"kind": "BLAS" if way.scratch else "C", "entries": math.prod(first.shape)}
        elif isinstance(way := lowered.how[first], Gather):
            text = gather(k, first, way, lowered.places.__getitem__, memory)
            texts.append((_about(step.nodes, " x ".join(map(str, way.shape))), text))
            calls.append(f"if (gather_{k}(P)) return number + 1;")
            record |= {"kind": "C", "entries": math.prod(way.shape)}
        elif isinstance(way := lowered.how[first], Spread):
            text = spread(k, first, way, lowered.places.__getitem__, memory)
            texts.append((_about(step.nodes, " x ".join(map(str, first.shape))), text))
            calls.append(f"spread_{k}(P);")
            record |= {"kind": "C", "entries": math.prod(first.shape)}
        elif isinstance(way := lowered.how[first], Line):
            text = lines(k, first, way, lowered.places.__getitem__, memory)
            texts.append((_about(step.nodes, " x ".join(map(str, way.operand.shape))), text))
            calls.append(f"lines_{k}(P);")
            record |= {"kind": "C", "entries": math.prod(way.operand.shape)}
        elif lowered.how[first] is not None:
            texts.append((_about(step.nodes, " x ".join(map(str, first.shape))), product(k, first, lowered, memory)))
            calls.append(f"product_{k}(P);")
            record |= {"kind": "BLAS"}
        else:
            texts.append(("", ""))
            calls.append("")
            record |= {"kind": "host" if first.op in ("host", "check") else "NumPy"}
        record["name"] = ", ".join(dict.fromkeys(n.op for n in step.nodes))
        records.append(record)
    parts, turn = _shared(texts, calls)
    stretches: list[int | Node] = []
    runs: list[str] = []
    for called, group in groupby(range(len(calls)), lambda k: bool(calls[k])):
        numbers = list(group)
        if called:
            turns = f"for (long k = {numbers[0]}; k <= {numbers[-1]}; k++)"
            runs.append(f"long run_{len(runs)}(char **P) {{\n  {turns} {{\n    const long stopped = turn(P, k);\n"
                        "    if (stopped) return stopped;\n  }\n  return 0;\n}\n")  # fmt: skip
            stretches.append(len(runs) - 1)
        else:
            stretches += [steps.steps[k].nodes[0] for k in numbers]
    single = f"{turn}long step(char **P, long number) {{ return turn(P, number); }}\n"  # a name that the C library has
    return Source("\n".join([*parts, single, *runs]), stretches, records)


_AT = re.compile(r"P\[(\d+)\](?: ([+-]) (\d+))?")
_NAME = re.compile(r"\b([a-z]+)_(\d+)(?![^\W_])")
_LAY = """
static __attribute__((noinline)) void lay(char **Q, char **P, const long long *places, long n) {
  for (long k = 0; k < OWN; k++) Q[k] = P[k];
  for (long k = 0; k < n; k++) Q[FIRST + k] = P[places[2 * k]] + places[2 * k + 1];
}
""".replace("OWN", str(Memory.OWN)).replace("FIRST", str(Memory.FIRST))


def _opened(number: int, text: str) -> tuple[str, list[tuple[int, int]]]:
    """Functions for pointers of a table of their own, in whose names @ is for their number; and these pointers."""
    places: dict[tuple[int, int], int] = {}

    def numbered(found: re.Match[str]) -> str:
        slot = int(found[1])
        if slot < Memory.OWN:
            return found[0]
        at = slot, int((found[2] or "+") + (found[3] or "0"))
        return f"P[{Memory.FIRST + places.setdefault(at, len(places))}]"

    return _unnumbered(number, _AT.sub(numbered, text)), [*places]


def _unnumbered(number: int, text: str) -> str:
    """Text with @ in place of the number in the names of functions."""
    own = str(number)
    return _NAME.sub(lambda found: f"{found[1]}_@" if found[2] == own else found[0], text)


def _shared(texts: list[tuple[str, str]], calls: list[str]) -> tuple[list[str], str]:
    """The functions, those that differ in nothing but addresses made one; and ``turn``, which calls that of a step.

    What there is to compile grows with the functions: the steps that share one are lines of a table.
    """
    opened = [_opened(k, text) for k, (_, text) in enumerate(texts)]
    named = [_unnumbered(k, call) for k, call in enumerate(calls)]
    alike: dict[tuple[str, str], list[int]] = {}
    for k, (text, _) in enumerate(opened):
        if text:
            alike.setdefault((text, named[k]), []).append(k)
    parts, cases, table, most = list[str](), list[str](), list[tuple[int, int]](), 0
    kinds, starts = [*range(len(texts))], [0] * len(texts)
    for (text, call), numbers in alike.items():
        first, shared, places = numbers[0], len(numbers) > 1, opened[numbers[0]][1]
        about = "".join(dict.fromkeys(texts[k][0] for k in numbers))
        done = calls[first]
        if shared:
            text = re.sub("^static (void|int)", r"static __attribute__((noinline)) \1", text, flags=re.MULTILINE)
            call = re.sub(r"\bP\b(?!\[)", "Q", call).replace("_@", f"_{first}")
            done = f"lay(Q, P, at, {len(places)}); {call}"
            most = max(most, len(places))
            for k in numbers:
                kinds[k], starts[k] = first, 2 * len(table)
                table += opened[k][1]
        parts.append(about + (text.replace("_@", f"_{first}") if shared else texts[first][1]))
        cases.append(f"    case {first}: {done} break;\n")
    if not table:
        turn = f"  switch (number) {{\n{''.join(cases)}  }}\n"
        return parts, f"static long turn(char **P, long number) {{\n{turn}  return 0;\n}}\n"
    listed = [("int", "kinds", kinds), ("long", "starts", starts),
              ("long long", "places", [n for pair in table for n in pair])]  # fmt: skip
    tables = "".join(f"static const {kind} {name}[] = {{{', '.join(map(str, values))}}};\n"
                     for kind, name, values in listed)  # fmt: skip
    turn = (f"  const long long *at = places + starts[number];\n  char *Q[{Memory.FIRST + most}];\n"
            f"  switch (kinds[number]) {{\n{''.join(cases)}  }}\n")  # fmt: skip
    return [_LAY, *parts], f"{tables}static long turn(char **P, long number) {{\n{turn}  return 0;\n}}\n"


def _head(body: str, blas: Blas | None, vector: frozenset[str]) -> Iterator[str]:
    """Declarations of what the text uses: quicker to compile than headers."""
    yield _BEGIN
    called = set(re.findall(r"\b(\w+)\(", body))
    for names, given in ((_UNARY, "{0}"), (_BINARY, "{0}, {0}")):
        for name in names:
            for end, kind in (("", "double"), ("f", "float")):
                if name + end in called:
                    if name in vector:
                        yield "#pragma omp declare simd notinbranch"
                    yield f"{kind} {name}{end}({given.format(kind)});"
    for line in extremes().splitlines():
        word = line.split("(")[1].split(" ")[0]
        if f"({word}:" in body:
            yield line
    if re.search(r"\bfusedf?\(", body):
        yield MACROS
    if re.search(r"\b(float|double)_v\b", body):
        yield VECTORS
    if blas is not None and re.search("gem[mv]_t", body):
        yield declarations(blas.size)


def _checking(number: int, check: Check, lowered: Lowered, memory: Memory) -> str:
    """A function that says whether bytes differ from those that are expected."""
    place = lowered.places[check.operand]
    at = pointer(memory.spots[place.root], "char", place.start * place.root.dtype.itemsize, 1, True)
    given = ", ".join(map(str, check.expected))
    return (f"static int check_{number}(char **P) {{\n  static const unsigned char expected[] = {{{given}}};\n"
            f"  return __builtin_memcmp({at}, expected, sizeof expected);\n}}\n")  # fmt: skip


def _about(nodes: list[Node], what: str) -> str:
    """A comment that says what is done, and of which of the user's lines."""
    names = ", ".join(f"%{node.number} {node.op}" for node in nodes)
    places = {node.place: node for node in nodes}
    lines = [f"{what}: {names}", *dict.fromkeys(node.line for node in places.values() if node.line)]
    return "\n".join(f"// {line}".replace("\\", "/").replace("\n", " ") for line in lines) + "\n"
