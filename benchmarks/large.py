"""Training steps of the size of real networks: a transformer of 6 blocks, a residual convnet of 20 layers, an LSTM of
2 layers over 100 steps, and a physics-informed network with second derivatives.

Each eager, by plan and in C, beside PyTorch's eager step and the strongest form that torch.compile has: one functional
program of `torch.func.grad_and_value` and the update. The first calls in a fresh process, and its peak of memory, too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import gradwright
from benchmarks.compiled import compiled
from benchmarks.depth import against
from benchmarks.networks import fill
from benchmarks.runner import Case, Figure, Pace, fresh

Inputs = tuple[Any, ...]


class Net(NamedTuple):
    """A network, its loss of inputs, and these; ``loss(net, grad, *inputs)``, where ``grad`` differentiates a sum.

    ``grad(f, x)`` is the gradient of ``f(x).sum()`` by ``x``, of which there are derivatives again.
    """

    net: Any
    loss: Callable[..., Any]
    inputs: Inputs


def _numbers(lib: Any, rng: np.random.Generator, *shape: int) -> Any:
    return lib.from_numpy(rng.standard_normal(shape).astype(np.float32))


def transformer(lib: Any, rng: np.random.Generator) -> Net:
    """6 blocks of width 64 over 8 sequences of 32 words, each of which is to be told from those before it."""
    nn = lib.nn

    class Words(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.words, self.places = nn.Embedding(100, 64), nn.Embedding(32, 64)
            self.blocks = nn.ModuleList(
                nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True, norm_first=True) for _ in range(6)
            )
            self.norm, self.out = nn.LayerNorm(64), nn.Linear(64, 100)
            self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(32))

        def forward(self, words: Any) -> Any:
            x = self.words(words) + self.places.weight
            for block in self.blocks:
                x = block(x, src_mask=self.mask, is_causal=True)
            return self.out(self.norm(x))

    words = lib.from_numpy(rng.integers(0, 100, (8, 33)))
    cross_entropy = nn.functional.cross_entropy

    def loss(net: Any, grad: Any, given: Any, next_: Any) -> Any:
        return cross_entropy(net(given).reshape(-1, 100), next_.reshape(-1))

    return Net(Words(), loss, (words[:, :-1].contiguous(), words[:, 1:].contiguous()))


def convnet(lib: Any, rng: np.random.Generator) -> Net:
    """20 layers of He et al.'s network for small images, each with batch norm, on 8 images of 3 x 16 x 16."""
    nn, F = lib.nn, lib.nn.functional

    class Block(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self, given: int, width: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(given, width, 3, stride, padding=1, bias=False)
            self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
            self.norm1, self.norm2 = nn.BatchNorm2d(width), nn.BatchNorm2d(width)
            self.past = nn.Conv2d(given, width, 1, stride, bias=False) if stride > 1 else nn.Identity()

        def forward(self, x: Any) -> Any:
            y = F.relu(self.norm1(self.conv1(x)))
            return F.relu(self.norm2(self.conv2(y)) + self.past(x))

    widths = [(16, 16, 1)] * 3 + [(16, 32, 2)] + [(32, 32, 1)] * 2 + [(32, 64, 2)] + [(64, 64, 1)] * 2
    net = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(), *(Block(*w) for w in widths),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10),
    )  # fmt: skip

    def loss(net: Any, grad: Any, images: Any, labels: Any) -> Any:
        return F.cross_entropy(net(images), labels)

    return Net(net, loss, (_numbers(lib, rng, 8, 3, 16, 16), lib.from_numpy(rng.integers(0, 10, 8))))


def lstm(lib: Any, rng: np.random.Generator) -> Net:
    """2 layers of 32 cells over 8 sequences of 100 steps."""
    nn = lib.nn

    class Series(nn.Module):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.cells, self.out = nn.LSTM(16, 32, num_layers=2), nn.Linear(32, 1)

        def forward(self, x: Any) -> Any:
            return self.out(self.cells(x)[0])

    def loss(net: Any, grad: Any, x: Any, y: Any) -> Any:
        return ((net(x) - y) ** 2).mean()

    return Net(Series(), loss, (_numbers(lib, rng, 100, 8, 16), _numbers(lib, rng, 100, 8, 1)))


def pinn(lib: Any, rng: np.random.Generator) -> Net:
    """Burgers' equation, u_t + u u_x = ν u_xx, at 500 points, and 100 of its start: 4 layers of 32."""
    nn = lib.nn
    net = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(),
                        nn.Linear(32, 1))  # fmt: skip

    def loss(net: Any, grad: Any, x: Any, t: Any, x0: Any, u0: Any) -> Any:
        def u(x: Any, t: Any) -> Any:
            return net(lib.cat([x, t], 1))

        def u_x(x: Any) -> Any:
            return grad(lambda x: u(x, t), x)

        left = grad(lambda t: u(x, t), t) + u(x, t) * u_x(x) - 0.01 * grad(u_x, x)
        return (left**2).mean() + ((u(x0, lib.zeros_like(x0)) - u0) ** 2).mean()

    x, t, x0 = (lib.from_numpy(rng.uniform(low, 1, (n, 1)).astype(np.float32)) for low, n in
                ((-1, 500), (0, 500), (-1, 100)))  # fmt: skip
    return Net(net, loss, (x, t, x0, -lib.sin(np.pi * x0)))


NETS = {"transformer, 6 blocks": transformer, "residual convnet, 20 layers": convnet, "LSTM, 2 x 100 steps": lstm,
        "PINN, second derivatives": pinn}  # fmt: skip
_RATE, _MOMENTUM = 0.01, 0.9


def made(lib: Any, name: str) -> Net:
    """One of them, from the same numbers in both libraries."""
    rng = np.random.default_rng(0)
    found = NETS[name](lib, rng)
    fill(lib, found.net, rng)
    return found


def training(lib: Any, name: str) -> Callable[[], Any]:
    """A step of SGD with momentum, as both libraries write it."""
    net, loss_of, inputs = made(lib, name)
    optimizer = lib.optim.SGD(net.parameters(), lr=_RATE, momentum=_MOMENTUM)

    def grad(f: Callable[[Any], Any], x: Any) -> Any:
        x = x if x.requires_grad else x.detach().requires_grad_()
        return lib.autograd.grad(f(x).sum(), x, create_graph=True)[0]

    def step() -> Any:
        optimizer.zero_grad()
        loss = loss_of(net, grad, *inputs)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def functional(torch: Any, name: str) -> Callable[[], Any]:
    """The same step as one functional program, compiled by torch.compile."""
    net, loss_of, inputs = made(torch, name)
    state = [{k: v.detach() for k, v in net.named_parameters()}, dict(net.named_buffers()), {}]
    state[2] = {k: torch.zeros_like(v) for k, v in state[0].items()}

    def grad(f: Callable[[Any], Any], x: Any) -> Any:
        return torch.func.grad(lambda x: f(x).sum())(x)

    def loss_at(params: Any, buffers: Any) -> Any:
        changed = {k: v.clone() for k, v in buffers.items()}

        def called(*given: Any) -> Any:
            return torch.func.functional_call(net, {**params, **changed}, given)

        return loss_of(called, grad, *inputs), changed

    def program(params: Any, buffers: Any, momenta: Any) -> Any:
        grads, (loss, buffers) = torch.func.grad_and_value(loss_at, has_aux=True)(params, buffers)
        momenta = {k: _MOMENTUM * momenta[k] + g for k, g in grads.items()}
        return loss, [{k: p - _RATE * momenta[k] for k, p in params.items()}, buffers, momenta]

    run = torch.compile(program)

    def step() -> Any:
        loss, state[:] = run(*state)
        return loss

    return step


# -- the cases --


def side(how: str, name: str) -> Callable[[], Any]:
    """A step that is ready: "eager", "plan", "c", or PyTorch's, "torch" or "torch.compile"."""
    if how.startswith("torch"):
        import torch

        step = training(torch, name) if how == "torch" else functional(torch, name)
    else:
        step = training(gradwright, name)
        if how != "eager":
            return compiled(gradwright, step, how)
    for _ in range(5):
        step()
    return step


_FRESH = """
import json, os, resource, sys, tempfile, time
os.environ["GRADWRIGHT_EXTENSIONS_DIR"] = os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
import {library}
from benchmarks import large
start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
step = {made}
for _ in range({calls}):
    step()
took, kept = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
print(json.dumps([took, kept * (1 if sys.platform == "darwin" else 1024)]))
"""


def _cold(name: str) -> Case:
    """Until the third call, against the first of torch.compile, each in a fresh process; the memory that it takes."""
    ours = f"gradwright.compile(large.training(gradwright, {name!r}), backend='c')"

    def sampler(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
        if lib is gradwright:
            text = _FRESH.format(library="gradwright", made=ours, calls=3)
        else:
            text = _FRESH.format(library="torch", made=f"large.functional(torch, {name!r})", calls=1)
        return lambda: tuple(fresh(text))

    what = f"compiled (c), calls 1 to 3 in a fresh process / torch.compile's first: {name}"
    return Case((Figure(what, "s", 0.1), Figure(f"{what}, memory at the peak", "B", 1.0)), sampler, rounds=1)


def _cases() -> dict[str, Case]:
    found = {}
    for name in NETS:
        c = partial(side, "c", name)
        for how, whom, limit in (("torch", "PyTorch", 0.8), ("torch.compile", "torch.compile", 1.0),
                                 ("eager", "eager", 1.0)):  # fmt: skip
            found[f"c/{how}/{name}"] = against(f"compiled (c) / {whom}: {name}", limit, c, partial(side, how, name))
        plan, eager = partial(side, "plan", name), partial(side, "eager", name)
        found[f"plan/{name}"] = against(f"compiled (plan) / eager: {name}", 1.0, plan, eager)
        found[f"cold/{name}"] = _cold(name)
    return found


globals().update(_cases())
