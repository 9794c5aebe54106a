"""L-BFGS: a quasi-Newton method, which remembers the last steps in place of a matrix of second derivatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from gradwright.engine.grad_mode import enable_grad, no_grad
from gradwright.face.creation import zeros_like
from gradwright.face.functions.complex import view_as_real
from gradwright.face.functions.join import cat, split
from gradwright.face.tensor import Tensor
from gradwright.optim.optimizer import Optimizer, check, number, warn_if_idle

R = TypeVar("R")

class LBFGS(Optimizer):
    """Limited-memory BFGS, for deterministic functions: each step minimises along several directions.

    A direction d is -H g, where H estimates the inverse of the second derivatives from the last changes of the
    parameters and of their gradient. Without a line search, p = p + lr d.

    Args:
        params: the parameters, in one group.
        lr: how far along a direction to go, or to begin searching; a number or a tensor of one element.
        max_iter: how many directions a step may take.
        max_eval: how many evaluations of the closure; 5/4 of ``max_iter`` unless given.
        tolerance_grad: stop when no entry of the gradient is larger.
        tolerance_change: stop when neither the function nor a parameter changes by more.
        history_size: how many changes are remembered; each takes twice the parameters' memory.
        line_search_fn: "strong_wolfe" or None.

    `step` needs a closure that sets the gradients to zero, computes the loss, runs backward and returns the loss.

    State, with the first parameter: func_evals, n_iter, d, t, old_dirs, old_stps, ro, H_diag, prev_flat_grad,
    prev_loss.

    Source: Nocedal and Wright, Numerical Optimization, chapters 3 and 7.

    Raises ValueError for a negative ``lr``, or several groups; RuntimeError in `step` for another line search.

    >>> w = gw.tensor([3.0, -2.0], requires_grad=True)
    >>> optimizer = gw.optim.LBFGS([w], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = ((w - gw.tensor([1.0, 2.0])) ** 2 * gw.tensor([1.0, 10.0])).sum()
    ...     loss.backward()
    ...     return loss
    >>> optimizer.step(closure)
    tensor(164., grad_fn=<SumBackward0>)
    >>> gw.allclose(w, gw.tensor([1.0, 2.0]), atol=1e-4)
    True
    """

    def __init__(self, params: Iterable[Any], lr: float | Tensor = 1, max_iter: int = 20, max_eval: int | None = None,
                 tolerance_grad: float = 1e-7, tolerance_change: float = 1e-9, history_size: int = 100,
                 line_search_fn: str | None = None) -> None:  # fmt: skip
        check(lr=lr)
        super().__init__(params, {
            "lr": lr, "max_iter": max_iter, "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change, "history_size": history_size,
            "line_search_fn": line_search_fn,
        })  # fmt: skip
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")

    @no_grad()
    def step(self, closure: Callable[[], R]) -> R:
        """Minimise along up to ``max_iter`` directions; returns the loss that ``closure`` gave first."""
        (group,) = self.param_groups
        lr, search = number(group["lr"]), group["line_search_fn"]
        params = group["params"]
        state = self.state[params[0]]
        call = enable_grad()(closure)

        def evaluate() -> tuple[float, Any]:
            state["func_evals"] = state.get("func_evals", 0) + 1
            return float(number(call())), _flat_gradient(params)

        before = state.get("func_evals", 0)
        state.setdefault("n_iter", 0)
        state["func_evals"] = before + 1
        first_loss = call()
        warn_if_idle(self)
        loss, g = float(number(first_loss)), _flat_gradient(params)
        if _largest(g) <= group["tolerance_grad"]:
            return first_loss
        for n in range(1, group["max_iter"] + 1):
            state["n_iter"] += 1
            begins = state["n_iter"] == 1
            d = _direction(state, g, group["history_size"], begins)
            previous = state["prev_loss"] = loss
            state["prev_flat_grad"] = g
            t = state["t"] = (min(1.0, 1.0 / float(g.abs().sum())) if begins else 1.0) * lr
            slope = float(g.dot(d))
            if slope > -group["tolerance_change"]:
                break
            if search == "strong_wolfe":
                at = _Line(params, d, evaluate)
                left = group["max_eval"] - (state["func_evals"] - before)
                found = _strong_wolfe(at, d, _Point(0.0, loss, g, slope), t, left, group["tolerance_change"])
                t, loss, g = found.t, found.loss, found.g
                state["t"] = t
                _move(params, t, d)
            elif search is None:
                _move(params, t, d)
                if n < group["max_iter"]:
                    loss, g = evaluate()
            else:
                raise RuntimeError(f"only 'strong_wolfe' is supported, but got line_search_fn={search!r}")
            if (state["func_evals"] - before >= group["max_eval"] or _largest(g) <= group["tolerance_grad"]
                    or _largest(d) * t <= group["tolerance_change"]
                    or abs(loss - previous) < group["tolerance_change"]):  # fmt: skip
                break
        return first_loss


def _direction(state: dict[str, Any], g: Any, history_size: int, begins: bool) -> Any:
    """The next direction, -H g, after the last step has been added to what H is made of."""
    if begins:
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
        state["d"] = -g
        return state["d"]
    changes, steps, ro = state["old_dirs"], state["old_stps"], state["ro"]
    y, s = g - state["prev_flat_grad"], state["d"] * state["t"]
    curvature = float(y.dot(s))
    if curvature > 1e-10:
        if len(changes) == history_size:
            for memory in changes, steps, ro:
                memory.pop(0)
        changes.append(y)
        steps.append(s)
        ro.append(1.0 / curvature)
        state["H_diag"] = curvature / float(y.dot(y))
    d = -g
    parts = []
    for y, s, r in zip(reversed(changes), reversed(steps), reversed(ro), strict=True):
        parts.append(float(s.dot(d)) * float(r))
        d -= parts[-1] * y
    d *= float(state["H_diag"])
    for y, s, r in zip(changes, steps, ro, strict=True):
        d += (parts.pop() - float(y.dot(d)) * float(r)) * s
    state["d"] = d
    return d


class _Point(NamedTuple):
    """A point on a line: where, the loss there, its gradient, and its slope along the line."""

    t: float
    loss: float
    g: Any
    slope: float


class _Line:
    """The loss along a direction from where the parameters are, which stay there."""

    def __init__(self, params: list[Any], d: Any, evaluate: Callable[[], tuple[float, Any]]) -> None:
        self._params, self.d, self._evaluate = params, d, evaluate
        self._start = [p.clone() for p in params]

    def __call__(self, t: float) -> _Point:
        _move(self._params, t, self.d)
        loss, g = self._evaluate()
        for p, value in zip(self._params, self._start, strict=True):
            p.copy_(value)
        return _Point(t, loss, g, float(g.dot(self.d)))


def _strong_wolfe(at: Callable[[float], _Point], d: Any, start: _Point, t: float, max_evaluations: int,
                  tolerance: float, c1: float = 1e-4, c2: float = 0.9) -> _Point:  # fmt: skip
    """A point along ``d`` where the loss has fallen enough, and the slope is flat enough, for a quasi-Newton step.

    The interval from the start is stretched until it holds such a point, then cut down to it.
    """

    def too_high(point: _Point) -> bool:
        return point.loss > start.loss + c1 * point.t * start.slope

    def flat(point: _Point) -> bool:
        return abs(point.slope) <= -c2 * start.slope

    before, now, n = start, at(t), 0
    while n < max_evaluations:
        if too_high(now) or (n > 1 and now.loss >= before.loss):
            break
        if flat(now):
            return now
        if now.slope >= 0:
            break
        t = _cubic_minimum(before, now, now.t + 0.01 * (now.t - before.t), now.t * 10)
        before, now, n = now, at(t), n + 1
    else:
        before = start
    low, high = (before, now) if before.loss <= now.loss else (now, before)
    width = _largest(d)
    stuck = False
    while n < max_evaluations and abs(high.t - low.t) * width >= tolerance:
        left, right = sorted((low.t, high.t))
        t = _cubic_minimum(low, high, left, right)
        margin = 0.1 * (right - left)
        near = min(right - t, t - left) < margin
        if near and (stuck or not left < t < right):  # no progress at an end: move off it
            t = right - margin if right - t < t - left else left + margin
            near = False
        stuck = near
        now, n = at(t), n + 1
        if too_high(now) or now.loss >= low.loss:
            low, high = (now, low) if now.loss < low.loss else (low, now)
        else:
            if flat(now):
                return now
            low, high = now, low if now.slope * (high.t - low.t) >= 0 else high
    return low


def _cubic_minimum(a: _Point, b: _Point, least: float, most: float) -> float:
    """Where the cubic through two points with these slopes has its minimum, within bounds; their middle if nowhere."""
    if a.t > b.t:
        a, b = b, a
    bend = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = bend * bend - a.slope * b.slope
    if not square >= 0:
        return (least + most) / 2
    above, below = b.slope + square**0.5 - bend, b.slope - a.slope + 2 * square**0.5
    if below == 0:
        return least if above > 0 else most
    return min(max(b.t - (b.t - a.t) * above / below, least), most)


def _reals(tensors: Iterable[Any]) -> Iterator[Any]:
    return (view_as_real(t) if t.is_complex() else t for t in tensors)


def _flat_gradient(params: list[Any]) -> Any:
    grads = (zeros_like(p) if p.grad is None else p.grad for p in params)
    return cat([g.reshape(-1) for g in _reals(grads)])


def _move(params: list[Any], t: float, d: Any) -> None:
    """Move the parameters by t d."""
    sizes = [p.numel() for p in _reals(params)]
    for p, part in zip(_reals(params), split(d, sizes), strict=True):
        p += t * part.reshape(p.shape)


def _largest(x: Any) -> float:
    return float(x.abs().max())
