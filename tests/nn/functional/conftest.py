"""Holding a function against PyTorch's, with all its gradients, in every combination of options."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import gradwright


@pytest.fixture
def agree(torch: ModuleType) -> Callable[..., None]:
    """``agree(f, *arrays)``: f(module, *tensors) gives the same values and gradients to second order in both libraries.

    Float arrays require grad. ``order=1`` is for what PyTorch cannot differentiate twice.
    """

    def check(f: Callable[..., Any], *arrays: Any, tolerance: float = 1e-9, order: int = 2) -> None:
        found = []
        for lib in (gradwright, torch):
            xs = [lib.tensor(a) if isinstance(a, np.ndarray) else a for a in arrays]
            wanted = [x.requires_grad_() for x in xs if getattr(x, "dtype", None) in (lib.float64, lib.float32)]
            y = f(lib, *xs)
            first = lib.autograd.grad((y * y).sum(), wanted, create_graph=True, allow_unused=True)
            square = sum((g * g).sum() for g in first if g is not None and g.requires_grad)
            twice = order == 2 and isinstance(square, lib.Tensor)
            second = lib.autograd.grad(square, wanted, allow_unused=True) if twice else ()
            zeros = [np.zeros(x.shape) for x in wanted]
            found.append([y.detach().numpy(), *_arrays(first, zeros), *_arrays(second or zeros, zeros)])
        for k, (mine, theirs) in enumerate(zip(*found, strict=True)):
            np.testing.assert_allclose(mine, theirs, tolerance, tolerance, err_msg=f"result {k}")

    return check


def _arrays(grads: Any, zeros: list[Any]) -> list[Any]:
    return [z if g is None else g if g is z else g.detach().numpy() for g, z in zip(grads, zeros, strict=True)]
