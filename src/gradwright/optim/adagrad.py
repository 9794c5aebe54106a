"""Adagrad, Adadelta, RMSprop, Rprop and Adafactor: a learning rate of its own for each entry, row or column."""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

from gradwright.base.dtypes import finfo
from gradwright.face.tensor import Tensor
from gradwright.optim.optimizer import check, check_kind
from gradwright.optim.rules import Fused, Ruled, average


class Adagrad(Fused):
    """Gradient descent with a learning rate that falls with the sum of squared gradients.

    s = s + g**2;  p = p - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps).

    Args:
        params, lr, weight_decay, foreach, fused, maximize, differentiable: see `Optimizer`.
        lr_decay: how quickly it falls with the steps.
        initial_accumulator_value: the first s.
        eps: keeps the quotient finite.

    State, from the start: step (t), sum (s).

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods, 2011.

    Raises ValueError for a negative setting.

    >>> p = gw.tensor([1.0], requires_grad=True)
    >>> optimizer = gw.optim.Adagrad([p], lr=0.1)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.9000])
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
                 initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
                 maximize: bool = False, differentiable: bool = False, fused: bool | None = None) -> None:  # fmt: skip
        check(lr=lr, lr_decay=lr_decay, weight_decay=weight_decay,
              initial_accumulator_value=initial_accumulator_value, eps=eps)  # fmt: skip
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused,
        })  # fmt: skip
        check_kind(fused, foreach, differentiable)
        for group in self.param_groups:
            self._begin(group["params"], *self._initial_state())

    def _initial_state(self, shape: Any = None, **_: Any) -> Any:
        return {"step": 0.0}, {"sum": self.defaults["initial_accumulator_value"]}

    def _numbers(self, xp: Any, *, step: Any, lr: Any, lr_decay: float, eps: float, **_: Any) -> Any:
        return {"step": step + 1}, {"scale": lr / (1 + step * lr_decay), "eps": eps}

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, sum: Any, *, scale: Any, eps: Any) -> dict[str, Any]:
        s = sum + g * g
        return {"p": p - scale * g / (xp.sqrt(s) + eps), "sum": s}


class Adadelta(Fused):
    """Gradient descent with steps as large, on average, as the last ones.

    s = rho s + (1 - rho) g**2;  d = sqrt(a + eps) / sqrt(s + eps) g;  a = rho a + (1 - rho) d**2;  p = p - lr d.

    Args:
        params, weight_decay, foreach, capturable, maximize, differentiable: see `Optimizer`.
        lr: a factor on the step; a number or a tensor of one element.
        rho: how much of the averages is kept, in [0, 1].
        eps: lets the first steps begin.

    State: step, square_avg (s), acc_delta (a).

    Source: Zeiler, ADADELTA: an adaptive learning rate method, 2012.

    Raises ValueError for a negative setting, or ``rho`` outside [0, 1].

    >>> p = gw.tensor([1.0], requires_grad=True)
    >>> optimizer = gw.optim.Adadelta([p], lr=100.0)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.6838])
    """

    _remembered = ("square_avg", "acc_delta")

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1.0, rho: float = 0.9, eps: float = 1e-6,
                 weight_decay: float = 0, foreach: bool | None = None, *, capturable: bool = False,
                 maximize: bool = False, differentiable: bool = False) -> None:  # fmt: skip
        check(lr=lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check(lr=lr, eps=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable,
        })  # fmt: skip

    def _numbers(self, xp: Any, *, step: Any, lr: Any, rho: float, eps: float, **_: Any) -> Any:
        return {"step": step + 1}, {"lr": lr, "rho": rho, "eps": eps}

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, square_avg: Any, acc_delta: Any, *, lr: Any, rho: Any, eps: Any
              ) -> dict[str, Any]:  # fmt: skip
        s = average(square_avg, g * g, rho)
        d = xp.sqrt(acc_delta + eps) / xp.sqrt(s + eps) * g
        return {"p": p - lr * d, "square_avg": s, "acc_delta": average(acc_delta, d * d, rho)}


class RMSprop(Fused):
    """Gradient descent with gradients divided by the root of their mean square.

    s = alpha s + (1 - alpha) g**2;  d = g / (sqrt(s) + eps);  p = p - lr d.

    Args:
        params, lr, weight_decay, capturable, foreach, maximize, differentiable: see `Optimizer`.
        alpha: how much of the averages is kept.
        eps: keeps the quotient finite.
        momentum: if not 0, step along b = momentum b + d instead of d.
        centered: divide by the standard deviation: take s - a**2 for s, where a is the average of g.

    State: step, square_avg (s), with momentum momentum_buffer (b), if centered grad_avg (a).

    Source: Hinton, lecture notes, 2012; centered: Graves, Generating sequences with recurrent neural networks, 2013.

    Raises ValueError for a negative setting.

    >>> p = gw.tensor([1.0], requires_grad=True)
    >>> optimizer = gw.optim.RMSprop([p], lr=0.01)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.9000])
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-2, alpha: float = 0.99, eps: float = 1e-8,
                 weight_decay: float = 0, momentum: float = 0, centered: bool = False, capturable: bool = False,
                 foreach: bool | None = None, maximize: bool = False, differentiable: bool = False
                 ) -> None:  # fmt: skip
        check(lr=lr, eps=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable,
        })  # fmt: skip

    def _initial_state(self, shape: Any = None, *, momentum: float, centered: bool, **_: Any) -> Any:
        names = ["square_avg", *["momentum_buffer"] * bool(momentum > 0), *["grad_avg"] * bool(centered)]
        return {"step": 0.0}, dict.fromkeys(names, 0.0)

    def _numbers(self, xp: Any, *, step: Any, lr: Any, alpha: float, eps: float, momentum: float, **_: Any) -> Any:
        return {"step": step + 1}, {"lr": lr, "alpha": alpha, "eps": eps, "momentum": momentum}

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, square_avg: Any, momentum_buffer: Any = None, grad_avg: Any = None, *, lr: Any,
              alpha: Any, eps: Any, momentum: Any) -> dict[str, Any]:  # fmt: skip
        s = average(square_avg, g * g, alpha)
        a = None if grad_avg is None else average(grad_avg, g, alpha)
        d = g / (xp.sqrt(s if a is None else s - a * a) + eps)
        b = d if momentum_buffer is None else momentum * momentum_buffer + d
        return {"p": p - lr * b, "square_avg": s, "momentum_buffer": b, "grad_avg": a}


class Rprop(Fused):
    """Resilient backpropagation: only the sign of the gradient counts; each entry's step grows until that changes.

    Where g has the sign of the last g: s = min(s eta+, largest); where it has the other: s = max(s eta-, smallest)
    and g = 0; then p = p - s sign(g).

    Args:
        params, capturable, foreach, maximize, differentiable: see `Optimizer`.
        lr: the first s; a number or a tensor of one element.
        etas: eta- in (0, 1) and eta+ above 1.
        step_sizes: the smallest and the largest s.

    State: step, prev (the last g), step_size (s).

    Source: Riedmiller and Braun, A direct adaptive method for faster backpropagation learning, 1993.

    Raises ValueError for a negative ``lr``, or ``etas`` outside these bounds.

    >>> p = gw.tensor([1.0], requires_grad=True)
    >>> optimizer = gw.optim.Rprop([p], lr=0.1)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.9000])
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
                 step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False,
                 foreach: bool | None = None, maximize: bool = False, differentiable: bool = False
                 ) -> None:  # fmt: skip
        check(lr=lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable,
        })  # fmt: skip

    def _initial_state(self, shape: Any = None, *, lr: float, **_: Any) -> Any:
        return {"step": 0.0}, {"prev": 0.0, "step_size": lr}

    def _numbers(self, xp: Any, *, step: Any, etas: Any, step_sizes: Any, **_: Any) -> Any:
        (shrink, grow), (least, most) = etas, step_sizes
        return {"step": step + 1}, {"shrink": shrink, "grow": grow, "least": least, "most": most}

    @staticmethod
    def _rule(xp: Any, p: Any, g: Any, prev: Any, step_size: Any, *, shrink: Any, grow: Any, least: Any, most: Any
              ) -> dict[str, Any]:  # fmt: skip
        turn = g * prev
        back = turn < 0
        s = xp.where(back, shrink * step_size, xp.where(turn > 0, grow * step_size, step_size))
        s, g = xp.minimum(xp.maximum(s, least), most), xp.where(back, 0.0, g)
        return {"p": p - s * xp.sign(g), "prev": g, "step_size": s}


class Adafactor(Ruled):
    """Adafactor: gradient descent relative to the parameter's size, with a factored estimate of squared gradients.

    With w = t**beta2_decay, r = (1 - w) r + w mean(g**2 over columns), c = (1 - w) c + w mean(g**2 over rows),
    v = r c / max(mean r, eps1); for vectors, v = (1 - w) v + w g**2;
    u = g / sqrt(max(v, eps1**2)), divided by max(1, rms(u) / d); p = p - max(eps2, rms(p)) min(lr, 1 / sqrt(t)) u.

    Args:
        foreach, maximize: see `Optimizer`.
        params: parameters or groups of them, see `Optimizer`; of the last two dims of each, rows and columns.
        lr: the largest relative step; a number or a tensor of one element.
        beta2_decay: the power with which w falls, at most 0.
        eps: eps1, by default the dtype's epsilon, and eps2.
        d: how large the root mean square of u may be, at least 1.
        weight_decay: p = p - lr weight_decay p first.

    State: step (t); row_var (r) and col_var (c), or variance (v).

    Source: Shazeer and Stern, Adafactor: adaptive learning rates with sublinear memory cost, 2018.

    Raises ValueError for settings outside these bounds, RuntimeError in `step` for complex parameters.

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

    def _initial_state(self, shape: Any = None, **_: Any) -> Any:
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
