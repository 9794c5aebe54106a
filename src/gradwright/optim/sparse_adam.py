"""Adam that leaves rows alone to which no gradient has come."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gradwright.optim.optimizer import check
from gradwright.optim.rules import Ruled, average

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


class SparseAdam(Ruled):
    """`Adam` of the rows that a step has used, as of an embedding: the moments of others stay, and so do they.

    Gradients are dense here: a row, along the first dim, counts as used if its gradient has an entry that is not 0. In
    PyTorch, where gradients of embeddings can be sparse, one that was used and whose gradient is all 0 counts as used.

    Args:
        params: parameters or groups of them, see `Optimizer`.
        lr: the learning rate.
        betas: as of `Adam`.
        eps: as of `Adam`.
        maximize: ascend.

    State: step, exp_avg, exp_avg_sq.

    Raises ValueError for a negative setting, or a beta outside [0, 1).

    >>> import gradwright as gw
    >>> table = gw.ones(2, 1, requires_grad=True)
    >>> optimizer = gw.optim.SparseAdam([table], lr=0.1)
    >>> gw.nn.functional.embedding(gw.tensor([0]), table).sum().backward()
    >>> optimizer.step()
    >>> table.detach()
    tensor([[0.9000],
            [1.0000]])
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, maximize: bool = False) -> None:  # fmt: skip
        check(betas, lr=lr, eps=eps)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def _kept(self, shape: Any = None, **_: Any) -> Any:
        return {"step": 0.0}, {"exp_avg": 0.0, "exp_avg_sq": 0.0}

    def _numbers(self, xp: Any, *, step: Any, lr: Any, betas: Any, eps: float, **_: Any) -> Any:
        (beta1, beta2), t = betas, step + 1
        scale = lr * xp.sqrt(1 - xp.pow(beta2, t)) / (1 - xp.pow(beta1, t))
        return {"step": t}, {"beta1": beta1, "beta2": beta2, "scale": scale, "least": eps}

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, exp_avg: Any, exp_avg_sq: Any, *, beta1: Any, beta2: Any, scale: Any,
              least: Any) -> dict[str, Any]:  # fmt: skip
        axes = tuple(range(1, p.ndim))
        used = xp.any(g != 0, axis=axes, keepdims=True) if axes else g != 0
        m = xp.where(used, average(exp_avg, g, beta1), exp_avg)
        v = xp.where(used, average(exp_avg_sq, g * g, beta2), exp_avg_sq)
        return {"p": xp.where(used, p - scale * m / (xp.sqrt(v) + least), p), "exp_avg": m, "exp_avg_sq": v}
