"""Random nets, losses and optimisers train compiled as they do eagerly, while things change between the steps.

`make test` trains a few by NumPy and in C; `make soak` 500 and 100, the same ones each time.
"""

import copy
import os
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright import nn, optim
from gradwright.nn import functional as F
from gradwright.nn.utils import clip_grad_norm_, clip_grad_value_, parametrizations
from gradwright.optim.lr_scheduler import StepLR

COUNT = max(5, int(os.environ.get("SOAK", "1000" if os.environ.get("CI") else "500")) // 100)
WIDTH, CLASSES, STEPS = 4, 3, 9


class Residual(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner, self.share = nn.Linear(WIDTH, WIDTH), nn.Parameter(gw.full((1,), 0.5))

    def forward(self, x: Any) -> Any:
        return x + self.share * self.inner(x)


class Centred(nn.Module):
    """Buffers that forward writes, in the ways of users."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", gw.zeros(WIDTH))
        self.register_buffer("count", gw.tensor(0))

    def forward(self, x: Any) -> Any:
        if self.training:
            with gw.no_grad():
                self.mean.mul_(0.9).add_(x.mean(0).detach(), alpha=0.1)
                self.count += 1
        return x - self.mean


class Square(gw.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * 0.1

    @staticmethod
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * x * 0.2


class Own(nn.Module):
    def forward(self, x: Any) -> Any:
        return Square.apply(x) + x


class Recurrent(nn.Module):
    def __init__(self, kind: Callable[..., Any]) -> None:
        super().__init__()
        self.cells = kind(WIDTH, WIDTH, batch_first=True)

    def forward(self, x: Any) -> Any:
        return self.cells(x.unsqueeze(1).repeat(1, 3, 1))[0][:, -1]


class Convolved(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.pool = nn.Conv1d(1, 2, 3, padding=1), nn.MaxPool1d(2, 1, 1)

    def forward(self, x: Any) -> Any:
        return self.pool(self.conv(x.unsqueeze(1))).sum(1)[:, : x.shape[1]]


class Embedded(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(5, WIDTH)

    def forward(self, x: Any) -> Any:
        return x + self.table((x[:, 0].detach().abs() * 3).long() % 5)


def linear() -> Any:
    return nn.Linear(WIDTH, WIDTH)


LAYERS: list[Callable[[], Any]] = [
    linear, lambda: nn.Sequential(nn.Linear(WIDTH, 8), nn.ReLU(), nn.Linear(8, WIDTH)), lambda: nn.BatchNorm1d(WIDTH),
    lambda: nn.LayerNorm(WIDTH), lambda: nn.Dropout(0.3), Residual, Centred, Own, lambda: Recurrent(nn.LSTM),
    lambda: Recurrent(nn.GRU), lambda: Recurrent(nn.RNN), Convolved, Embedded, nn.GELU, nn.PReLU,
    lambda: parametrizations.weight_norm(linear()), lambda: parametrizations.spectral_norm(linear()),
    lambda: nn.Softmax(-1),
]  # fmt: skip
OPTIMIZERS: list[Callable[[Any], Any]] = [
    lambda ps: optim.SGD(ps, lr=0.05), lambda ps: optim.SGD(ps, lr=0.05, momentum=0.9, nesterov=True),
    lambda ps: optim.SGD(ps, lr=0.05, momentum=0.9, weight_decay=0.01, dampening=0.1), optim.Adam,
    lambda ps: optim.AdamW(ps, amsgrad=True), lambda ps: optim.RMSprop(ps, momentum=0.5), optim.Adagrad, optim.Adadelta,
    optim.NAdam, optim.RAdam, optim.Adamax,
]  # fmt: skip
LOSSES: list[Callable[[Any, Any], Any]] = [
    F.cross_entropy, *(lambda y, t, f=f: f(y, F.one_hot(t, CLASSES).to(y.dtype)) for f in (
        F.mse_loss, F.binary_cross_entropy_with_logits, F.smooth_l1_loss)),
]  # fmt: skip


class Training:
    """A net, its optimiser and its step, by a seed."""

    def __init__(self, seed: int, backend: str) -> None:
        draw = random.Random(seed)
        gw.manual_seed(seed)
        layers = [draw.choice(LAYERS)() for _ in range(draw.randint(1, 4))]
        self.net = nn.Sequential(*layers, nn.Linear(WIDTH, CLASSES)).double()
        self.optimizer = draw.choice(OPTIMIZERS)([*self.net.parameters()])
        self.average = copy.deepcopy(self.net) if draw.random() < 0.2 else None
        self.schedule = StepLR(self.optimizer, 2, 0.5) if draw.random() < 0.3 else None
        self.saved: Any = None
        step = self.make(draw)
        self.step = step if backend == "eager" else gw.compile(step, backend=backend)

    def make(self, draw: random.Random) -> Callable[..., Any]:
        net, optimizer, average = self.net, self.optimizer, self.average
        loss_of = draw.choice(LOSSES)
        clip: Any = draw.choice([None, None, lambda ps: clip_grad_norm_(ps, 0.5), lambda ps: clip_grad_value_(ps, 0.1)])
        forget = draw.choice([optimizer.zero_grad, lambda: optimizer.zero_grad(set_to_none=False), net.zero_grad])
        times, returns, penalty = draw.choice([1, 1, 2]), draw.randrange(5), draw.random() < 0.2
        backward = draw.random() < 0.5

        def step(x: Any, t: Any) -> Any:
            forget()
            for k in range(times):
                y = net(x * (1 + k))
                loss = loss_of(y, t)
                if penalty:
                    loss = loss + 1e-3 * sum((p * p).sum() for p in net.parameters())
                if backward:
                    loss.backward()
                else:
                    params = [p for p in net.parameters() if p.requires_grad]
                    for p, g in zip(params, gw.autograd.grad(loss, params, allow_unused=True), strict=True):
                        if g is not None:
                            p.grad = g if p.grad is None else p.grad + g
            if clip is not None:
                clip(net.parameters())
            optimizer.step()
            if average is not None:
                with gw.no_grad():
                    for a, p in zip(average.parameters(), net.parameters(), strict=True):
                        a.lerp_(p, 0.1)
            if returns == 0:
                return loss.item()
            if returns == 1:
                return loss.detach(), y.detach()
            if returns == 2:
                return [p.grad for p in net.parameters()]
            return loss.detach() if returns == 3 else None

        return step

    def change(self, draw: random.Random) -> None:
        """What a program may do between two steps; often nothing."""
        net, optimizer = self.net, self.optimizer
        params = [*net.parameters()]
        kind = draw.randrange(15)
        if kind == 0:
            net.train(not net.training)
        elif kind == 1:
            optimizer.param_groups[0]["lr"] *= 0.7
        elif kind == 2:
            draw.choice(params).requires_grad_(draw.random() < 0.3)
        elif kind in (3, 4) and self.saved:
            net.load_state_dict(self.saved[0])
            optimizer.load_state_dict(self.saved[1])
        elif kind in (3, 4, 10):
            self.saved = copy.deepcopy((net.state_dict(), optimizer.state_dict()))
        elif kind == 5:
            with gw.no_grad():
                for p in params:
                    p.mul_(0.99)
        elif kind == 6:
            params[-1].data = params[-1].data * 0.5
        elif kind == 7:
            optimizer.zero_grad()
        elif kind == 8:
            gw.manual_seed(draw.randrange(100))
        elif kind == 9 and params[-1].requires_grad:
            params[-1].register_hook(lambda g: g * 0.5)

    def run(self, seed: int) -> Any:
        """What each step returns, and all that it leaves."""
        draw, rng = random.Random(seed), np.random.default_rng(seed)
        size, found = 6, []
        for k in range(STEPS):
            if k > 2:
                self.change(draw)
                size = draw.choice([2, 3, 7]) if draw.random() < 0.1 else size
            x, t = gw.tensor(rng.standard_normal((size, WIDTH))), gw.tensor(rng.integers(0, CLASSES, size))
            try:
                result = self.step(x, t)
            except (RuntimeError, ValueError) as error:
                found.append([type(error).__name__])
                continue
            if self.schedule is not None:
                self.schedule.step()
            found.append([*arrays(result), *arrays(self.left())])
        return found

    def left(self) -> Any:
        nets = [self.net] if self.average is None else [self.net, self.average]
        return ([net.state_dict() for net in nets], [p.grad for p in self.net.parameters()],
                [*self.optimizer.state.values()])  # fmt: skip


def arrays(value: Any) -> list[Any]:
    """The numbers in a value, as arrays of their own."""
    if isinstance(value, gw.Tensor):
        return [np.array(value.detach().numpy())]
    if isinstance(value, dict):
        return arrays([*value.values()])
    if isinstance(value, (list, tuple)):
        return [a for v in value for a in arrays(v)]
    return [value if value is None else np.array(value)]


@pytest.mark.parametrize(("backend", "seeds"), [("plan", range(COUNT)), ("c", range(1000, 1000 + COUNT // 5))])
def test_trainings_do_compiled_what_they_do_eagerly(backend: str, seeds: range) -> None:
    compiled = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in seeds:
            fast = Training(seed, backend)
            found, expected = fast.run(seed), Training(seed, "eager").run(seed)
            for k, (mine, other) in enumerate(zip(found, expected, strict=True)):
                assert len(mine) == len(other), f"training {seed}, step {k}"
                for a, b in zip(mine, other, strict=True):
                    assert (a is None) == (b is None), f"training {seed}, step {k}"
                    if isinstance(b, np.ndarray):
                        np.testing.assert_allclose(a, b, 1e-6, 1e-7, err_msg=f"training {seed}, step {k}")
                    else:
                        assert a == b, f"training {seed}, step {k}"
            compiled += not fast.step.programs.reason
    assert compiled > len(seeds) * 0.8
