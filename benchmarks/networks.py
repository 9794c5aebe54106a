"""Training steps of networks made of layers, with momentum SGD and with Adam."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.runner import timed

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


def _training(model: Callable[[Any], tuple[Any, tuple[int, ...]]], optimizer: Any, **options: Any) -> Any:
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


SGD = {"optimizer": "SGD", "lr": 0.01, "momentum": 0.9}
ADAM = {"optimizer": "Adam", "lr": 1e-3}

mlp_sgd = timed("MLP step with nn and optim, SGD with momentum", limit=1.0)(_training(_mlp, **SGD))
mlp_adam = timed("MLP step with nn and optim, Adam", limit=1.0)(_training(_mlp, **ADAM))
convnet_sgd = timed("digits convnet step, batch 64, SGD with momentum", limit=2.0)(_training(_convnet, **SGD))
convnet_adam = timed("digits convnet step, batch 64, Adam", limit=2.0)(_training(_convnet, **ADAM))
block_sgd = timed("transformer block step, 16 x 64 x 64, SGD with momentum", limit=1.5)(_training(_block, **SGD))
block_adam = timed("transformer block step, 16 x 64 x 64, Adam", limit=1.5)(_training(_block, **ADAM))
