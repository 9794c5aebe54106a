"""What optimisers written after PyTorch's take from its private part: small steps on numbers, tensors and lists."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase
from gradwright.engine.grad_mode import set_grad_enabled
from gradwright.face.functions.complex import view_as_real
from gradwright.optim.lbfgs import _cubic_minimum, _Point
from gradwright.optim.lbfgs import _strong_wolfe as _search

F = TypeVar("F", bound=Callable[..., Any])

_maximize_doc = _foreach_doc = _capturable_doc = _differentiable_doc = _fused_doc = _params_doc = ""
"""Pieces of PyTorch's docstrings, which are not here."""


def _use_grad_for_differentiable(step: F) -> F:
    """A method ``step`` that is recorded if its optimiser is ``differentiable``, and otherwise is not."""

    @functools.wraps(step)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        with set_grad_enabled(self.defaults["differentiable"]):
            return step(self, *args, **kwargs)

    return call  # type: ignore[return-value]


def _disable_dynamo_if_unsupported(single_tensor_fn: Any = None) -> Callable[[F], F]:
    """A decorator that leaves a function as it is."""
    return lambda function: function


def _get_value(x: Any) -> Any:
    """The number in a tensor of one element, or the number itself."""
    return x.item() if isinstance(x, TensorBase) else x


_to_scalar = _get_value


def _stack_if_compiling(x: Any) -> Any:
    """What is given."""
    return x


def _get_scalar_dtype(is_fused: bool | None = None) -> Any:
    """The dtype of counts of steps."""
    return dtypes.float64 if not is_fused and dtypes.default() is dtypes.float64 else dtypes.float32


def _default_to_fused_or_foreach(params: Sequence[Any], differentiable: bool, use_fused: bool = False
                                 ) -> tuple[bool, bool]:  # fmt: skip
    """Whether to update parameters by a fused function, or many at once, unless it is said: neither, on a CPU."""
    return False, False


def _view_as_real(params: list[Any], *state_and_grads: list[Any]) -> None:
    """Complex parameters in a list, and what belongs to them in the others, in place as pairs of real numbers."""
    for i, p in enumerate(params):
        if p.is_complex():
            params[i] = view_as_real(p)
            for others in state_and_grads:
                others[i] = view_as_real(others[i])


def _cubic_interpolate(x1: float, f1: Any, g1: Any, x2: float, f2: Any, g2: Any,
                       bounds: tuple[float, float] | None = None) -> Any:  # fmt: skip
    """Where the cubic through two points with these values and slopes has its minimum, between them or the bounds."""
    a, b = (_Point(float(x), float(f), None, float(g)) for x, f, g in ((x1, f1, g1), (x2, f2, g2)))
    return _cubic_minimum(a, b, *(sorted((a.t, b.t)) if bounds is None else map(float, bounds)))


def _strong_wolfe(obj_func: Callable[..., Any], x: Any, t: float, d: Any, f: Any, g: Any, gtd: Any, c1: float = 1e-4,
                  c2: float = 0.9, tolerance_change: float = 1e-9, max_ls: int = 25,
                  ) -> tuple[Any, Any, float, int]:  # fmt: skip
    """The line search of `LBFGS`, for ``obj_func(x, t, d)``, which gives loss and gradient at x + t d.

    From loss ``f``, gradient ``g`` and slope ``gtd`` at ``x``; ``t`` is the first step to try. Returns loss, gradient
    and step where the strong Wolfe conditions hold, and how many points were tried.
    """
    tried = 0

    def at(t: float) -> _Point:
        nonlocal tried
        tried += 1
        loss, slope = obj_func(x, t, d)
        return _Point(t, loss, slope.clone(), float(slope.dot(d)))

    found = _search(at, d, _Point(0.0, f, g, float(gtd)), float(t), max_ls, tolerance_change, c1, c2)
    return found.loss, found.g, found.t, tried
