"""Layers and optimisers: training steps of networks, single layers, and what many parameters and a file cost."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
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


def fill(lib: Any, net: Any, rng: np.random.Generator) -> None:
    """Random weights for a network, the same in both libraries, that keep the size of what they multiply."""
    with lib.no_grad():
        for p in net.parameters():
            fan = p.shape[-1] if len(p.shape) < 3 else int(np.prod(p.shape[1:]))
            p.copy_(lib.tensor((rng.standard_normal(tuple(p.shape)) * fan**-0.5).astype(np.float32)))


def training(model: Callable[[Any], tuple[Any, tuple[int, ...]]], optimizer: Any, **options: Any) -> Any:
    """From the library: a training step of the model, from the same weights in both."""

    def make(lib: Any) -> Callable[[], Any]:
        rng = np.random.default_rng(0)
        net, shape = model(lib)
        fill(lib, net, rng)
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

mlp_sgd = timed("MLP step with nn and optim, SGD with momentum", limit=1.0)(training(_mlp, **SGD))
mlp_adam = timed("MLP step with nn and optim, Adam", limit=1.0)(training(_mlp, **ADAM))
convnet_sgd = timed("digits convnet step, batch 64, SGD with momentum", limit=2.0)(training(_convnet, **SGD))
convnet_adam = timed("digits convnet step, batch 64, Adam", limit=2.0)(training(_convnet, **ADAM))
block_sgd = timed("transformer block step, 16 x 64 x 64, SGD with momentum", limit=1.5)(training(_block, **SGD))
block_adam = timed("transformer block step, 16 x 64 x 64, Adam", limit=1.5)(training(_block, **ADAM))


def _layer(make: Callable[[Any], Any], *shape: int) -> Callable[[Any], Any]:
    """From the library: forward and backward of a layer in training, on random numbers of a shape."""

    def made(lib: Any) -> Callable[[], None]:
        layer = make(lib.nn)
        x = lib.tensor(np.random.default_rng(0).standard_normal(shape, np.float32), requires_grad=True)

        def run() -> None:
            x.grad = None
            layer.zero_grad()
            out = layer(x)
            (out[0] if isinstance(out, tuple) else out).sum().backward()

        return run

    return made


BOTH = "forward and backward"
lstm = timed(f"LSTM 16 to 32, 10 steps of batch 8, {BOTH}")(_layer(lambda nn: nn.LSTM(16, 32), 10, 8, 16))
IMAGES = (32, 16, 32, 32)
pooling = timed(f"max pooling 2x2 of 32x16x32x32, {BOTH}", limit=2.0)(_layer(lambda nn: nn.MaxPool2d(2), *IMAGES))
norm = timed(f"batch norm of 32x16x32x32, {BOTH}", limit=2.0)(_layer(lambda nn: nn.BatchNorm2d(16), *IMAGES))


@timed("SGD step of 10,000,000 numbers", limit=1.5)
def large_step(lib: Any) -> Callable[[], None]:
    p = lib.nn.Parameter(lib.ones(10_000_000))
    p.grad = lib.ones(10_000_000)
    return lib.optim.SGD([p], lr=1e-6).step


@timed("Adam, first step of 10,000 parameters of 4 numbers")
def first_step(lib: Any) -> Any:
    def build() -> Any:
        parameters = [lib.nn.Parameter(lib.ones(4)) for _ in range(10_000)]
        for p in parameters:
            p.grad = lib.ones(4)
        return lib.optim.Adam(parameters)

    return build, lambda optim: optim.step()


@timed("saving and loading 10,000,000 numbers")
def saving(lib: Any) -> Callable[[], None]:
    state = {f"layer {k}": lib.ones(1_000_000) for k in range(10)}
    folder = tempfile.TemporaryDirectory()  # goes with the function
    path = Path(folder.name) / "state"

    def run(folder: Any = folder) -> None:
        lib.save(state, path)
        lib.load(path)

    return run
