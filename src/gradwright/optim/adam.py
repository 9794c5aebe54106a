"""Adam and its relatives: steps of a size that the gradients' own averages give."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gradwright.face.tensor import Tensor
from gradwright.optim.optimizer import check, check_kind
from gradwright.optim.rules import Fused, Ruled, average


class Adam(Fused):
    """Adam: gradient descent along the mean of past gradients, divided by the root of the mean of their squares.

    m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g**2;
    p = p - lr m' / (sqrt(v') + eps), where m' = m / (1 - beta1**t), v' = v / (1 - beta2**t).

    Args:
        params, lr, weight_decay, foreach, capturable, fused, maximize, differentiable: see `Optimizer`.
        betas: beta1 and beta2, in [0, 1); two floats or two tensors of one element.
        eps: keeps the quotient finite.
        amsgrad: use the largest v so far for v.
        decoupled_weight_decay: let p decay by lr weight_decay p instead, as in `AdamW`.

    State: step (t), exp_avg (m), exp_avg_sq (v), and with amsgrad max_exp_avg_sq.

    Source: Kingma and Ba, Adam: a method for stochastic optimization, 2014.

    Raises ValueError for a negative setting, or a beta outside [0, 1).

    >>> w = gw.tensor([1.0, 2.0], requires_grad=True)
    >>> w.grad = gw.tensor([100.0, 0.01])
    >>> gw.optim.Adam([w], lr=0.5).step()
    >>> w
    tensor([0.5000, 1.5000], requires_grad=True)
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-3,
                 betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float | Tensor = 0, amsgrad: bool = False, *, foreach: bool | None = None,
                 maximize: bool = False, capturable: bool = False, differentiable: bool = False,
                 fused: bool | None = None, decoupled_weight_decay: bool = False) -> None:  # fmt: skip
        tensors = {"lr": lr, "betas[0]": betas[0], "betas[1]": betas[1]}
        for name, value in tensors.items():
            if isinstance(value, Tensor):
                if foreach and not capturable:
                    raise ValueError(f"{name} as a Tensor is not supported for capturable=False and foreach=True")
                if value.numel() != 1:
                    raise ValueError(f"Tensor {name} must be 1-element")
        check(betas, lr=lr, eps=eps, weight_decay=weight_decay)
        if not any(all(isinstance(beta, cls) for beta in betas) for cls in (float, Tensor)):
            raise ValueError("betas must be either both floats or both Tensors")
        super().__init__(params, {
            "lr": lr, "betas": tuple(b.squeeze() if isinstance(b, Tensor) else b for b in betas), "eps": eps,
            "weight_decay": weight_decay, "amsgrad": amsgrad, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable, "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        })  # fmt: skip
        check_kind(fused, foreach, differentiable)

    def _initial_state(self, shape: Any = None, *, amsgrad: bool, **_: Any) -> Any:
        return {"step": 0.0}, {"exp_avg": 0.0, "exp_avg_sq": 0.0, **({"max_exp_avg_sq": 0.0} if amsgrad else {})}

    def _numbers(self, xp: Any, *, step: Any, lr: Any, betas: Any, eps: float, **_: Any) -> Any:
        (beta1, beta2), t = betas, step + 1
        root = xp.sqrt(1 - xp.pow(beta2, t))  # drawn out of both sides of the quotient
        scale = lr * root / (1 - xp.pow(beta1, t))
        return {"step": t}, {"beta1": beta1, "beta2": beta2, "scale": scale, "least": root * eps}

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, exp_avg: Any, exp_avg_sq: Any, max_exp_avg_sq: Any = None, *, beta1: Any,
              beta2: Any, scale: Any, least: Any) -> dict[str, Any]:  # fmt: skip
        m, v = average(exp_avg, g, beta1), average(exp_avg_sq, g * g, beta2)
        top = v if max_exp_avg_sq is None else xp.maximum(max_exp_avg_sq, v)
        return {"p": p - scale * m / (xp.sqrt(top) + least), "exp_avg": m, "exp_avg_sq": v, "max_exp_avg_sq": top}


class AdamW(Adam):
    """Adam with decoupled weight decay: first p = p - lr weight_decay p, then the step of `Adam`.

    Arguments, state and errors are those of `Adam`; ``weight_decay`` is 0.01 unless given.

    Source: Loshchilov and Hutter, Decoupled weight decay regularization, 2017.

    >>> p = gw.tensor([1.0], requires_grad=True)
    >>> optimizer = gw.optim.AdamW([p], lr=0.1, weight_decay=0.5)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.8500])
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-3,
                 betas: tuple[float | Tensor, float | Tensor] = (0.9, 0.999), eps: float = 1e-8,
                 weight_decay: float | Tensor = 1e-2, amsgrad: bool = False, *, maximize: bool = False,
                 foreach: bool | None = None, capturable: bool = False, differentiable: bool = False,
                 fused: bool | None = None) -> None:  # fmt: skip
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, foreach=foreach, maximize=maximize,
                         capturable=capturable, differentiable=differentiable, fused=fused,
                         decoupled_weight_decay=True)  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for group in self.param_groups:
            group["decoupled_weight_decay"] = True


class NAdam(Fused):
    """Adam with Nesterov momentum.

    m and v as in `Adam`, mu_t = beta1 (1 - 0.96**(t momentum_decay) / 2), c_t = mu_1 ... mu_t;
    p = p - lr (mu_(t+1) m / (1 - c_(t+1)) + (1 - mu_t) g / (1 - c_t)) / (sqrt(v') + eps).

    Args:
        params, lr, weight_decay, maximize, foreach, capturable, differentiable: see `Optimizer`.
        betas: beta1 and beta2, in [0, 1).
        eps: keeps the quotient finite.
        momentum_decay: how quickly mu grows to beta1.
        decoupled_weight_decay: let p decay by lr weight_decay p instead, as in `AdamW`.

    State: step (t), mu_product (c), exp_avg (m), exp_avg_sq (v).

    Source: Dozat, Incorporating Nesterov momentum into Adam, 2016.

    Raises ValueError for a negative setting, or a beta outside [0, 1).

    >>> p = gw.tensor([1.0], requires_grad=True)
    >>> optimizer = gw.optim.NAdam([p], lr=0.1)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.8944])
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0, momentum_decay: float = 4e-3,
                 decoupled_weight_decay: bool = False, *, foreach: bool | None = None, maximize: bool = False,
                 capturable: bool = False, differentiable: bool = False) -> None:  # fmt: skip
        check(betas, lr=lr, eps=eps, weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable,
        })  # fmt: skip

    def _initial_state(self, shape: Any = None, **_: Any) -> Any:
        return {"step": 0.0, "mu_product": 1.0}, {"exp_avg": 0.0, "exp_avg_sq": 0.0}

    def _numbers(self, xp: Any, *, step: Any, mu_product: Any, lr: Any, betas: Any, eps: float, momentum_decay: float,
                 **_: Any) -> Any:  # fmt: skip
        (beta1, beta2), t = betas, step + 1
        mu, ahead = (beta1 * (1 - 0.5 * xp.pow(0.96, k * momentum_decay)) for k in (t, t + 1))
        product = mu_product * mu
        return {"step": t, "mu_product": product}, {
            "beta1": beta1, "beta2": beta2, "eps": eps, "seen": 1 - xp.pow(beta2, t),
            "along": lr * ahead / (1 - product * ahead), "now_on": lr * (1 - mu) / (1 - product),
        }  # fmt: skip

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, exp_avg: Any, exp_avg_sq: Any, *, beta1: Any, beta2: Any, eps: Any, seen: Any,
              along: Any, now_on: Any) -> dict[str, Any]:  # fmt: skip
        m, v = average(exp_avg, g, beta1), average(exp_avg_sq, g * g, beta2)
        return {"p": p - (along * m + now_on * g) / (xp.sqrt(v / seen) + eps), "exp_avg": m, "exp_avg_sq": v}


class RAdam(Fused):
    """Rectified Adam: plain momentum while v is known too badly, then `Adam` with a factor that makes up for that.

    m, m' and v as in `Adam`; r = 2 / (1 - beta2) - 1, rho = r - 2 t beta2**t / (1 - beta2**t);
    p = p - lr m' l, where l = sqrt((rho - 4)(rho - 2) r / ((r - 4)(r - 2) rho)) sqrt(1 - beta2**t) / (sqrt(v) + eps)
    if rho > 5, else 1.

    Args:
        params, lr, weight_decay, maximize, foreach, capturable, differentiable: see `Optimizer`.
        betas: beta1 and beta2, in [0, 1).
        eps: keeps the quotient finite.
        decoupled_weight_decay: let p decay by lr weight_decay p instead, as in `AdamW`.

    State: step (t), exp_avg (m), exp_avg_sq (v).

    Source: Liu et al., On the variance of the adaptive learning rate and beyond, 2019.

    Raises ValueError for a negative setting, or a beta outside [0, 1).

    >>> p = gw.tensor([1.0], requires_grad=True)
    >>> optimizer = gw.optim.RAdam([p], lr=0.1)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.8000])
    """

    _remembered = ("exp_avg", "exp_avg_sq")

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0, decoupled_weight_decay: bool = False, *,
                 foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
                 differentiable: bool = False) -> None:  # fmt: skip
        check(betas, lr=lr, eps=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable,
        })  # fmt: skip

    def _numbers(self, xp: Any, *, step: Any, lr: Any, betas: Any, eps: float, **_: Any) -> Any:
        (beta1, beta2), t = betas, step + 1
        longest = 2 / (1 - beta2) - 1
        faded = xp.pow(beta2, t)
        length = longest - 2 * t * faded / (1 - faded)
        enough = xp.maximum(length, 5.0)
        known = (enough - 4) * (enough - 2) * longest / ((longest - 4) * (longest - 2) * enough)
        root = xp.sqrt(known * (1 - faded))
        scale = lr / (1 - xp.pow(beta1, t))
        return {"step": t}, {"beta1": beta1, "beta2": beta2, "eps": eps, "scale": scale, "root": root,
                             "length": length}  # fmt: skip

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, exp_avg: Any, exp_avg_sq: Any, *, beta1: Any, beta2: Any, eps: Any, scale: Any,
              root: Any, length: Any) -> dict[str, Any]:  # fmt: skip
        m, v = average(exp_avg, g, beta1), average(exp_avg_sq, g * g, beta2)
        factor = xp.where(length > 5, root / (xp.sqrt(v) + eps), 1.0)
        return {"p": p - scale * m * factor, "exp_avg": m, "exp_avg_sq": v}


class Adamax(Fused):
    """Adam with the maximum norm: the largest gradient, which fades, in place of the mean square.

    m = beta1 m + (1 - beta1) g;  u = max(beta2 u, abs(g) + eps);  p = p - lr / (1 - beta1**t) m / u.

    Args:
        params, lr, weight_decay, maximize, foreach, capturable, differentiable: see `Optimizer`.
        betas: beta1 and beta2, in [0, 1).
        eps: keeps the quotient finite.

    State: step (t), exp_avg (m), exp_inf (u).

    Source: Kingma and Ba, Adam: a method for stochastic optimization, 2014.

    Raises ValueError for a negative setting, or a beta outside [0, 1).

    >>> p = gw.tensor([1.0], requires_grad=True)
    >>> optimizer = gw.optim.Adamax([p], lr=0.1)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.9000])
    """

    _remembered = ("exp_avg", "exp_inf")

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 2e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False,
                 differentiable: bool = False, capturable: bool = False) -> None:  # fmt: skip
        check(betas, lr=lr, eps=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable,
        })  # fmt: skip

    def _numbers(self, xp: Any, *, step: Any, lr: Any, betas: Any, eps: float, **_: Any) -> Any:
        (beta1, beta2), t = betas, step + 1
        return {"step": t}, {"beta1": beta1, "beta2": beta2, "eps": eps, "scale": lr / (1 - xp.pow(beta1, t))}

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, exp_avg: Any, exp_inf: Any, *, beta1: Any, beta2: Any, eps: Any, scale: Any
              ) -> dict[str, Any]:  # fmt: skip
        m, u = average(exp_avg, g, beta1), xp.maximum(beta2 * exp_inf, xp.abs(g) + eps)
        return {"p": p - scale * m / u, "exp_avg": m, "exp_inf": u}


class SparseAdam(Ruled):
    """`Adam` of the rows that a step has used, as of an embedding: the moments of others stay, and so do they.

    Gradients are dense here: a row, along the first dim, counts as used if its gradient has an entry that is not 0. In
    PyTorch, where gradients of embeddings can be sparse, one that was used and whose gradient is all 0 counts as used.

    Args:
        params, lr, maximize: see `Optimizer`.
        betas: as of `Adam`.
        eps: as of `Adam`.

    State: step, exp_avg, exp_avg_sq.

    Raises ValueError for a negative setting, or a beta outside [0, 1).

    >>> table = gw.ones(2, 1, requires_grad=True)
    >>> optimizer = gw.optim.SparseAdam([table], lr=0.1)
    >>> gw.nn.functional.embedding(gw.tensor([0]), table).sum().backward()
    >>> optimizer.step()
    >>> table.detach()
    tensor([[0.9000],
            [1.0000]])
    """

    _remembered = ("exp_avg", "exp_avg_sq")

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
                 eps: float = 1e-8, maximize: bool = False) -> None:  # fmt: skip
        check(betas, lr=lr, eps=eps)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

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
