"""How a program is measured on two libraries side by side.

A case is written once, as a function of the library (the module `torch` or `gradwright`). It is measured in rounds: in
each, both libraries take one sample, one going first in the even rounds and the other in the odd ones, so that what
slows the machine for a while slows both. A figure is the median of its samples, and what counts is the ratio of two.

That is not enough when other programs keep the CPUs busy: a library that computes in several threads then waits for
the one that is not being run, for many times the length of the work, and no ratio survives that. So a round counts
only if other programs left the CPUs alone while it ran, whatever came out of it; one in which they did not is repeated,
up to a limit, and a figure without enough quiet rounds is shown but not judged.
"""

from __future__ import annotations

import gc
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

ROOT = Path(__file__).resolve().parent.parent


class Figure(NamedTuple):
    """One number that a case measures."""

    name: str
    unit: str
    limit: float | None
    """The highest ratio to PyTorch that is good enough; None if it is only reported."""


BUSY = 0.15
"""How much of one CPU other programs may use during a round that counts."""

PATIENCE = 8.0
"""After how many seconds a case begins no further round: on a busy machine a sample can take many times its length."""


class Pace(NamedTuple):
    """How long to measure."""

    rounds: int
    seconds: float
    """The length of one sample, for cases that are fast enough to be repeated in it."""


class Case(NamedTuple):
    """A program to measure, and what it yields."""

    figures: tuple[Figure, ...]
    sampler: Callable[[Any, Pace], Callable[[], tuple[float, ...]]]
    """From the library: the function that takes one sample, a number for each figure."""
    rounds: int | None = None
    """The most rounds it is given, if it is a slow one."""


class Result(NamedTuple):
    """The samples of one figure, by round."""

    figure: Figure
    gradwright: list[float]
    torch: list[float]
    others: list[float]
    """How many CPUs other programs used in each round."""
    wanted: int
    """How many quiet rounds were asked for."""

    @property
    def quiet(self) -> list[int]:
        """The rounds that count."""
        return [k for k, n in enumerate(self.others) if n <= BUSY]

    @property
    def reliable(self) -> bool:
        """Whether enough rounds were quiet; how many bytes a thing takes does not depend on that."""
        return self.figure.unit == "B" or 2 * len(self.quiet) >= self.wanted

    @property
    def medians(self) -> tuple[float, float]:
        """Over the quiet rounds, or over all if they are too few."""
        rounds = self.quiet if 2 * len(self.quiet) >= self.wanted else range(len(self.others))
        return median(self.gradwright[k] for k in rounds), median(self.torch[k] for k in rounds)

    @property
    def ratio(self) -> float:
        ours, theirs = self.medians
        return ours / theirs

    @property
    def good(self) -> bool | None:
        """Whether the limit is kept; None if there is none, or too little quiet to say."""
        if self.figure.limit is None or not self.reliable or math.isnan(self.ratio):
            return None
        return self.ratio <= self.figure.limit


def timed(name: str, *, limit: float | None = None, per: int = 1) -> Callable[[Callable[[Any], Any]], Case]:
    """Make a case of a function of the library that returns the function to time; ``per`` operations are in one call.

    It may return a pair (build, run) instead: then ``run(build())`` is called, and building is not timed. If ``run``
    returns a tensor, both libraries must agree on the first one.
    """

    def declare(make: Callable[[Any], Any]) -> Case:
        def sampler(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
            made = make(lib)
            build, run = made if isinstance(made, tuple) else (None, made)
            answer = run() if build is None else run(build())
            once = min(_seconds(build, run, 1) for _ in range(5))
            number = max(1, round(pace.seconds / once))
            _seconds(build, run, number)

            def sample() -> tuple[float, ...]:
                return (_seconds(build, run, number) / number / per,)

            sample.answer = answer  # type: ignore[attr-defined]
            return sample

        return Case((Figure(name, "s", limit),), sampler)

    return declare


def _seconds(build: Callable[[], Any] | None, run: Callable[..., Any], number: int) -> float:
    """How long ``number`` calls take."""
    if build is None:
        start = perf_counter()
        for _ in range(number):
            run()
        return perf_counter() - start
    total = 0.0
    for _ in range(number):
        built = build()
        start = perf_counter()
        run(built)
        total += perf_counter() - start
    return total


def measure(case: Case, gradwright: Any, torch: Any, pace: Pace) -> list[Result]:
    """Take the samples of a case."""
    ours, theirs = samplers = [case.sampler(lib, pace) for lib in (gradwright, torch)]
    _same_answer(case, getattr(ours, "answer", None), getattr(theirs, "answer", None))
    samples: dict[Any, list[tuple[float, ...]]] = {ours: [], theirs: []}
    others: list[float] = []
    wanted = min(pace.rounds, case.rounds or pace.rounds)
    began = perf_counter()
    while sum(n <= BUSY for n in others) < wanted and len(others) < 1.5 * wanted:
        if others and perf_counter() - began > PATIENCE:
            break
        used, start = _used_by_others(), perf_counter()
        for sample in samplers if len(others) % 2 == 0 else reversed(samplers):
            gc.collect()
            samples[sample].append(sample())
        others.append((_used_by_others() - used) / (perf_counter() - start))
    columns = [list(zip(*samples[s], strict=True)) for s in (ours, theirs)]
    return [Result(f, list(a), list(b), others, wanted) for f, a, b in zip(case.figures, *columns, strict=True)]


def _used_by_others() -> float:
    """The CPU time, in seconds, used so far by everything but this program; 0 where Linux does not say."""
    if not Path("/proc/stat").exists():
        return 0.0
    times = [int(n) for n in Path("/proc/stat").read_text().split(maxsplit=9)[1:9]]
    idle, iowait = times[3:5]
    return (sum(times) - idle - iowait) / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def _same_answer(case: Case, ours: Any, theirs: Any) -> None:
    if ours is None or theirs is None:
        return
    ours, theirs = (np.asarray(a.detach().numpy(), np.float64) for a in (ours, theirs))
    if not np.allclose(ours, theirs, rtol=1e-3, atol=1e-6 + 1e-3 * float(np.abs(theirs).max())):
        raise AssertionError(f"{case.figures[0].name}: gradwright gives {ours}, but PyTorch {theirs}")


def fresh(program: str) -> Any:
    """What a program prints as JSON, run in a fresh interpreter that can import what this one can."""
    path = os.pathsep.join([str(ROOT), *filter(None, sys.path)])
    out = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, check=True
    )
    return json.loads(out.stdout)


def amount(value: float, unit: str) -> str:
    """A number of seconds or bytes with three digits and a prefix: ``1.23 µs``, ``741 MB``; nothing for NaN."""
    if math.isnan(value):
        return ""
    prefixes = {"s": ((1.0, ""), (1e-3, "m"), (1e-6, "µ"), (1e-9, "n")), "B": ((1e6, "M"), (1e3, "k"), (1.0, ""))}
    scale, prefix = next((p for p in prefixes[unit] if abs(value) >= p[0]), prefixes[unit][-1])
    digits = 2 - math.floor(math.log10(abs(value / scale))) if value else 0
    return f"{value / scale:.{max(0, min(2, digits))}f} {prefix}{unit}"
