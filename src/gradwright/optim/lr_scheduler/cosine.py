"""Schedules that go down along a cosine."""

from __future__ import annotations

import math
from typing import Any

from gradwright.optim.lr_scheduler.base import LRScheduler
from gradwright.optim.optimizer import Optimizer


class CosineAnnealingLR(LRScheduler):
    """From the initial learning rate down to ``eta_min`` and up again, half a cosine wave in ``T_max`` epochs.

    lr = eta_min + (initial - eta_min) (1 + cos(pi epoch / T_max)) / 2, reached by steps, so that it can be chained.

    Source: Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, 2016.

    >>> import gradwright as gw
    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = gw.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=2)
    >>> for _ in range(3):
    ...     print(round(schedule.get_last_lr()[0], 4))
    ...     optimizer.step()
    ...     schedule.step()
    1.0
    0.5
    0.0
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: float) -> float:
        return (1 + math.cos(math.pi * epoch / self.T_max)) / 2

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        epoch, least = self.last_epoch, self.eta_min
        if self._is_initial:
            return self._lrs()
        if self._step_count == 1 and epoch > 0:
            return self._get_closed_form_lr()
        if (epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # up again, from where a factor would find nothing
            rise = 1 - self._height(1)
            return [lr + (base - least) * rise for lr, base in zip(self._lrs(), self.base_lrs, strict=True)]
        factor = self._height(epoch) / self._height(epoch - 1)
        return [least + (lr - least) * factor for lr in self._lrs()]

    def _get_closed_form_lr(self) -> list[Any]:
        return [self.eta_min + (base - self.eta_min) * self._height(self.last_epoch) for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """From the initial learning rate down to ``eta_min`` along a cosine, again and again.

    Args:
        optimizer: whose learning rates to set.
        T_0: how many epochs the first descent takes.
        T_mult: how many times as long each takes as the one before.
        eta_min: the smallest learning rate.
        last_epoch: the epoch that was last; -1 to begin.

    Source: Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, 2016.

    Raises ValueError unless ``T_0`` is a positive integer, ``T_mult`` an integer of at least 1, ``eta_min`` a number.

    >>> import gradwright as gw
    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = gw.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, T_0=2)
    >>> for _ in range(3):
    ...     print(round(schedule.get_last_lr()[0], 4))
    ...     optimizer.step()
    ...     schedule.step()
    1.0
    0.5
    1.0
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
                 ) -> None:  # fmt: skip
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        height = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * height for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Set the learning rates of the next epoch, or of ``epoch``, which may be a fraction.

        Raises ValueError for a negative one.
        """
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            if epoch < 0:
                raise ValueError(f"Expected non-negative epoch, but got {epoch}")
            self._locate(epoch)
        self.last_epoch = math.floor(epoch)
        self._take(self._now())

    def _locate(self, epoch: float) -> None:
        """Set T_i and T_cur: the length of the descent that an epoch falls into, and how far into it."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            n = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_i = self.T_0 * self.T_mult**n
            self.T_cur = epoch - self.T_0 * (self.T_mult**n - 1) / (self.T_mult - 1)
