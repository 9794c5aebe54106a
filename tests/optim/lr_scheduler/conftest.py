"""Running a schedule beside PyTorch's."""

import warnings
from typing import Any

import pytest

import gradwright as gw


class Pair:
    """An optimiser with two groups in each library, and a schedule for each."""

    def __init__(self, torch: Any, make: Any, optimizer: str = "SGD", **options: Any) -> None:
        self.optimizers, self.schedules = [], []
        for lib in gw, torch:
            groups = [{"params": [lib.ones(1)]}, {"params": [lib.ones(2)], "lr": 0.5}]
            made = getattr(lib.optim, optimizer)(groups, lr=0.1, **options)
            self.optimizers.append(made)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # a chain in a sequence begins twice, in both libraries
                self.schedules.append(make(lib.optim.lr_scheduler, made))

    def options(self, optimizer: Any) -> Any:
        return [{name: group.get(name) for name in ("lr", "momentum", "betas", "initial_lr")}
                for group in optimizer.param_groups]  # fmt: skip

    def check(self) -> None:
        mine, other = (
            [v for group in self.options(optimizer) for v in group.values() if v is not None]
            for optimizer in self.optimizers
        )
        assert mine == other, "to the last bit, as programs print them"
        assert self.schedules[0].get_last_lr() == self.schedules[1].get_last_lr()

    def run(self, steps: int, *args: Any) -> None:
        for k in range(steps):
            for optimizer, schedule in zip(self.optimizers, self.schedules, strict=True):
                optimizer.step()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    schedule.step(*[a(k) if callable(a) else a for a in args])
            self.check()


@pytest.fixture
def pair(torch: Any) -> Any:
    def make(*args: Any, **options: Any) -> Pair:
        return Pair(torch, *args, **options)

    return make
