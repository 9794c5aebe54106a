"""``torch.utils.benchmark``: how long a statement takes."""

from __future__ import annotations

import timeit
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import mean, median, quantiles
from typing import Any

from gradwright.pytorch.settings import get_num_threads

__all__ = ["Measurement", "Timer"]

_Told = Callable[[int, float], object] | None
_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


@dataclass
class Measurement:
    """Times of one statement.

    Attributes:
        number_per_run: how often it ran in each of the measured runs.
        raw_times: how long these took, in seconds.
        times: how long it took in each, in seconds; ``mean``, ``median`` and ``iqr`` are of these.
    """

    number_per_run: int
    raw_times: list[float]
    stmt: str
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    num_threads: int = field(default_factory=get_num_threads)

    @property
    def times(self) -> list[float]:
        return [t / self.number_per_run for t in self.raw_times]

    @property
    def mean(self) -> float:
        return mean(self.times)

    @property
    def median(self) -> float:
        return median(self.times)

    @property
    def iqr(self) -> float:
        """How far the middle half of the times reaches: between their first and third quartiles."""
        first, third = self._quartiles
        return third - first

    @property
    def _quartiles(self) -> tuple[float, float]:
        times = self.times
        first, _, third = quantiles(times, n=4, method="inclusive") if len(times) > 1 else times * 3
        return first, third

    @property
    def title(self) -> str:
        return self.label or self.stmt

    def __repr__(self) -> str:
        size, unit = next((u for u in _UNITS if self.median >= u[0]), _UNITS[-1])
        runs, several = len(self.raw_times), len(self.raw_times) > 1
        threads = f"{self.num_threads} thread{'s' if self.num_threads > 1 else ''}"
        told = [object.__repr__(self), *(part for part in (self.title, self.sub_label, self.description) if part),
                f"  {'Median: ' if several else ''}{self.median / size:.2f} {unit}"]  # fmt: skip
        if runs > 3:
            first, third = self._quartiles
            told.append(f"  IQR:    {(third - first) / size:.2f} {unit} ({first / size:.2f} to {third / size:.2f})")
        told.append(f"  {runs} measurement{'s' if several else ''}, {self.number_per_run} runs "
                    f"{'per measurement,' if several else ','} {threads}")  # fmt: skip
        return "\n".join(told)


class Timer:
    """Measures a statement by the standard library's timeit.

    Args:
        stmt, setup, globals: as `timeit.Timer` has them. What ``stmt`` names is looked up in ``globals``.
        timer: the clock.
        label, sub_label, description: what a measurement says beside the statement.
        num_threads, env, language, global_setup: accepted. The threads are those of the process, the language Python.
    """

    def __init__(self, stmt: str = "pass", setup: str = "pass", global_setup: str = "",
                 timer: Callable[[], float] = timeit.default_timer, globals: dict[str, Any] | None = None,
                 label: str | None = None, sub_label: str | None = None, description: str | None = None,
                 env: str | None = None, num_threads: int = 1, language: object = None) -> None:  # fmt: skip
        self._stmt, self._said = stmt, (label, sub_label, description)
        self._timer = timeit.Timer(stmt, setup, timer, globals)

    def timeit(self, number: int = 1_000_000) -> Measurement:
        """One run of so many."""
        self._timer.timeit(max(number // 100, 2))
        return self._measured(number, [self._timer.timeit(number)])

    def blocked_autorange(self, callback: _Told = None, min_run_time: float = 0.2) -> Measurement:
        """Runs that last ``min_run_time`` seconds together, each long enough for the clock to matter little."""
        *_, found = self._runs(min_run_time, callback)
        return found

    def adaptive_autorange(self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0,
                           callback: _Told = None) -> Measurement:  # fmt: skip
        """Runs until their middle half lies within ``threshold`` of the median, or ``max_run_time`` is over."""
        for found in self._runs(max_run_time, callback):
            runs = found.raw_times
            if len(runs) % 10 == 0 and sum(runs) >= min_run_time and found.iqr < threshold * found.median:
                break
        return found

    def _runs(self, seconds: float, callback: _Told) -> Iterator[Measurement]:
        """What is measured after each of the runs that last so long together: a thousand, or fewer of long ones."""
        number = 1
        while self._timer.timeit(number) < seconds / 1000:
            number *= 2
        times: list[float] = []
        while sum(times) < seconds:
            times.append(self._timer.timeit(number))
            if callback is not None:
                callback(number, times[-1])
            yield self._measured(number, times)

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._stmt, *self._said)
