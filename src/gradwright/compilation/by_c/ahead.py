"""Kernels built ahead: formulas and derivatives as C text in which sizes and numbers are variables."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from gradwright.compilation.by_c import symbols
from gradwright.compilation.by_c.lowered import Lowered
from gradwright.compilation.by_c.memory import Memory
from gradwright.compilation.by_c.source import functions
from gradwright.compilation.by_c.steps import Steps, recompute
from gradwright.compilation.node import CHECK, CONSTANT, Program
from gradwright.compilation.passes import simplified
from gradwright.compilation.trace.traced import traced


def named(program: Program, by: symbols.Symbols) -> Program:
    """The program with sizes and numbers as variables."""
    for node in program.nodes:
        if node.op == CONSTANT and node.args[0].size != 1:
            raise ValueError(f"a constant array: {node}")
        node.shape = None if node.shape is None else tuple(map(by.known, node.shape))
        if node.op != CONSTANT:
            node.args, node.kwargs = by.named(node.args), by.named(node.kwargs)
    return program


def written(name: str, f: Callable[..., Any], arrays: Sequence[Any], by: symbols.Symbols) -> str:
    """The functions ``void name(char **given, const long *N, const double *E, char *own)`` and ``long name_own(N)``.

    ``given`` are the inputs' and the results' memory, ``own`` as many bytes as the other says, 64 of them a line.
    """
    program = simplified(traced(f, *arrays))
    if any(node.op == CHECK for node in program.nodes):
        raise ValueError(f"{name} depends on values")
    with symbols.written(by):
        lowered = Lowered(named(program, by), [None] * len(arrays), blas=False)
        steps = Steps(lowered)
        recompute(lowered, steps)
        memory = Memory(lowered, steps, aside=False)
        text, stretches, _ = functions(lowered, steps, memory, split=False)
    if stretches != [0]:
        raise ValueError(f"{name}: C does not do all of it: {stretches}")
    own = str(memory.size)
    given = [*program.inputs, *lowered.outputs]
    slots = [f"  P[{memory.spots[node].pointer}] = given[{k}];" for k, node in enumerate(given)]
    sizes = [f"  const long s{k} = {e};" for k, e in enumerate(by.expressions)]
    every = ", ".join(f"s{k}" for k in range(len(sizes))) or "0"
    lines = [
        *_with_names(text, name),
        f"static long {name}(char **given, const long *N, const double *E, char *own) {{", *sizes,
        f"  const long S[] = {{{every}}};",
        f"  char *P[{memory.FIRST + len(memory.owners)}];",
        f"  P[{symbols.SIZES}] = (char *) S; P[{symbols.NUMBERS}] = (char *) E; P[{memory.OWN}] = own;", *slots,
        f"  return run_0_{name}(P);", "}",
        f"static long {name}_own(const long *N) {{", *sizes, f"  return {own};", "}\n",
    ]  # fmt: skip
    return "\n".join(lines)


_KIND = r"^(?:static )?(?:__attribute__\(\([^()]*\)\) )?(?:void|int|long)"
_FUNCTION = re.compile(_KIND + r" (\w+)\(char \*\*P.*\{", re.MULTILINE)
_NAME = re.compile(r"\bs(\d+)(LL|UL)?\b")


def _with_names(text: str, name: str) -> list[str]:
    """The text, its functions named after the kernel, and in each the names of sizes and numbers."""
    own = {m[1]: f"{m[1]}_{name}" for m in _FUNCTION.finditer(text)}
    text = re.sub(rf"\b({'|'.join(own)})\b", lambda m: own[m[1]], text)
    text = re.sub("^long ", "static long ", text, flags=re.MULTILINE)
    found, starts = [], [m.start() for m in _FUNCTION.finditer(text)]
    for start, end in zip([0, *starts], [*starts, len(text)], strict=True):
        part = text[start:end]
        first, _, rest = part.partition("{\n")
        uses = sorted({(int(m[1]), m[2] or "") for m in _NAME.finditer(rest)})
        names = [f"  const long s{k}{end} = ((const long *) P[{symbols.SIZES}])[{k}];\n" for k, end in uses]
        names += [f"  const double e{k} = ((const double *) P[{symbols.NUMBERS}])[{k}];\n"
                  for k in sorted({int(m[1]) for m in re.finditer(r"\be(\d+)\b", rest)})]
        found.append(first + "{\n" * bool(rest) + "".join(names) + rest)
    return found
