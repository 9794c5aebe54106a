"""What all schedules of the learning rate share; one that waits for a plateau; schedules made of schedules."""

from __future__ import annotations

import math
import types
import warnings
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any, SupportsFloat

from gradwright.base.source_line import warn
from gradwright.face.tensor import Tensor
from gradwright.optim.optimizer import Optimizer


class LRScheduler:
    """A schedule: it sets the learning rate of each group of an optimiser, once when it is made and in each `step`.

    A subclass defines `get_lr`, and where it can be said directly what belongs to an epoch, ``_get_closed_form_lr``.

    Args:
        optimizer: whose learning rates to set.
        last_epoch: the epoch that was last; -1 to begin. To go on, the groups need their "initial_lr", which the state
            of the optimiser holds.

    Attributes:
        base_lrs: the learning rates at the beginning, one for each group.
        last_epoch: the number of steps so far.

    Raises TypeError if ``optimizer`` is none, KeyError where "initial_lr" is missing.

    >>> class Halved(gw.optim.lr_scheduler.LRScheduler):
    ...     def get_lr(self):
    ...         return [base / 2 if self.last_epoch else base for base in self.base_lrs]
    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = Halved(optimizer)
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    _is_initial = False
    _get_lr_called_within_step = False
    _last_lr: list[Any]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        self.optimizer = checked(optimizer)
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{i}] when resuming scheduler with "
                    "last_epoch >= 0: load the state of the optimizer first, or begin with last_epoch=-1"
                )
        self.base_lrs = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        vars(optimizer).setdefault("_opt_called", False)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def _restart(self) -> None:
        """Begin anew, as it was when it was made with ``last_epoch=-1``."""
        self.last_epoch = -1
        self._initial_step()

    def get_last_lr(self) -> list[Any]:
        """The learning rates that were last set."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The learning rates that belong to the present step; for `step` to call."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Set the learning rates of the next epoch. To be called after the optimiser's step."""
        if self._step_count == 1 and not self.optimizer._opt_called:
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. You should call them in the "
                "opposite order: `optimizer.step()` before `lr_scheduler.step()`. Otherwise the first value of the "
                "learning rate schedule is skipped.",
                stacklevel=2,
            )
        self._step_count += 1
        if epoch is not None:
            warn_of_epoch()
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
        self._take(self._now() if closed is None else closed())

    def _now(self) -> list[Any]:
        """What `get_lr` says, which may be called here."""
        self._get_lr_called_within_step = True
        try:
            return self.get_lr()
        finally:
            self._get_lr_called_within_step = False

    def _take(self, values: list[Any]) -> None:
        """Set these learning rates."""
        for group, value in zip(self.optimizer.param_groups, values, strict=True):
            put(group, "lr", value)
        self._last_lr = self._lrs()

    def _lrs(self) -> list[Any]:
        return [copied(group["lr"]) for group in self.optimizer.param_groups]

    def _first(self, least: float = 0.0) -> list[Any]:
        """The learning rates to begin with: those of now, or the initial ones after a schedule that ended at the least.

        A factor would make nothing else of that. There is a warning, as a group that is frozen so looks the same.
        """
        pairs = [*zip(self._lrs(), self.base_lrs, strict=True)]
        if self.last_epoch != 0 or not (self.optimizer._opt_called or self.optimizer.state):
            return [lr for lr, _ in pairs]
        over = [i for i, (lr, base) in enumerate(pairs) if lr == least != base]
        if over:
            warn(
                f"{type(self).__name__}: the learning rate of param_groups{over} is {least}, where a schedule before "
                "may have ended; no factor leads away from that, so it begins at its initial_lr again. If the group is "
                "to be frozen, let its parameters not require grad, or set its initial_lr, too."
            )
        return [copied(base) if i in over else lr for i, (lr, base) in enumerate(pairs)]

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", stacklevel=3
            )

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimiser. Of functions that were given only the attributes of callable objects."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned, and give the optimiser the learning rates that were last set.

        So it does not matter that making the schedule, after the optimiser's state was loaded, has set the first ones.
        """
        vars(self).update(state_dict)
        self._set_last()

    def _set_last(self) -> None:
        last = vars(self).get("_last_lr", ())
        if len(last) == len(self.optimizer.param_groups):
            for group, value in zip(self.optimizer.param_groups, last, strict=True):
                put(group, "lr", copied(value))


def checked(optimizer: Any) -> Optimizer:
    """``optimizer``; TypeError if it is none."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
    return optimizer


def copied(value: Any) -> Any:
    """A setting, which may be a tensor, for keeping."""
    return value.clone() if isinstance(value, Tensor) else value


def put(group: dict[str, Any], name: str, value: Any) -> None:
    """Set an option of a group; a tensor stays the same one."""
    if isinstance(group[name], Tensor):
        group[name].fill_(float(value))
    else:
        group[name] = value


def for_each_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A list with a value for each group; ValueError if the list given is of another length."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [copied(value) for _ in range(groups)]
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {groups}."
        )
    return [copied(v) for v in value]


def function_state(function: Any) -> Any:
    """What to save of a function: the attributes of a callable object, None otherwise."""
    return None if function is None or isinstance(function, types.FunctionType) else dict(vars(function))


def warn_of_epoch() -> None:
    """The warning about ``step(epoch)``."""
    warnings.warn(
        "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. Please "
        "use `scheduler.step()` to step the scheduler.",
        stacklevel=3,
    )


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
        self._set_last()


class ChainedScheduler(_Composed):
    """Several schedules at once: in each step they change the learning rate one after the other.

    Raises ValueError if there are none, or not all of one optimiser (by default the first one's).

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

    def _restart(self) -> None:
        for scheduler in self._schedulers:
            scheduler._restart()
        self._last_lr = self._lrs()


class SequentialLR(_Composed):
    """Several schedules one after the other: the next begins at each of the epochs ``milestones``.

    To go on after ``last_epoch``, all begin anew, whatever theirs is, and take the steps until then.

    Raises ValueError if there are none, not all of this optimiser, or not one more than milestones.

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
        self._begin()
        if last_epoch >= 0:
            self._restart()
            self._go_to(last_epoch + 1)

    def _begin(self) -> None:
        """The first step, of the first schedule alone: all have taken it when they were made."""
        for group in self.optimizer.param_groups:
            put(group, "lr", group["initial_lr"])
        _unstep(self)
        first = self._schedulers[bisect_right(self._milestones, 0)]
        first._initial_step()
        self._last_lr = first.get_last_lr()

    def _restart(self) -> None:
        for scheduler in self._schedulers:
            scheduler._restart()
        self.last_epoch = 0
        self._begin()

    def _go_to(self, epoch: int) -> None:
        """Take all steps up to an epoch, from the first."""
        called = self.optimizer._opt_called
        self.optimizer._opt_called = True
        try:
            for _ in range(epoch):
                self.step()
        finally:
            self.optimizer._opt_called = called

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
