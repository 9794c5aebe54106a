"""Adafactor: squared gradients are remembered as a row and a column for each matrix, not as a matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradwright import dtypes
from gradwright.creation import tensor, zeros_like
from gradwright.optim.blocks import number_dtype
from gradwright.optim.fused import average
from gradwright.optim.optimizer import Stepping, number
from gradwright.tensor import Tensor


class Adafactor(Stepping):
    """Adafactor: gradient descent relative to the parameter's size, with a factored estimate of squared gradients.

    With w = t**beta2_decay, r = (1 - w) r + w mean(g**2 over columns), c = (1 - w) c + w mean(g**2 over rows),
    v = r c / max(mean r, eps1); for vectors, v = (1 - w) v + w g**2;
    u = g / sqrt(max(v, eps1**2)), divided by max(1, rms(u) / d); p = p - max(eps2, rms(p)) min(lr, 1 / sqrt(t)) u.

    Args:
        params: parameters or groups of them, see `Optimizer`; of the last two dims of each, rows and columns.
        lr: the largest relative step; a number or a tensor of one element.
        beta2_decay: the power with which w falls, at most 0.
        eps: eps1, by default the dtype's epsilon, and eps2.
        d: how large the root mean square of u may be, at least 1.
        weight_decay: p = p - lr weight_decay p first.
        foreach: accepted, and without effect.
        maximize: ascend.

    State: step (t); row_var (r) and col_var (c), or variance (v).

    Source: Shazeer and Stern, Adafactor: adaptive learning rates with sublinear memory cost, 2018.

    Raises ValueError for settings outside these bounds, RuntimeError in `step` for complex parameters.
    """

    def __init__(self, params: Iterable[Any], lr: Any = 1e-2, beta2_decay: float = -0.8,
                 eps: tuple[float | None, float] = (None, 1e-3), d: float = 1.0, weight_decay: float = 0.0, *,
                 foreach: bool | None = None, maximize: bool = False) -> None:  # fmt: skip
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        for name, value, right in (
            ("Learning rate should be >= 0", lr, lr >= 0),
            ("beta2_decay should be <= 0", beta2_decay, beta2_decay <= 0),
            ("epsilon1 should be >= 0", eps[0], eps[0] is None or eps[0] >= 0),
            ("epsilon2 should be >= 0", eps[1], eps[1] >= 0),
            ("Clipping threshold d should be >= 1", d, d >= 1),
            ("weight_decay should be >= 0", weight_decay, weight_decay >= 0),
        ):  # fmt: skip
            if not right:
                raise ValueError(f"{name} but is: {value}")
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay,
            "foreach": foreach, "maximize": maximize,
        })  # fmt: skip

    def _advance(self, group: dict[str, Any]) -> None:
        lr, (eps1, eps2), decay = number(group["lr"]), group["eps"], group["weight_decay"]
        for p in group["params"]:
            if p.grad is None:
                continue
            if p.is_complex():
                raise RuntimeError("Adafactor does not support complex parameters")
            g = -p.grad if group["maximize"] else p.grad
            state = self.state[p]
            if not state:
                state["step"] = tensor(0.0, dtype=number_dtype())
                if g.dim() > 1:
                    state["row_var"], state["col_var"] = zeros_like(g[..., :1]), zeros_like(g[..., :1, :])
                else:
                    state["variance"] = zeros_like(g)
            state["step"] += 1
            t = float(state["step"])
            new = t ** group["beta2_decay"]
            smallest = dtypes.finfo(p.dtype).eps if eps1 is None else eps1
            size = max(eps2, _rms(p)) * min(lr, t**-0.5)
            if decay:
                p *= 1 - lr * decay
            if g.dim() > 1:
                rows, columns = state["row_var"], state["col_var"]
                average(rows, (g * g).mean(-1, keepdim=True), 1 - new)
                average(columns, (g * g).mean(-2, keepdim=True), 1 - new)
                v = rows * columns / rows.mean(-2, keepdim=True).clamp(min=smallest)
            else:
                v = state["variance"]
                average(v, g * g, 1 - new)
            u = g / v.clamp(min=smallest**2).sqrt()
            p -= size / max(1.0, _rms(u) / group["d"]) * u


def _rms(x: Any) -> float:
    """The root of the mean square of the entries; 0 if there are none."""
    return float(x.norm()) / max(1, x.numel()) ** 0.5
