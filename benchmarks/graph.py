"""A very deep graph: a million operations in a row, in a fresh process for each library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.runner import Case, Figure, Pace, fresh

LENGTH = 1_000_000

_PROGRAM = """
import json, os, time
import {lib} as lib

def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def chain(x):
    for _ in range({length}):
        x = x + 1.0
    return x

x = lib.tensor([0.0], requires_grad=True)
(lib.tensor([0.0], requires_grad=True) + 1.0).backward()  # warm up

before = resident()
start = time.perf_counter()
y = chain(x)
built = time.perf_counter()
size = resident() - before
y.backward(retain_graph=True)  # so that the whole of it is left to be freed at once
done = time.perf_counter()
assert x.grad.item() == 1.0
freeing = time.perf_counter()
del y
freed = time.perf_counter()
print(json.dumps([n / {length} for n in (built - start, done - built, freed - freeing, size)]))
"""


def _sampler(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
    program = _PROGRAM.format(lib=lib.__name__, length=LENGTH)
    return lambda: tuple(fresh(program))


deep = Case(
    (
        Figure("chain of 1,000,000 additions, building, per node", "s", 1.0),
        Figure("the same, backward", "s", 1.0),
        Figure("the same, freeing", "s", 1.0),
        Figure("the same, memory", "B", 1.0),
    ),
    _sampler,
    rounds=2,
)
