"""Schedules that go up and down between bounds, and move the momentum against the learning rate."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from gradwright.optim.lr_scheduler.base import LRScheduler, checked, for_each_group, function_state, put
from gradwright.optim.optimizer import Optimizer


class _Momentum(LRScheduler):
    """A schedule that may set the momentum, or beta1, as well."""

    cycle_momentum: bool
    use_beta1: bool

    def _bound_momentum(self, optimizer: Optimizer, base: Any, largest: Any, begins: bool) -> None:
        """Note the bounds of the momentum in the groups; ValueError if the optimiser has none."""
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        self.base_momentums = for_each_group("base_momentum", optimizer, base)
        self.max_momentums = for_each_group("max_momentum", optimizer, largest)
        if begins:
            for group, low, high in zip(
                optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True
            ):
                self._put_momentum(group, high)
                group["max_momentum"], group["base_momentum"] = high, low

    def _set_last(self) -> None:
        self._now()  # for the momentum, which is not saved
        super()._set_last()

    def _put_momentum(self, group: dict[str, Any], value: float) -> None:
        if self.use_beta1:
            group["betas"] = (value, *group["betas"][1:])
        else:
            group["momentum"] = value


class CyclicLR(_Momentum):
    """Up and down between two learning rates, in straight lines; to be stepped after every batch.

    Args:
        optimizer: whose learning rates to set.
        base_lr, max_lr: the bounds; numbers, or lists with one for each group.
        step_size_up, step_size_down: how many steps up and down take; down, as many as up unless given.
        mode: "triangular"; "triangular2", which halves the height in each cycle; "exp_range", which multiplies it by
            ``gamma`` in each step.
        gamma: see there.
        scale_fn: a function that gives the height instead, from the number of the cycle or, if ``scale_mode`` is
            "iterations", of the step.
        scale_mode: "cycle" or "iterations".
        cycle_momentum: let the momentum (or beta1) go the other way, from ``max_momentum`` to ``base_momentum``.
        base_momentum, max_momentum: its bounds.
        last_epoch: the step that was last; -1 to begin.

    Source: Smith, Cyclical learning rates for training neural networks, 2015.

    Raises ValueError for another ``mode``, lists of another length, or an optimiser without momentum to cycle.

    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> schedule = gw.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.0, max_lr=1.0, step_size_up=2)
    >>> for _ in range(5):
    ...     print(schedule.get_last_lr())
    ...     optimizer.step()
    ...     schedule.step()
    [0.0]
    [0.5]
    [1.0]
    [0.5]
    [0.0]
    """

    def __init__(self, optimizer: Optimizer, base_lr: float | Sequence[float], max_lr: float | Sequence[float],
                 step_size_up: int = 2000, step_size_down: int | None = None, mode: str = "triangular",
                 gamma: float = 1.0, scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
                 cycle_momentum: bool = True, base_momentum: float | Sequence[float] = 0.8,
                 max_momentum: float | Sequence[float] = 0.9, last_epoch: int = -1) -> None:  # fmt: skip
        base_lrs = for_each_group("base_lr", checked(optimizer), base_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, base_lrs, strict=True):
                put(group, "lr", lr)
        self.max_lrs = for_each_group("max_lr", optimizer, max_lr)
        down = step_size_up if step_size_down is None else step_size_down
        self.total_size = float(step_size_up + down)
        self.step_ratio = step_size_up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"mode is invalid and scale_fn is None: got mode={mode!r}")
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else "iterations" if mode == "exp_range" else "cycle"
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._bound_momentum(optimizer, base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The height of a cycle, of 1."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return {"triangular": 1.0, "triangular2": 2.0 ** (1 - x), "exp_range": self.gamma**x}[self.mode]

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        cycles = self.last_epoch / self.total_size
        cycle = math.floor(1 + cycles)
        x = 1.0 + cycles - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            bounds = zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True)
            for group, low, high in bounds:
                self._put_momentum(group, high - (high - low) * height * scale)
        return [low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "_scale_fn_custom": function_state(self._scale_fn_custom)}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        state = dict(state_dict)
        saved = state.pop("_scale_fn_custom", None)
        super().load_state_dict(state)
        if saved is not None:
            vars(self._scale_fn_custom).update(saved)


class OneCycleLR(_Momentum):
    """One cycle: up to a large learning rate, then down to a very small one; to be stepped after every batch.

    Args:
        optimizer: whose learning rates to set.
        max_lr: the largest learning rate; a number, or a list with one for each group.
        total_steps: how many steps there will be; or else ``epochs`` times ``steps_per_epoch``.
        epochs, steps_per_epoch: see there.
        pct_start: the part of the steps in which it rises.
        anneal_strategy: "cos" or "linear".
        cycle_momentum: let the momentum (or beta1) go the other way, from ``max_momentum`` to ``base_momentum``.
        base_momentum, max_momentum: its bounds.
        div_factor: the largest learning rate over the first.
        final_div_factor: the first over the last.
        three_phase: down to the first learning rate, as long as it rose, and only then to the last.
        last_epoch: the step that was last; -1 to begin.

    Source: Smith and Topin, Super-convergence, 2017.

    Raises ValueError for arguments outside these bounds, and in `step` after the last.

    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0, momentum=0.9)
    >>> schedule = gw.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=4)
    >>> for _ in range(3):
    ...     print(round(schedule.get_last_lr()[0], 4))
    ...     optimizer.step()
    ...     schedule.step()
    0.04
    0.8117
    0.2831
    """

    def __init__(self, optimizer: Optimizer, max_lr: float | Sequence[float], total_steps: int | None = None,
                 epochs: int | None = None, steps_per_epoch: int | None = None, pct_start: float = 0.3,
                 anneal_strategy: str = "cos", cycle_momentum: bool = True,
                 base_momentum: float | Sequence[float] = 0.85, max_momentum: float | Sequence[float] = 0.95,
                 div_factor: float = 25.0, final_div_factor: float = 1e4, three_phase: bool = False,
                 last_epoch: int = -1) -> None:  # fmt: skip
        checked(optimizer)
        if total_steps is None and (epochs is None or steps_per_epoch is None):
            raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
        counts = ({"epochs": epochs, "steps_per_epoch": steps_per_epoch} if total_steps is None
                  else {"total_steps": total_steps})  # fmt: skip
        for name, value in counts.items():
            if not isinstance(value, int) or value <= 0:
                raise ValueError(f"Expected positive integer {name}, but got {value}")
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self.total_steps = math.prod(counts.values())  # type: ignore[arg-type]
        self._anneal_func_type = anneal_strategy
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        largest = for_each_group("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for group, lr in zip(optimizer.param_groups, largest, strict=True):
                group["initial_lr"], group["max_lr"] = lr / div_factor, lr
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._bound_momentum(optimizer, base_momentum, max_momentum, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self.last_epoch > self.total_steps:
            raise ValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is {self.total_steps}"
            )
        begin = 0.0
        for phase in self._schedule_phases:
            if self.last_epoch <= phase["end_step"] or phase is self._schedule_phases[-1]:
                break
            begin = phase["end_step"]
        part = (self.last_epoch - begin) / (phase["end_step"] - begin)

        def between(group: dict[str, Any], of: str) -> Any:  # operation by operation as PyTorch's, to the last bit
            start, end = group[phase[f"start_{of}"]], group[phase[f"end_{of}"]]
            if self._anneal_func_type == "linear":
                return (end - start) * part + start
            return end + (start - end) / 2.0 * (math.cos(math.pi * part) + 1)

        if self.cycle_momentum:
            for group in self.optimizer.param_groups:
                self._put_momentum(group, between(group, "momentum"))
        return [between(group, "lr") for group in self.optimizer.param_groups]


def _phases(steps: int, rising: float, three: bool) -> list[dict[str, Any]]:
    """The parts of the cycle: where each ends, and from where to where it leads."""
    lrs = ["initial_lr", "max_lr", *["initial_lr"] * three, "min_lr"]
    momentums = ["max_momentum", "base_momentum", "max_momentum", "max_momentum"]
    ends = [rising * steps - 1, *[2 * rising * steps - 2] * three, steps - 1]
    return [
        {"end_step": float(end) if k < len(ends) - 1 else end, "start_lr": lrs[k], "end_lr": lrs[k + 1],
         "start_momentum": momentums[k], "end_momentum": momentums[k + 1]}
        for k, end in enumerate(ends)
    ]  # fmt: skip
