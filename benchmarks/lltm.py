"""A step of the LLTM of examples/lltm.py with its gradient, in C++ and in Python."""

from __future__ import annotations

import runpy
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.runner import ROOT, timed

EXAMPLE = ROOT / "examples" / "lltm.py"


def _program(lib: Any) -> dict[str, Any]:
    """The names of the example, written for a library."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "lltm.py"
        path.write_text(EXAMPLE.read_text(encoding="utf-8").replace("gradwright", lib.__name__), encoding="utf-8")
        return runpy.run_path(str(path))


def _torch_in_cpp(torch: Any) -> Any:
    from torch.utils.cpp_extension import load

    ext = load("benchmarked_lltm", str(Path(__file__).with_name("lltm_torch.cpp")))

    class LLTM(torch.autograd.Function):  # type: ignore[misc, name-defined]
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            h, cell, *saved = ext.forward(*inputs)
            ctx.save_for_backward(*saved)
            return h, cell, None

        @staticmethod
        def backward(ctx: Any, grad_h: Any, grad_cell: Any, _: None) -> Any:
            d_weights, d_bias = ext.backward(grad_h, grad_cell, *ctx.saved_tensors)
            return None, d_weights, d_bias, None, None

    return LLTM


def _gradwright_in_cpp(gradwright: Any) -> Any:
    from gradwright.utils.cpp_extension import load

    return load("lltm", EXAMPLE.with_suffix(".cpp")).LLTM


IN_CPP = {"torch": _torch_in_cpp, "gradwright": _gradwright_in_cpp}


def _step(in_cpp: bool) -> Callable[[Any], Callable[[], Any]]:
    def make(lib: Any) -> Callable[[], Any]:
        random = np.random.default_rng(0)
        x, h, cell, weights = (
            lib.tensor(random.standard_normal(shape).astype(np.float32) / 8)
            for shape in ((16, 32), (16, 128), (16, 128), (384, 160))
        )
        program = _program(lib)
        model = program["Cell"](32, 128, IN_CPP[lib.__name__](lib) if in_cpp else program["LLTM"])
        with lib.no_grad():
            model.weights.copy_(weights)

        def run() -> Any:
            model.zero_grad()
            new_h, new_cell = model(x, (h, cell))
            (new_h.sum() + new_cell.sum()).backward()
            return model.weights.grad

        return run

    return make


in_cpp = timed("LLTM step, 16 x 32 with a state of 128, in C++")(_step(True))
in_python = timed("LLTM step, 16 x 32 with a state of 128, in Python")(_step(False))
