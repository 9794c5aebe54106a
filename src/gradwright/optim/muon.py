"""Muon: momentum for matrices, made orthogonal."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from gradwright import dtypes
from gradwright.creation import zeros_like
from gradwright.errors import size
from gradwright.optim.fused import average
from gradwright.optim.optimizer import Stepping, number
from gradwright.tensor import Tensor


class Muon(Stepping):
    """Muon: gradient descent with momentum, whose steps are replaced by nearly orthogonal matrices.

    b = momentum b + (1 - momentum) g;  u = orthogonal(momentum b + (1 - momentum) g) or orthogonal(b);
    p = (1 - lr weight_decay) p - lr f u.

    Args:
        params: matrices, or groups of them; see `Optimizer`.
        lr: the learning rate; a number or a tensor of one element.
        weight_decay: p decays by lr weight_decay p.
        momentum: how much of b is kept.
        nesterov: take the gradient into account once more before u is made; else u is made of b.
        ns_coefficients: a, b, c of the Newton-Schulz iteration x = a x + (b y + c y**2) x, y = x x'.
        eps: the smallest norm that u is divided by first.
        ns_steps: how often that is done, less than 100.
        adjust_lr_fn: what f is: sqrt(max(1, rows / columns)) for "original" and None, 0.2 sqrt(max(rows, columns)) for
            "match_rms_adamw".

    State: momentum_buffer (b). The iteration runs in float32.

    Source: Jordan et al., Muon: an optimizer for hidden layers in neural networks, 2024.

    Raises ValueError for negative settings, or a parameter that is no matrix; RuntimeError in `step` for complex ones.
    """

    def __init__(self, params: Iterable[Any], lr: Any = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95,
                 nesterov: bool = True, ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
                 eps: float = 1e-7, ns_steps: int = 5, adjust_lr_fn: str | None = None) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value in (("Learning rate", lr), ("momentum", momentum), ("weight decay", weight_decay)):
            if not value >= 0:
                raise ValueError(f"{name} should be >= 0 but is: {value}")
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn,
        })  # fmt: skip
        for group in self.param_groups:
            for p in group["params"]:
                if p.dim() != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {size(p.shape)}"
                    )

    def _advance(self, group: dict[str, Any]) -> None:
        lr, momentum = number(group["lr"]), group["momentum"]
        for p in group["params"]:
            if p.grad is None:
                continue
            if p.is_complex():
                raise RuntimeError("Muon does not support complex parameters")
            state = self.state[p]
            if "momentum_buffer" not in state:
                state["momentum_buffer"] = zeros_like(p.grad)
            b = state["momentum_buffer"]
            average(b, p.grad, momentum)
            u = momentum * b + (1 - momentum) * p.grad if group["nesterov"] else b
            u = _orthogonal(u, group["ns_coefficients"], group["ns_steps"], group["eps"])
            rows, columns = p.shape
            factor = math.sqrt(max(1, rows / columns))
            if group["adjust_lr_fn"] == "match_rms_adamw":
                factor = 0.2 * math.sqrt(max(rows, columns))
            p *= 1 - lr * group["weight_decay"]
            p -= lr * factor * u.to(p.dtype)


def _orthogonal(x: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """The orthogonal matrix next to ``x``, roughly: its singular values, once some way below 1, are all pushed to 1."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    a, b, c = coefficients
    tall = x.shape[0] > x.shape[1]
    x = (x.t() if tall else x).to(dtypes.float32)
    x = x / x.norm().clamp(min=eps)
    for _ in range(steps):
        y = x @ x.t()
        x = a * x + (b * y + c * (y @ y)) @ x
    return x.t() if tall else x
