"""Schedules by formulas of the epoch: factors, which can be chained, and cosines."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from gradwright.optim.lr_scheduler.base import LRScheduler, function_state
from gradwright.optim.optimizer import Optimizer


class _Multiplying(LRScheduler):
    """A schedule given by the factor of each step, and by the product of all up to an epoch."""

    def _factor(self, epoch: int) -> float:
        """What step ``epoch`` multiplies the learning rate by."""
        raise NotImplementedError

    def _product(self, epoch: int) -> float:
        """What epoch ``epoch`` has multiplied the initial learning rate by."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        resumed = self._is_initial and self.last_epoch > 0  # at the rate that it had then
        factor = 1.0 if resumed else self._factor(self.last_epoch)
        return [lr * factor for lr in (self._first() if self._is_initial else self._lrs())]

    def _get_closed_form_lr(self) -> list[Any]:
        return [lr * self._product(self.last_epoch) for lr in self.base_lrs]


class StepLR(_Multiplying):
    """Multiply the learning rate by ``gamma`` every ``step_size`` epochs.

    >>> optimizer = gw.optim.SGD([gw.ones(1)], lr=1.0)
    >>> scheduler = gw.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
    >>> for _ in range(4):
    ...     optimizer.step()
    ...     scheduler.step()
    >>> scheduler.get_last_lr()
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma if epoch and epoch % self.step_size == 0 else 1.0

    def _product(self, epoch: int) -> float:
        return self.gamma ** (epoch // self.step_size)


class MultiStepLR(_Multiplying):
    """Multiply the learning rate by ``gamma`` at each of the epochs ``milestones``.

    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = gw.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[1, 2], gamma=0.5)
    >>> for _ in range(4):
    ...     print(schedule.get_last_lr())
    ...     optimizer.step()
    ...     schedule.step()
    [1.0]
    [0.5]
    [0.25]
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
                 ) -> None:  # fmt: skip
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma ** self.milestones[epoch]

    def _product(self, epoch: int) -> float:
        return self.gamma ** bisect_right(sorted(self.milestones.elements()), epoch)


class ConstantLR(_Multiplying):
    """Multiply the learning rate by ``factor`` until epoch ``total_iters``.

    Raises ValueError unless ``factor`` is in [0, 1].

    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = gw.optim.lr_scheduler.ConstantLR(optimizer, factor=0.5, total_iters=1)
    >>> for _ in range(2):
    ...     print(schedule.get_last_lr())
    ...     optimizer.step()
    ...     schedule.step()
    [0.5]
    [1.0]
    """

    def __init__(self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
                 ) -> None:  # fmt: skip
        if not 0 <= factor <= 1:
            raise ValueError(
                f"Constant multiplicative factor expected to be between 0 and 1. Got factor={factor}"
            )
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if epoch == 0:
            return self.factor
        return 1.0 / self.factor if epoch == self.total_iters else 1.0

    def _product(self, epoch: int) -> float:
        return 1.0 if epoch >= self.total_iters else self.factor


class LinearLR(_Multiplying):
    """Multiply the learning rate by what goes from ``start_factor`` to ``end_factor`` in ``total_iters`` epochs.

    Raises ValueError unless ``start_factor`` is in (0, 1] and ``end_factor`` in [0, 1].

    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = gw.optim.lr_scheduler.LinearLR(optimizer, start_factor=0.5, total_iters=2)
    >>> for _ in range(3):
    ...     print(schedule.get_last_lr())
    ...     optimizer.step()
    ...     schedule.step()
    [0.5]
    [0.75]
    [1.0]
    """

    def __init__(self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
                 total_iters: int = 5, last_epoch: int = -1) -> None:  # fmt: skip
        if not 0 < start_factor <= 1:
            raise ValueError("Starting multiplicative factor expected to be greater than 0 and less or equal to 1. "
                             f"Got start_factor={start_factor}")  # fmt: skip
        if not 0 <= end_factor <= 1:
            raise ValueError("Ending multiplicative factor expected to be between 0 and 1. "
                             f"Got end_factor={end_factor}")  # fmt: skip
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if epoch == 0:
            return self.start_factor
        if epoch > self.total_iters:
            return 1.0
        step = self.end_factor - self.start_factor
        return 1.0 + step / (self.total_iters * self.start_factor + (epoch - 1) * step)

    def _product(self, epoch: int) -> float:
        step = self.end_factor - self.start_factor
        return self.start_factor + step * min(self.total_iters, epoch) / self.total_iters


class ExponentialLR(_Multiplying):
    """Multiply the learning rate by ``gamma`` in every epoch.

    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = gw.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.5)
    >>> for _ in range(3):
    ...     print(schedule.get_last_lr())
    ...     optimizer.step()
    ...     schedule.step()
    [1.0]
    [0.5]
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return 1.0 if self._is_initial else self.gamma

    def _product(self, epoch: int) -> float:
        return self.gamma**epoch


class PolynomialLR(_Multiplying):
    """Multiply the learning rate by (1 - epoch / total_iters)**power, until that is 0.

    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = gw.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=2)
    >>> for _ in range(3):
    ...     print(schedule.get_last_lr())
    ...     optimizer.step()
    ...     schedule.step()
    [1.0]
    [0.5]
    [0.0]
    """

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if self._is_initial or epoch > self.total_iters:
            return 1.0
        return float(((1 - epoch / self.total_iters) / (1 - (epoch - 1) / self.total_iters)) ** self.power)

    def _product(self, epoch: int) -> float:
        return float((1 - min(self.total_iters, epoch) / self.total_iters) ** self.power)


class _ByFunction(LRScheduler):
    """A schedule that is given as a function of the epoch, or one for each group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        groups = len(optimizer.param_groups)
        several = isinstance(lr_lambda, (list, tuple))
        if several and len(lr_lambda) != groups:
            raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
        self.lr_lambdas: list[Callable[[int], float]] = list(lr_lambda) if several else [lr_lambda] * groups
        for function in self.lr_lambdas:
            if not callable(function):
                raise TypeError(f"lr_lambda should be a function, but got {type(function).__name__}")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        return {**super().state_dict(), "lr_lambdas": [function_state(f) for f in self.lr_lambdas]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({name: value for name, value in state_dict.items() if name != "lr_lambdas"})
        for function, state in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if state is not None:
                vars(function).update(state)


class LambdaLR(_ByFunction):
    """Set the learning rate to the initial one times ``lr_lambda(epoch)``; a function, or a list, one for each group.

    Raises ValueError for a list of another length, TypeError for what cannot be called.

    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = gw.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (1 + epoch))
    >>> for _ in range(2):
    ...     print(schedule.get_last_lr())
    ...     optimizer.step()
    ...     schedule.step()
    [1.0]
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
                 last_epoch: int = -1) -> None:  # fmt: skip
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        return [lr * f(self.last_epoch) for lr, f in zip(self.base_lrs, self.lr_lambdas, strict=True)]


class MultiplicativeLR(_ByFunction):
    """Multiply the learning rate by ``lr_lambda(epoch)``; a function, or a list with one for each group.

    Raises ValueError for a list of another length, TypeError for what cannot be called.

    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = gw.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> for _ in range(3):
    ...     print(schedule.get_last_lr())
    ...     optimizer.step()
    ...     schedule.step()
    [1.0]
    [0.5]
    [0.25]
    """

    def __init__(self, optimizer: Optimizer, lr_lambda: Callable[[int], float] | Sequence[Callable[[int], float]],
                 last_epoch: int = -1) -> None:  # fmt: skip
        super().__init__(optimizer, lr_lambda, last_epoch)

    def get_lr(self) -> list[Any]:
        self._warn_outside_step()
        if self._is_initial:
            return self._first()
        return [lr * f(self.last_epoch) for lr, f in zip(self._lrs(), self.lr_lambdas, strict=True)]


class CosineAnnealingLR(LRScheduler):
    """From the initial learning rate down to ``eta_min`` and up again, half a cosine wave in ``T_max`` epochs.

    lr = eta_min + (initial - eta_min) (1 + cos(pi epoch / T_max)) / 2, reached by steps, so that it can be chained.

    Source: Loshchilov and Hutter, SGDR: stochastic gradient descent with warm restarts, 2016.

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
            return self._first(least)
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
        if last_epoch >= 0:
            self._locate(last_epoch)
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
