"""Adagrad, Adadelta, RMSprop and Rprop: each entry of a parameter has a learning rate of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from gradwright.optim.fused import Fused
from gradwright.optim.optimizer import check, check_kind
from gradwright.optim.rules import average

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


class Adagrad(Fused):
    """Gradient descent with a learning rate that falls with the sum of squared gradients.

    s = s + g**2;  p = p - lr / (1 + (t - 1) lr_decay) g / (sqrt(s) + eps).

    Args:
        params: parameters or groups of them, see `Optimizer`.
        lr: the learning rate; a number or a tensor of one element.
        lr_decay: how quickly it falls with the steps.
        weight_decay: how much of p is added to g.
        initial_accumulator_value: the first s.
        eps: keeps the quotient finite.
        foreach, fused: accepted, and without effect: updates always are fused.
        maximize: ascend.
        differentiable: record the step, so that gradients flow through it.

    State, from the start: step (t), sum (s).

    Source: Duchi, Hazan and Singer, Adaptive subgradient methods, 2011.

    Raises ValueError for a negative setting.

    >>> import gradwright as gw
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
            self._begin(group["params"], *self._kept())

    def _kept(self, shape: Any = None, **_: Any) -> Any:
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
        params: parameters or groups of them, see `Optimizer`.
        lr: a factor on the step; a number or a tensor of one element.
        rho: how much of the averages is kept, in [0, 1].
        eps: lets the first steps begin.
        weight_decay: how much of p is added to g.
        foreach, capturable: accepted, and without effect.
        maximize: ascend.
        differentiable: record the step, so that gradients flow through it.

    State: step, square_avg (s), acc_delta (a).

    Source: Zeiler, ADADELTA: an adaptive learning rate method, 2012.

    Raises ValueError for a negative setting, or ``rho`` outside [0, 1].

    >>> import gradwright as gw
    >>> p = gw.tensor([1.0], requires_grad=True)
    >>> optimizer = gw.optim.Adadelta([p], lr=100.0)
    >>> (p * p).sum().backward()
    >>> optimizer.step()
    >>> p.detach()
    tensor([0.6838])
    """

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

    def _kept(self, shape: Any = None, **_: Any) -> Any:
        return {"step": 0.0}, {"square_avg": 0.0, "acc_delta": 0.0}

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
        params: parameters or groups of them, see `Optimizer`.
        lr: the learning rate; a number or a tensor of one element.
        alpha: how much of the averages is kept.
        eps: keeps the quotient finite.
        weight_decay: how much of p is added to g.
        momentum: if not 0, step along b = momentum b + d instead of d.
        centered: divide by the standard deviation: take s - a**2 for s, where a is the average of g.
        capturable, foreach: accepted, and without effect.
        maximize: ascend.
        differentiable: record the step, so that gradients flow through it.

    State: step, square_avg (s), with momentum momentum_buffer (b), if centered grad_avg (a).

    Source: Hinton, lecture notes, 2012; centered: Graves, Generating sequences with recurrent neural networks, 2013.

    Raises ValueError for a negative setting.

    >>> import gradwright as gw
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

    def _kept(self, shape: Any = None, *, momentum: float, centered: bool, **_: Any) -> Any:
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
        params: parameters or groups of them, see `Optimizer`.
        lr: the first s; a number or a tensor of one element.
        etas: eta- in (0, 1) and eta+ above 1.
        step_sizes: the smallest and the largest s.
        capturable, foreach: accepted, and without effect.
        maximize: ascend.
        differentiable: record the step, so that gradients flow through it.

    State: step, prev (the last g), step_size (s).

    Source: Riedmiller and Braun, A direct adaptive method for faster backpropagation learning, 1993.

    Raises ValueError for a negative ``lr``, or ``etas`` outside these bounds.

    >>> import gradwright as gw
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

    def _kept(self, shape: Any = None, *, lr: float, **_: Any) -> Any:
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
