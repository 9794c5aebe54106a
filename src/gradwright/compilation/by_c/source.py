"""The C text of a program: a function for each step, and one for each stretch of steps that Python has no part in."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from itertools import groupby
from typing import Any, NamedTuple

from gradwright.compilation.by_c.blas import Blas
from gradwright.compilation.by_c.build import vector_functions
from gradwright.compilation.by_c.columns import columns
from gradwright.compilation.by_c.direct import VECTORS, direct
from gradwright.compilation.by_c.fused import MACROS, tame
from gradwright.compilation.by_c.gathering import gather
from gradwright.compilation.by_c.gathers import Gather
from gradwright.compilation.by_c.loops import Loop
from gradwright.compilation.by_c.lowered import Check, Lowered
from gradwright.compilation.by_c.memory import Memory, pointer
from gradwright.compilation.by_c.products import declarations, product
from gradwright.compilation.by_c.reductions import extremes
from gradwright.compilation.by_c.steps import Steps
from gradwright.compilation.by_c.windows import Windows
from gradwright.compilation.node import Node

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


# The vector form of exp takes its entries one by one if one of them is -inf, as what is masked is. So it gets 0 where
# e**x is 0, by bits: a choice the compiler would make after the call.
_EXP = {
    end: f"""
static inline {kind} exponential{end}({kind} x) {{
  union {{ {kind} number; {bits} bits; }} at = {{ x }}, e;
  {bits} held = -({bits}) !(x < {least}{end});
  at.bits &= held; e.number = exp{end}(at.number); e.bits &= held;
  return e.number;
}}
"""
    for end, kind, bits, least in (("", "double", "long long", "-746.0"), ("f", "float", "int", "-104.0"))
}


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
    parts, records, calls = [], [], []
    ends = tame(lowered)
    for k, step in enumerate(steps.steps):
        first = step.nodes[0]
        record: dict[str, Any] = {"nodes": step.nodes, "seconds": 0.0, "entries": 0}
        if step.space is not None:
            loop = Loop(k, step, lowered, memory, ends)
            parts.append(_about(step.nodes, f"{' x '.join(map(str, step.space)) or 'one entry'}") + loop.text)
            calls.append(loop.calls)
            entries = 1
            for n in step.space:
                entries *= n
            record |= {"kind": "C", "entries": entries}
        elif isinstance(check := lowered.how[first], Check):
            parts.append(_about(step.nodes, "check") + _checking(k, check, lowered, memory))
            calls.append(f"if (check_{k}(P)) return {k + 1};")
            record |= {"kind": "C"}
        elif isinstance(way := lowered.how[first], Windows):
            text = (direct if way.as_it_lies else columns)(k, first, lowered, memory)
            parts.append(_about(step.nodes, " x ".join(map(str, first.shape))) + text)
            calls.append(f"windows_{k}(P);")
            record |= {"kind": "BLAS" if way.scratch else "C", "entries": math.prod(first.shape)}
        elif isinstance(way := lowered.how[first], Gather):
            text = gather(k, first, way, lowered.places.__getitem__, memory)
            parts.append(_about(step.nodes, " x ".join(map(str, way.shape))) + text)
            calls.append(f"if (gather_{k}(P)) return {k + 1};")
            record |= {"kind": "C", "entries": math.prod(way.shape)}
        elif lowered.how[first] is not None:
            parts.append(_about(step.nodes, " x ".join(map(str, first.shape))) + product(k, first, lowered, memory))
            calls.append(f"product_{k}(P);")
            record |= {"kind": "BLAS"}
        else:
            calls.append("")
            record |= {"kind": "host" if first.op in ("host", "check") else "NumPy"}
        record["name"] = ", ".join(dict.fromkeys(n.op for n in step.nodes))
        records.append(record)
    stretches: list[int | Node] = []
    runs: list[str] = []
    for called, group in groupby(range(len(calls)), lambda k: bool(calls[k])):
        numbers = list(group)
        if called:
            body = "\n".join(f"  {calls[k]}" for k in numbers)
            runs.append(f"long run_{len(runs)}(char **P) {{\n{body}\n  return 0;\n}}\n")
            stretches.append(len(runs) - 1)
        else:
            stretches += [steps.steps[k].nodes[0] for k in numbers]
    cases = "\n".join(f"    case {k}: {text} break;" for k, text in enumerate(calls) if text)
    single = f"long step(char **P, long number) {{\n  switch (number) {{\n{cases}\n  }}\n  return 0;\n}}\n"
    body = "\n".join([*parts, *runs, single])
    body = "\n".join([*(_EXP[end] for end in ("", "f") if f"exponential{end}(" in body), body])
    return Source("\n".join([*_head(body, blas), body]), stretches, records)


def _head(body: str, blas: Blas | None) -> Iterator[str]:
    """Declarations of what the text uses: quicker to compile than headers."""
    yield _BEGIN
    for names, given in ((_UNARY, "{0}"), (_BINARY, "{0}, {0}")):
        for name in names:
            for end, kind in (("", "double"), ("f", "float")):
                if re.search(rf"\b{name}{end}\(", body):
                    if name in vector_functions():
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
    lines = [f"{what}: {names}", *dict.fromkeys(node.line for node in nodes if node.line)]
    return "\n".join(f"// {line}".replace("\\", "/").replace("\n", " ") for line in lines) + "\n"
