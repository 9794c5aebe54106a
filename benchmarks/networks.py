"""Training steps of networks made of layers, with momentum SGD and with Adam."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.runner import Case, timed

BATCH = 128


def _mlp(lib: Any) -> tuple[Any, tuple[int, ...]]:
    nn = lib.nn
    return nn.Sequential(
        nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(), nn.Linear(128, 10)
    ), (BATCH, 784)  # fmt: skip


def _convnet(lib: Any) -> tuple[Any, tuple[int, ...]]:
    nn = lib.nn
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(512, 10),
    ), (64, 1, 8, 8)  # fmt: skip


def _block(lib: Any) -> tuple[Any, tuple[int, ...]]:
    """Classes from the first position: each attends to those before it and itself."""
    nn = lib.nn

    class Classifier(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.block = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
            self.out = nn.Linear(64, 10)
            self.mask = nn.Transformer.generate_square_subsequent_mask(64)

        def forward(self, x: Any) -> Any:
            return self.out(self.block(x, src_mask=self.mask, is_causal=True).mean(1))

    return Classifier(), (16, 64, 64)


def _training(model: Callable[[Any], tuple[Any, tuple[int, ...]]], optimizer: str, **options: float) -> Any:
    """From the library: a training step of the model, from the same weights in both."""

    def make(lib: Any) -> Callable[[], Any]:
        rng = np.random.default_rng(0)
        net, shape = model(lib)
        with lib.no_grad():
            for p in net.parameters():
                fan = p.shape[-1] if len(p.shape) < 3 else int(np.prod(p.shape[1:]))
                p.copy_(lib.tensor((rng.standard_normal(tuple(p.shape)) * fan**-0.5).astype(np.float32)))
        x = lib.tensor(rng.standard_normal(shape).astype(np.float32))
        labels = lib.tensor(rng.integers(0, 10, shape[0]))
        optim = getattr(lib.optim, optimizer)(net.parameters(), **options)
        criterion = lib.nn.CrossEntropyLoss()

        def step() -> Any:
            optim.zero_grad()
            loss = criterion(net(x), labels)
            loss.backward()
            optim.step()
            return loss

        return step

    return make


def _both(what: str, model: Any, limit: float) -> tuple[Case, Case]:
    return (
        timed(f"{what}, SGD with momentum", limit=limit)(_training(model, "SGD", lr=0.01, momentum=0.9)),
        timed(f"{what}, Adam", limit=limit)(_training(model, "Adam", lr=1e-3)),
    )


mlp_sgd, mlp_adam = _both("MLP step 784-256-128-10, batch 128", _mlp, 1.0)
convnet_sgd, convnet_adam = _both("Digits convnet step, batch 64", _convnet, 2.0)
block_sgd, block_adam = _both("Transformer block step, 16 x 64 x 64, causal", _block, 1.5)
