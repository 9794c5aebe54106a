"""Compiled steps: `gradwright.compile` against `torch.compile`, against PyTorch as it is, and against C by hand.

Steps that are compared with torch.compile are compiled by both; before the first sample each has been called until
nothing is compiled any more. It is an error if torch.compile has compiled nothing.
"""

from __future__ import annotations

import ctypes
import importlib
import math
import subprocess
import tempfile
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import gradwright
from benchmarks import networks
from benchmarks.runner import Case, Figure, Pace, fresh, timed
from benchmarks.training import elementwise, hessian_vector, legendre

_WARM = 5
Make = Callable[[Any], Callable[[], Any]]


def compiled(lib: Any, step: Callable[[], Any], backend: str = "auto", plain: bool = False,
             whole: bool = True) -> Callable[[], Any]:  # fmt: skip
    """A step compiled by the library, and called a few times; with ``plain``, PyTorch's stays as it is."""
    if lib is gradwright:
        made = lib.compile(step, backend=backend)
    else:
        made = step if plain else _by_torch(lib, step, whole)
    for _ in range(_WARM):
        made()
    if lib is gradwright and made.programs.reason:
        raise AssertionError(f"the step runs eagerly: {made.programs.reason}")
    if lib is not gradwright and not plain and not lib._dynamo.utils.counters["stats"]["unique_graphs"]:
        raise AssertionError("torch.compile has compiled nothing")
    return made  # type: ignore[no-any-return]


def _by_torch(torch: Any, step: Callable[[], Any], whole: bool) -> Callable[[], Any]:
    """What torch.compile makes of a step; with ``whole``, `torch.autograd.grad` in it is a part of its one graph."""
    importlib.import_module("torch._dynamo")
    torch._dynamo.config.trace_autograd_ops = whole
    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    return torch.compile(step)  # type: ignore[no-any-return]


def against(name: str, make: Make, limit: float | None, backend: str, plain: bool = False,
            whole: bool = True) -> Case:  # fmt: skip
    """The case of a step: ``make(lib)`` returns it."""

    def both(lib: Any) -> Callable[[], Any]:
        step = make(lib)
        return compiled(lib, lambda: step().detach(), backend, plain, whole)

    whom = "PyTorch" if plain else "torch.compile"
    return timed(f"compiled ({backend}) / {whom}: {name}", limit=limit)(both)


def made_by(case: Case) -> Make:
    """The function of the library that a case of `timed` is made of."""
    cells = dict(zip(case.sampler.__code__.co_freevars, case.sampler.__closure__, strict=True))  # type: ignore[attr-defined]
    make: Make = cells["make"].cell_contents
    return make


def layer_step(make: Make) -> Make:
    """A step that returns nothing, with a number to compare."""

    def made(lib: Any) -> Callable[[], Any]:
        run, one = make(lib), lib.ones(1)

        def step() -> Any:
            run()
            return one * 1

        return step

    return made


def fit(lib: Any, points: int) -> Callable[[], Any]:
    """The step of `legendre`, with `autograd.grad` in place of `backward`, of which torch.compile makes one graph.

    (With its option `trace_autograd_ops` torch.compile 2.13 takes `backward`, too, but then the losses of this step
    rise after the third: 462, 324, 313, 365, 419.)
    """

    class LegendrePolynomial3(lib.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, inputs: Any) -> Any:
            ctx.save_for_backward(inputs)
            return 0.5 * (5 * inputs**3 - 3 * inputs)

        @staticmethod
        def backward(ctx: Any, grad_outputs: Any) -> Any:
            (inputs,) = ctx.saved_tensors
            return grad_outputs * 1.5 * (5 * inputs**2 - 1)

    x = lib.linspace(-math.pi, math.pi, points, dtype=lib.float32)
    y = lib.sin(x)
    params = [lib.full((), start, dtype=lib.float32, requires_grad=True) for start in (0.0, -1.0, 0.0, 0.3)]
    a, b, c, d = params
    learning_rate = 0.01 / points
    P3 = LegendrePolynomial3.apply

    def step() -> Any:
        y_pred = a + b * P3(c + d * x)
        loss = (y_pred - y).pow(2).sum()
        grads = lib.autograd.grad(loss, params)
        with lib.no_grad():
            for p, g in zip(params, grads, strict=True):
                p -= learning_rate * g
        return loss

    return step


SMALL, LARGE = partial(fit, points=2_000), partial(fit, points=1_000_000)
HVP, MIX = made_by(hessian_vector), made_by(elementwise)
CONVNET, BLOCK = made_by(networks.convnet_sgd), made_by(networks.block_sgd)
LSTM = layer_step(made_by(networks.lstm))

SEEDS = partial(legendre, points=2_000)
small_plan = against("Legendre step, 2,000 points", SEEDS, 0.7, "plan", whole=False)
small_c = against("Legendre step, 2,000 points", SEEDS, 0.08, "c", whole=False)
graph_plan = against("the same with autograd.grad", SMALL, None, "plan")
graph_c = against("the same with autograd.grad", SMALL, None, "c")
large_plan = against("Legendre step, 1,000,000 points", LARGE, 8.8, "plan")
large_c = against("Legendre step, 1,000,000 points", LARGE, 0.55, "c")
sgd_plan = against("MLP step, SGD", made_by(networks.mlp_sgd), None, "plan")
sgd_c = against("MLP step, SGD", made_by(networks.mlp_sgd), 1.1, "c")
adam_plan = against("MLP step, Adam", made_by(networks.mlp_adam), None, "plan")
adam_c = against("MLP step, Adam", made_by(networks.mlp_adam), 1.1, "c")
hvp_plan = against("Hessian-vector product", HVP, 1.0, "plan")
hvp_c = against("Hessian-vector product", HVP, 1.0, "c")
mix_plan = against("broadcast mix 256x256", MIX, 1.9, "plan")
mix_c = against("broadcast mix 256x256", MIX, 0.9, "c")
convnet_plan = against("digits convnet step", CONVNET, 1.2, "plan", plain=True)
convnet_c = against("digits convnet step", CONVNET, 0.9, "c", plain=True)
block_plan = against("transformer block step", BLOCK, 1.2, "plan", plain=True)
block_c = against("transformer block step", BLOCK, 0.9, "c", plain=True)
lstm_plan = against("LSTM step", LSTM, 1.2, "plan", plain=True)
lstm_c = against("LSTM step", LSTM, 0.9, "c", plain=True)


# -- against C --


@cache
def by_hand() -> Any:
    """The step of ``legendre_loop.c``, built by the system's compiler."""
    to = Path(tempfile.mkdtemp()) / "loop.so"
    text = Path(__file__).with_name("legendre_loop.c")
    subprocess.run(["cc", "-O3", "-march=native", "-fopenmp-simd", "-shared", "-fPIC", str(text), "-o", str(to)],
                   check=True)  # fmt: skip
    found = ctypes.CDLL(str(to)).step
    found.argtypes = [ctypes.c_void_p] * 3 + [ctypes.c_float, ctypes.c_long, ctypes.c_void_p]
    found.restype = None
    return found


def _loop(points: int) -> Callable[[], Any]:
    x = np.linspace(-math.pi, math.pi, points, dtype=np.float32)
    arrays = [x, np.sin(x), np.array([0.0, -1.0, 0.0, 0.3], np.float32), np.empty((), np.float32)]
    x, y, p, loss = arrays
    run = partial(by_hand(), x.ctypes.data, y.ctypes.data, p.ctypes.data, 0.01 / points, points, loss.ctypes.data)

    def step(arrays: Any = arrays) -> None:
        run()

    return step


def _hand(points: int, limit: float | None) -> Case:
    """A case whose other side is that loop, in place of PyTorch."""

    def both(lib: Any) -> Callable[[], Any]:
        if lib is not gradwright:
            return _loop(points)
        step = compiled(lib, fit(lib, points), "c")

        def run() -> None:
            step()

        return run

    return timed(f"compiled (c) / C by hand, one core: Legendre step, {points:,} points", limit=limit)(both)


hand_small = _hand(2_000, None)
hand_large = _hand(1_000_000, 1.3)


# -- cold --

_OURS = """
import json, tempfile, os, time
os.environ["GRADWRIGHT_EXTENSIONS_DIR"] = tempfile.mkdtemp()
import gradwright
from benchmarks.compiled import SMALL, many_nodes
step = gradwright.compile({make}(gradwright), backend="c")
start = time.perf_counter()
for _ in range(3):
    step()
print(json.dumps(time.perf_counter() - start))
"""
_THEIRS = """
import json, tempfile, os, time
os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
import torch, torch._dynamo
torch._dynamo.config.trace_autograd_ops = True
from benchmarks.compiled import SMALL, many_nodes
step = {make}(torch)
made = torch.compile(lambda: step().detach())
start = time.perf_counter()
made()
print(json.dumps(time.perf_counter() - start))
"""


def many_nodes(lib: Any) -> Callable[[], Any]:
    """A step of a formula of 16 layers and its derivatives."""
    weights = [lib.full((), 0.1 * k, requires_grad=True) for k in range(16)]
    x = lib.linspace(0, 1, 1000)

    def step() -> Any:
        y = x
        for w in weights:
            y = lib.sin(y * w) + y / (1 + w * w)
        return lib.autograd.grad((y * y).mean(), weights)[0]

    return step


def _cold(name: str, make: str, limit: float | None, alone: bool = False) -> Case:
    def sampler(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
        text = (_OURS if lib is gradwright else _THEIRS).format(make=make)
        return lambda: (math.nan if alone and lib is not gradwright else fresh(text),)

    return Case((Figure(name, "s", limit),), sampler, rounds=3)


cold = _cold("compiled (c), calls 1 to 3, cold / torch.compile's first: Legendre step", "SMALL", 0.1)
cold_many = _cold("compiled (c), calls 1 to 3, cold, a formula of 16 layers", "many_nodes", None, alone=True)
