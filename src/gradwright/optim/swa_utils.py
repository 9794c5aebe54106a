"""Averages of the weights that an optimiser goes through (Izmailov et al. 2018), and batch statistics for them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal

from gradwright.base.lazy import lazy
from gradwright.engine.grad_mode import no_grad
from gradwright.face.creation import tensor
from gradwright.nn.module import Module
from gradwright.nn.modules.norm import _BatchNorm
from gradwright.optim.lr_scheduler import LRScheduler
from gradwright.optim.optimizer import Optimizer

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike

__all__ = [
    "AveragedModel", "SWALR", "get_ema_avg_fn", "get_ema_multi_avg_fn", "get_swa_avg_fn", "get_swa_multi_avg_fn",
    "update_bn",
]  # fmt: skip

lazy(__name__)


def get_ema_avg_fn(decay: float = 0.999) -> Callable[[Any, Any, Any], Any]:
    """decay average + (1 - decay) now: an exponential moving average.

    >>> from gradwright.optim.swa_utils import get_ema_avg_fn
    >>> get_ema_avg_fn(0.5)(gw.tensor(1.0), gw.tensor(3.0), 1)
    tensor(2.)
    """
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")

    @no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[[Any, Any, Any], Any]:
    """average + (now - average) / (n + 1): the average of all.

    >>> from gradwright.optim.swa_utils import get_swa_avg_fn
    >>> get_swa_avg_fn()(gw.tensor(1.0), gw.tensor(4.0), 2)
    tensor(2.)
    """

    @no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def _of_all(update: Callable[[Any, Any, Any], Any]) -> Callable[[Sequence[Any], Sequence[Any], Any], None]:
    @no_grad()
    def update_all(averaged: Sequence[Any], current: Sequence[Any], num_averaged: Any) -> None:
        for a, p in zip(averaged, current, strict=True):
            a.copy_(update(a, p, num_averaged))

    return update_all


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[[Sequence[Any], Sequence[Any], Any], None]:
    """`get_ema_avg_fn` for lists of parameters, in place.

    >>> from gradwright.optim.swa_utils import get_ema_multi_avg_fn
    >>> average = [gw.tensor([1.0])]
    >>> get_ema_multi_avg_fn(0.5)(average, [gw.tensor([3.0])], 1)
    >>> average
    [tensor([2.])]
    """
    return _of_all(get_ema_avg_fn(decay))


def get_swa_multi_avg_fn() -> Callable[[Sequence[Any], Sequence[Any], Any], None]:
    """`get_swa_avg_fn` for lists of parameters, in place.

    >>> from gradwright.optim.swa_utils import get_swa_multi_avg_fn
    >>> average = [gw.tensor([1.0])]
    >>> get_swa_multi_avg_fn()(average, [gw.tensor([4.0])], 2)
    >>> average
    [tensor([2.])]
    """
    return _of_all(get_swa_avg_fn())


class AveragedModel(Module):
    """A copy of a model whose parameters are averages of those that it is updated with.

    Args:
        model: what is averaged; its copy is ``module``.
        device: where the averages are kept; with the model's if None.
        avg_fn: the new average of one parameter: of average, parameter and how many have been averaged.
        multi_avg_fn: the same for lists of them, in place. ValueError if both are given; by default the mean of all.
        use_buffers: whether buffers are averaged, too; else they are those of the last update.

    >>> from gradwright.optim.swa_utils import AveragedModel
    >>> layer = gw.nn.Linear(1, 1, bias=False)
    >>> average = AveragedModel(layer)
    >>> for value in (1.0, 3.0):
    ...     _ = gw.nn.init.constant_(layer.weight, value)
    ...     average.update_parameters(layer)
    >>> average.module.weight.detach()
    tensor([[2.]])
    """

    n_averaged: Any
    module: Any

    def __init__(self, model: Module, device: DeviceLike = None, avg_fn: Callable[[Any, Any, Any], Any] | None = None,
                 multi_avg_fn: Callable[[Any, Any, Any], Any] | None = None,
                 use_buffers: bool = False) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = copy.deepcopy(model)
        self.module.zero_grad()
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", tensor(0, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the averaged model returns."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the parameters of a model into the average; the first time they are it."""
        mine, theirs = ([p.detach() for p in self._values(m)] for m in (self.module, model))
        theirs = [p.to(a.device) for a, p in zip(mine, theirs, strict=True)]
        if int(self.n_averaged) == 0:
            for a, p in zip(mine, theirs, strict=True):
                a.copy_(p)
        elif self.avg_fn is not None:
            for a, p in zip(mine, theirs, strict=True):
                a.copy_(self.avg_fn(a, p, self.n_averaged))
        else:
            (self.multi_avg_fn or get_swa_multi_avg_fn())(mine, theirs, self.n_averaged)
        if not self.use_buffers:
            for a, b in zip(self.module.buffers(), model.buffers(), strict=True):
                a.detach().copy_(b.detach().to(a.device))
        self.n_averaged += 1

    def _values(self, model: Module) -> list[Any]:
        return [*model.parameters(), *(model.buffers() if self.use_buffers else ())]


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: DeviceLike = None) -> None:
    """Compute the running statistics of batch normalisations anew, as means over the batches of a loader.

    >>> from gradwright.optim.swa_utils import update_bn
    >>> layer = gw.nn.BatchNorm1d(1)
    >>> update_bn([gw.tensor([[1.0], [3.0]])], layer)
    >>> layer.running_mean
    tensor([2.])
    """
    norms = [m for m in model.modules() if isinstance(m, _BatchNorm)]
    if not norms:
        return
    momenta, was_training = [m.momentum for m in norms], model.training
    for norm in norms:
        norm.reset_running_stats()
        norm.momentum = None
    model.train()
    for batch in loader:
        input = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(input if device is None else input.to(device))
    for norm, momentum in zip(norms, momenta, strict=True):
        norm.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Anneals the learning rate of each group to ``swa_lr`` over so many epochs, by a cosine or linearly.

    >>> from gradwright.optim.swa_utils import SWALR
    >>> optimizer = gw.optim.SGD([gw.zeros(1, requires_grad=True)], lr=1.0)
    >>> schedule = SWALR(optimizer, swa_lr=0.5, anneal_epochs=1, anneal_strategy="linear")
    >>> optimizer.step()
    >>> schedule.step()
    >>> schedule.get_last_lr()
    [0.5]
    """

    def __init__(self, optimizer: Optimizer, swa_lr: float | Sequence[float], anneal_epochs: int = 10,
                 anneal_strategy: Literal["cos", "linear"] = "cos", last_epoch: int = -1) -> None:  # fmt: skip
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        groups = optimizer.param_groups
        rates = list(swa_lr) if isinstance(swa_lr, (list, tuple)) else [swa_lr] * len(groups)
        if len(rates) != len(groups):
            raise ValueError(f"swa_lr must have the same length as optimizer.param_groups: swa_lr has {len(rates)}, "
                             f"optimizer.param_groups has {len(groups)}")  # fmt: skip
        for rate, group in zip(rates, groups, strict=True):
            group["swa_lr"] = rate
        self.anneal_epochs, self._anneal_strategy = anneal_epochs, anneal_strategy
        super().__init__(optimizer, last_epoch)

    def _way(self, t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2 if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[float]:
        """The next learning rates."""
        if self._is_initial and self.last_epoch > 0:  # resumed, at the rate that it had then
            return self._lrs()
        step, epochs = self.last_epoch, max(1, self.anneal_epochs)
        step = step if self.anneal_epochs else max(1, step)
        before, now = (self._way(max(0.0, min(1.0, t / epochs))) for t in (step - 1, step))
        found = []
        for group in self.optimizer.param_groups:
            rate = group["swa_lr"]
            start = rate if before == 1 else (group["lr"] - rate * before) / (1 - before)
            found.append(rate * now + start * (1 - now))
        return found
