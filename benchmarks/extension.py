"""C++ extensions: how long a build and a load of a ten-line one take, and what a fused operation saves."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.runner import Case, Figure, Pace, fresh, timed
from examples import fused_activation

CODE = {
    "gradwright": """
gw::Tensor running_sum(gw::Array<double, 1> x) {
    auto y = gw::empty_like(x);
    double total = 0;
    for (int64_t i = 0; i < x.size(); ++i) {
        total += x[i];
        y[i] = total;
    }
    return y;
}
""",
    "torch": """
torch::Tensor running_sum(torch::Tensor x) {
    auto y = torch::empty_like(x);
    const double *from = x.data_ptr<double>();
    double total = 0, *to = y.data_ptr<double>();
    for (int64_t i = 0; i < x.numel(); ++i) {
        total += from[i];
        to[i] = total;
    }
    return y;
}
""",
}
"""The same function for both libraries."""
LOAD = """
import json, time, warnings
warnings.simplefilter("ignore")
import {lib} as lib
from {lib}.utils.cpp_extension import load_inline
start = time.perf_counter()
ext = load_inline("benchmarked", {code!r}, functions=["running_sum"], build_directory={folder!r})
seconds = time.perf_counter() - start
assert ext.running_sum(lib.tensor([1.0, 2.0], dtype=lib.float64)).tolist() == [1.0, 3.0]
print(json.dumps(seconds))
"""


def _seconds(lib: Any, folder: str, code: str = "") -> float:
    """How long a fresh process takes to have the extension, which is kept in a folder."""
    name = lib.__name__
    return float(fresh(LOAD.format(lib=name, code=code or CODE[name], folder=folder)))


def _cold(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        _seconds(lib, folder, CODE[lib.__name__] + "// first\n")  # what is made once on a machine has been made

    def sample() -> tuple[float, ...]:
        with tempfile.TemporaryDirectory() as folder:
            return (_seconds(lib, folder),)

    return sample


def _first(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
    def sample() -> tuple[float, ...]:
        before = os.environ.get("GRADWRIGHT_EXTENSIONS_DIR")
        with tempfile.TemporaryDirectory() as folder:
            os.environ["GRADWRIGHT_EXTENSIONS_DIR"] = folder
            try:
                return (_seconds(lib, folder),)
            finally:
                del os.environ["GRADWRIGHT_EXTENSIONS_DIR"]
                os.environ.update({"GRADWRIGHT_EXTENSIONS_DIR": before} if before else {})

    return sample


def _warm(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
    folder = tempfile.TemporaryDirectory()
    _seconds(lib, folder.name)
    return lambda: (_seconds(lib, folder.name),)


def _case(name: str, limit: float | None, sampler: Any, rounds: int) -> Case:
    return Case((Figure(name, "s", limit),), sampler, rounds=rounds)


cold_build = _case("C++ extension of ten lines, cold build", 0.3, _cold, 2)
first_build = _case("C++ extension, the first on a machine", None, _first, 1)
warm_load = _case("C++ extension, load of what is built (at most 50 ms)", None, _warm, 3)


def _activation(n: int) -> Callable[[Any], Any]:
    def case(lib: Any) -> Any:
        random = np.random.default_rng(0)
        x = lib.from_numpy(random.standard_normal(n).astype(np.float32)).requires_grad_()
        g = lib.ones(n)
        if lib.__name__ == "gradwright":
            quick_gelu = fused_activation.compiled()
        else:
            quick_gelu = lambda x: x * lib.sigmoid(1.702 * x)

        def run() -> Any:
            x.grad = None
            quick_gelu(x).backward(g)
            return x.grad

        return run

    return case


fused_large = timed("activation as one expression in C++, 1,000,000 float32", limit=0.5)(_activation(1_000_000))
fused_small = timed("the same, 1,000 float32")(_activation(1000))
