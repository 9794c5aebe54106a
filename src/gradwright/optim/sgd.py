"""Stochastic gradient descent: plain, with momentum, averaged, and with momentum made orthogonal (Muon)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradwright.base.errors import size
from gradwright.face.tensor import Tensor
from gradwright.optim.optimizer import check, check_kind
from gradwright.optim.rules import Fused, Ruled, average


class SGD(Fused):
    """Gradient descent, with momentum if wanted.

    b = momentum b + (1 - dampening) g, at first b = g;  p = p - lr b.

    Args:
        params, lr, weight_decay, maximize, foreach, fused, differentiable: see `Optimizer`.
        momentum: how much of the last step's b is kept; with 0, b = g.
        dampening: what part of the gradient is left out of b.
        nesterov: step along g + momentum b instead of b.

    State: momentum_buffer (b), if there is momentum.

    Raises ValueError for negative settings, and for ``nesterov`` without momentum or with dampening.

    >>> w = gw.tensor([1.0], requires_grad=True)
    >>> w.grad = gw.tensor([2.0])
    >>> gw.optim.SGD([w], lr=0.25).step()
    >>> w
    tensor([0.5000], requires_grad=True)
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-3, momentum: float = 0, dampening: float = 0,
                 weight_decay: float | Tensor = 0, nesterov: bool = False, *, maximize: bool = False,
                 foreach: bool | None = None, differentiable: bool = False,
                 fused: bool | None = None) -> None:  # fmt: skip
        check(lr=lr, momentum=momentum, weight_decay=weight_decay)
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused,
        })  # fmt: skip
        check_kind(fused, foreach, differentiable)

    def _initial_state(self, shape: Any = None, *, momentum: float, dampening: float, **_: Any) -> Any:
        return {"_first": 1.0} if momentum and dampening else {}, {"momentum_buffer": 0.0} if momentum else {}

    def _numbers(self, xp: Any, *, lr: Any, momentum: float, dampening: float, nesterov: bool, _first: Any = None,
                 **_: Any) -> Any:  # fmt: skip
        taken = None if _first is None else 1 - dampening * (1 - _first)
        return {"_first": 0.0}, {"lr": lr, "momentum": momentum, "taken": taken, "nesterov": bool(nesterov)}

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, momentum_buffer: Any = None, *, lr: Any, momentum: Any, taken: Any,
              nesterov: bool) -> dict[str, Any]:  # fmt: skip
        if momentum_buffer is None:
            return {"p": p - lr * g}
        b = momentum * momentum_buffer + (g if taken is None else taken * g)
        return {"p": p - lr * (g + momentum * b if nesterov else b), "momentum_buffer": b}


class ASGD(Fused):
    """Averaged gradient descent: p moves, and ax is the average of where it has been.

    p = (1 - lambd eta) p - eta g;  ax = ax + mu (p - ax);
    then eta = lr / (1 + lambd lr t)**alpha, mu = 1 / max(1, t - t0).

    Args:
        params, weight_decay, maximize, foreach, capturable, differentiable: see `Optimizer`.
        lr: the first eta; a number or a tensor of one element.
        lambd: the rate at which p decays.
        alpha: the power with which eta falls.
        t0: the step after which ax is an average; until then it is p.

    State: step (t), eta, mu, ax.

    Source: Polyak and Juditsky, Acceleration of stochastic approximation by averaging, 1992.

    Raises ValueError for a negative ``lr`` or ``weight_decay``.

    >>> p = gw.tensor([1.0], requires_grad=True)
    >>> optimizer = gw.optim.ASGD([p], lr=0.1)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.8000])
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-2, lambd: float = 1e-4, alpha: float = 0.75,
                 t0: float = 1e6, weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:  # fmt: skip
        check(lr=lr, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })  # fmt: skip

    def _initial_state(self, shape: Any = None, *, lr: float, **_: Any) -> Any:
        return {"step": 0.0, "eta": lr, "mu": 1.0}, {"ax": 0.0}

    def _numbers(self, xp: Any, *, step: Any, eta: Any, mu: Any, lr: Any, lambd: float, alpha: float, t0: float,
                 **_: Any) -> Any:  # fmt: skip
        t = step + 1
        kept = {"step": t, "eta": lr / xp.pow(1 + lambd * lr * t, alpha), "mu": 1 / xp.maximum(t - t0, 1.0)}
        return kept, {"stays": 1 - lambd * eta, "eta": eta, "mu": mu}

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, ax: Any, *, stays: Any, eta: Any, mu: Any) -> dict[str, Any]:
        p = stays * p - eta * g
        return {"p": p, "ax": average(ax, p, 1 - mu)}


class Muon(Ruled):
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

    >>> p = gw.eye(2, requires_grad=True)
    >>> optimizer = gw.optim.Muon([p], lr=0.1, weight_decay=0.0)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.shape
    torch.Size([2, 2])
    """

    _decay, _takes_complex = "decoupled", False

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-3, weight_decay: float = 0.1,
                 momentum: float = 0.95, nesterov: bool = True,
                 ns_coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315), eps: float = 1e-7,
                 ns_steps: int = 5, adjust_lr_fn: str | None = None) -> None:  # fmt: skip
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

    def _initial_state(self, shape: Any = None, **_: Any) -> Any:
        return {}, {"momentum_buffer": 0.0}

    def _numbers(self, xp: Any, *, lr: Any, momentum: float, nesterov: bool, eps: float, ns_coefficients: Any,
                 ns_steps: int, adjust_lr_fn: str | None, **_: Any) -> Any:  # fmt: skip
        if ns_steps >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(ns_coefficients) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        return {}, {
            "lr": lr, "momentum": momentum, "nesterov": bool(nesterov), "eps": eps,
            "rounds": (tuple(ns_coefficients),) * ns_steps, "like_adamw": adjust_lr_fn == "match_rms_adamw",
        }  # fmt: skip

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, momentum_buffer: Any, *, lr: Any, momentum: Any, nesterov: bool, eps: Any,
              rounds: Any, like_adamw: bool) -> dict[str, Any]:  # fmt: skip
        b = average(momentum_buffer, g, momentum)
        u = _orthogonal(xp, average(b, g, momentum) if nesterov else b, rounds, eps)
        rows, columns = p.shape
        factor = 0.2 * max(rows, columns) ** 0.5 if like_adamw else max(1, rows / columns) ** 0.5
        return {"p": p - lr * factor * xp.astype(u, p.dtype), "momentum_buffer": b}


def _orthogonal(xp: Any, x: Any, rounds: tuple[tuple[float, float, float], ...], eps: Any) -> Any:
    """The orthogonal matrix next to ``x``, roughly: its singular values, once some way below 1, are all pushed to 1."""
    tall = x.shape[0] > x.shape[1]
    x = xp.astype(x.T if tall else x, xp.float32)
    x = x / xp.maximum(xp.sqrt(xp.sum(x * x)), eps)
    for a, b, c in rounds:
        y = x @ x.T
        x = a * x + (b * y + c * (y @ y)) @ x
    return x.T if tall else x
