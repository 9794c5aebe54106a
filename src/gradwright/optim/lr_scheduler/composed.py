"""Schedules made of schedules."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from gradwright.optim.lr_scheduler.base import LRScheduler, put
from gradwright.optim.lr_scheduler.plateau import ReduceLROnPlateau
from gradwright.optim.optimizer import Optimizer


class _Composed(LRScheduler):
    """A schedule made of others."""

    _schedulers: Sequence[Any]

    def _check(self, schedulers: Sequence[Any], optimizer: Any) -> None:
        """Raise TypeError or ValueError unless these are schedules of this optimiser that step without arguments."""
        name = type(self).__name__
        for i, scheduler in enumerate(schedulers):
            if not hasattr(scheduler, "optimizer"):
                raise TypeError(f"{name} at index {i} should have `optimizer` as its attribute.")
            if isinstance(scheduler, ReduceLROnPlateau):
                raise ValueError(
                    f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                    f"specified when calling `step`, but got one at index {i} in the given schedulers sequence."
                )
            if optimizer is not scheduler.optimizer:
                raise ValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                    f"{type(scheduler).__name__} at index {i} has {scheduler.optimizer}, which is different from "
                    f"{type(optimizer).__name__}."
                )

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            scheduler.load_state_dict(state)


class ChainedScheduler(_Composed):
    """Several schedules at once: in each step they change the learning rate one after the other.

    Raises ValueError if there are none, or not all of one optimiser (by default the first one's).

    >>> import gradwright as gw
    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> one = gw.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> both = gw.optim.lr_scheduler.ChainedScheduler([one, gw.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)])
    >>> for _ in range(3):
    ...     print(both.get_last_lr())
    ...     optimizer.step()
    ...     both.step()
    [0.5]
    [0.25]
    [0.25]
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if not schedulers:
            raise ValueError(
                f"{type(self).__name__} expects at least one scheduler to be chained, but got no scheduler."
            )
        optimizer = optimizer or getattr(schedulers[0], "optimizer", None)
        self._check(schedulers, optimizer)
        self._schedulers = schedulers
        self.optimizer = optimizer  # type: ignore[assignment]
        self._last_lr = self._lrs()

    def step(self) -> None:  # type: ignore[override]
        """One step of each."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = self._lrs()


class SequentialLR(_Composed):
    """Several schedules one after the other: the next begins at each of the epochs ``milestones``.

    Raises ValueError if there are none, not all of this optimiser, or not one more than milestones.

    >>> import gradwright as gw
    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> warm = gw.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=2)
    >>> down = gw.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> schedule = gw.optim.lr_scheduler.SequentialLR(optimizer, [warm, down], milestones=[2])
    >>> for _ in range(4):
    ...     print(schedule.get_last_lr())
    ...     optimizer.step()
    ...     schedule.step()
    [0.5]
    [0.5]
    [1.0]
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, schedulers: Sequence[LRScheduler], milestones: list[int],
                 last_epoch: int = -1) -> None:  # fmt: skip
        if not schedulers:
            raise ValueError(f"{type(self).__name__} expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of "
                f"milestone points, but got number of schedulers {len(schedulers)} and the number of milestones to be "
                f"equal to {len(milestones)}"
            )
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch, self.optimizer = last_epoch + 1, optimizer
        for group in optimizer.param_groups:
            put(group, "lr", group["initial_lr"])
        _unstep(self)  # all have begun when they were made
        first = schedulers[bisect_right(milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def step(self) -> None:  # type: ignore[override]
        """A step of the one whose time it is."""
        self.last_epoch += 1
        i = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[i]
        if i > 0 and self._milestones[i - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


def _unstep(scheduler: Any) -> None:
    """Take back the first step of a schedule, or of those that it is made of."""
    parts = getattr(scheduler, "_schedulers", None)
    if parts is None:
        scheduler.last_epoch -= 1
    for part in parts or ():
        _unstep(part)
