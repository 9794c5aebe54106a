"""ReduceLROnPlateau: smaller steps when a figure no longer improves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import SupportsFloat

from gradwright.optim.lr_scheduler.base import LRScheduler, checked, put, warn_of_epoch
from gradwright.optim.optimizer import Optimizer


class ReduceLROnPlateau(LRScheduler):
    """Multiply the learning rate by ``factor`` when a figure has not improved for more than ``patience`` epochs.

    Args:
        optimizer: whose learning rates to set.
        mode: "min" if smaller is better, or "max".
        factor: less than 1.
        patience: how many epochs without improvement are allowed.
        threshold: what counts as an improvement.
        threshold_mode: "rel", relative to the best figure, or "abs".
        cooldown: how many epochs after a reduction do not count.
        min_lr: the smallest learning rate; a number, or a list with one for each group.
        eps: reductions smaller than this are not made.

    Raises ValueError for arguments outside these bounds, RuntimeError in `step` if groups were added to a list's.

    >>> import gradwright as gw
    >>> optimizer = gw.optim.SGD([gw.ones(1)], lr=1.0)
    >>> scheduler = gw.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)
    >>> for loss in (3.0, 3.0, 3.0):
    ...     scheduler.step(loss)
    >>> scheduler.get_last_lr()
    [0.1]
    """

    def __init__(self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10,
                 threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
                 min_lr: float | Sequence[float] = 0, eps: float = 1e-8) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ValueError(f"Factor should be < 1.0. Got factor={factor}")
        if mode not in ("min", "max"):
            raise ValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"threshold mode {threshold_mode} is unknown!")
        self.factor, self.optimizer = factor, checked(optimizer)
        groups = len(optimizer.param_groups)
        one = None if isinstance(min_lr, Sequence) else min_lr
        self.default_min_lr, self.min_lrs = one, [*min_lr] if isinstance(min_lr, Sequence) else [min_lr] * groups
        if len(self.min_lrs) != groups:
            raise ValueError(f"expected {groups} min_lrs, got {len(self.min_lrs)}")
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = self._lrs()
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self.mode_worse = math.inf if mode == "min" else -math.inf
        self._reset()

    def _reset(self) -> None:
        self.best = self.mode_worse
        self.cooldown_counter = self.num_bad_epochs = 0

    @property
    def in_cooldown(self) -> bool:
        """Whether a reduction was made less than ``cooldown`` epochs ago."""
        return self.cooldown_counter > 0

    def step(self, metrics: SupportsFloat, epoch: int | None = None) -> None:  # type: ignore[override]
        """Take note of an epoch's figure, and reduce the learning rates if it is time."""
        if epoch is not None:
            warn_of_epoch()
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        current = float(metrics)
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = self._lrs()

    def _reduce(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when "
                    f"`ReduceLROnPlateau` was initialized ({len(self.min_lrs)}), usually due to a new param group "
                    "being added to the optimizer. Please modify the `min_lrs` field to match the length of the "
                    "`optimizer` param groups."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                put(group, "lr", new)

    def _is_better(self, figure: float, best: float) -> bool:
        sign = 1 if self.mode == "min" else -1
        bound = best * (1 - sign * self.threshold) if self.threshold_mode == "rel" else best - sign * self.threshold
        return sign * figure < sign * bound
