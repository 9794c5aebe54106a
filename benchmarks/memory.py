"""The most memory that a training step takes, in a fresh process for each library."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.runner import Case, Figure, Pace, fresh

_PROGRAM = """
import ctypes, json
import numpy
import {lib} as lib
from benchmarks.training import network

def kilobytes(name):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(name))

x, params = network(lib, (784, 256, 128, 10), {rows})
labels = lib.tensor(numpy.random.default_rng(1).integers(0, 10, ({rows}, 1)))

def step(x, labels):
    h = x
    for k, (w, b) in enumerate(zip(params[::2], params[1::2])):
        h = lib.nn.functional.linear(h, w, b)
        h = lib.relu(h) if k < 2 else h
    loss = -lib.log_softmax(h, 1).gather(1, labels).mean()
    loss.backward()
    with lib.no_grad():
        for p in params:
            p -= 0.01 * p.grad
            p.grad = None
    return loss.item()

step(x, labels)  # warm up: code, threads, and their buffers
ctypes.CDLL(None).malloc_trim(0)  # what was freed, but kept for later, would come for nothing
before = kilobytes("VmRSS")
with open("/proc/self/clear_refs", "w") as f:
    f.write("5")  # VmHWM, the most it ever was, begins anew
for _ in range(3):
    step(x, labels)
print(json.dumps([1024 * (kilobytes("VmHWM") - before)]))
"""


def _peak(rows: int) -> Callable[[Any, Pace], Callable[[], tuple[float, ...]]]:
    def sampler(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
        program = _PROGRAM.format(lib=lib.__name__, rows=rows)
        return lambda: tuple(fresh(program))

    return sampler


small = Case((Figure("MLP step 784-256-128-10, batch 128, peak memory", "B", 1.1),), _peak(128), rounds=3)
large = Case((Figure("the same, batch 4096", "B", 1.1),), _peak(4096), rounds=3)
