"""LRScheduler: what all schedules of the learning rate share."""

from __future__ import annotations

import types
import warnings
from typing import Any

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

    >>> import gradwright as gw
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

    def _warn_outside_step(self) -> None:
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.", stacklevel=3
            )

    def state_dict(self) -> dict[str, Any]:
        """All attributes but the optimiser. Of functions that were given only the attributes of callable objects."""
        return {name: value for name, value in vars(self).items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        vars(self).update(state_dict)


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
