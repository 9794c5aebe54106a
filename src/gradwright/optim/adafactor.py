"""Adafactor: squared gradients are remembered as a row and a column for each matrix, not as a matrix."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from gradwright.base.dtypes import finfo
from gradwright.face.tensor import Tensor
from gradwright.optim.rules import Ruled, average


class Adafactor(Ruled):
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

    >>> import gradwright as gw
    >>> p = gw.tensor([1.0], requires_grad=True)
    >>> optimizer = gw.optim.Adafactor([p], lr=0.1)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.9000])
    """

    _decay, _takes_complex = "the rule's", False

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-2, beta2_decay: float = -0.8,
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

    def _kept(self, shape: Any = None, **_: Any) -> Any:
        return {"step": 0.0}, dict.fromkeys(["row_var", "col_var"] if len(shape) > 1 else ["variance"], 0.0)

    def _shape(self, name: str, shape: Any) -> Any:
        return {"row_var": (*shape[:-1], 1), "col_var": (*shape[:-2], 1, *shape[-1:])}.get(name, shape)

    def _numbers(self, xp: Any, *, step: Any, dtype: Any, lr: Any, beta2_decay: float, eps: Any, d: float,
                 weight_decay: float, **_: Any) -> Any:  # fmt: skip
        t, least = step + 1, finfo(dtype).eps if eps[0] is None else eps[0]
        return {"step": t}, {
            "new": xp.pow(t, beta2_decay), "size": xp.minimum(1 / xp.sqrt(t), lr), "least": least, "smallest": eps[1],
            "d": d, "stays": 1 - lr * weight_decay,
        }  # fmt: skip

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, row_var: Any = None, col_var: Any = None, variance: Any = None, *, new: Any,
              size: Any, least: Any, smallest: Any, d: Any, stays: Any) -> dict[str, Any]:  # fmt: skip
        def rms(x: Any) -> Any:
            return xp.sqrt(xp.sum(x * x) / max(1, prod(x.shape)))

        def moved(mean: Any, axis: int) -> Any:
            return average(mean, xp.mean(g * g, axis=axis, keepdims=True), 1 - new)

        if variance is None:
            r, c = moved(row_var, -1), moved(col_var, -2)
            v = r * c / xp.maximum(xp.mean(r, axis=-2, keepdims=True), least)
        else:
            r, c, v = None, None, average(variance, g * g, 1 - new)
        u = g / xp.sqrt(xp.maximum(v, least * least))
        over = rms(u) / d
        over = xp.where(over > 1, over, xp.ones_like(over))  # 1 where that is NaN, too
        step = size * xp.maximum(rms(p), smallest) / over
        return {"p": stays * p - step * u, "row_var": r, "col_var": c, "variance": v}
