"""Derivatives of plain functions, for programs that hold NumPy arrays."""

from __future__ import annotations

import functools
from collections.abc import Callable
from functools import partial
from typing import Any, ParamSpec

import numpy as np

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.calls import grad
from gradwright.engine.grad_mode import set_recording
from gradwright.engine.mode import inside, resumed
from gradwright.engine.strict import warn
from gradwright.transform.arguments import settled

P = ParamSpec("P")

def _differentiable(value: Any, what: str) -> Any:
    """The array in ``value``; TypeError unless there are derivatives by numbers of its dtype."""
    array = value.array if isinstance(value, TensorBase) else value
    if isinstance(array, np.generic) or not backends.is_array(array):
        array = np.asarray(array)
    try:
        known = dtypes.of(array.dtype).category >= dtypes.FLOAT
    except TypeError:
        known = False
    if not known:
        raise TypeError(f"{what} must be of a floating-point or complex dtype to differentiate by (float32, float64 "
                        f"and the like), but got {array.dtype}: convert it with .astype(float)")  # fmt: skip
    return array


def value_and_grad(f: Callable[P, Any], argnums: int | tuple[int, ...] = 0) -> Callable[P, tuple[Any, Any]]:
    """A function of arrays that returns the value of ``f`` and its gradient, as a float and arrays of their library.

    ``f`` takes Tensors and returns a Tensor with one element; ``argnums`` says which of its positional arguments to
    differentiate by: one index, or several, and then the gradients are a tuple. The gradient is of the shape and dtype
    of the argument, zeros where ``f`` does not depend on it, with
    a GradientWarning if it depends on none. Other arguments are handed on as they are.

    ``scipy.optimize.minimize(gradwright.value_and_grad(f), x0, jac=True)`` is all it takes to minimise ``f``.

    >>> import numpy as np
    >>> value_and_grad(lambda x: (x * x).sum())(np.array([1.0, 2.0]))
    (5.0, array([2., 4.]))

    Raises TypeError if an argument to differentiate by is not passed by position, or is not of a floating-point or
    complex dtype, or if ``f`` returns something else than a Tensor; RuntimeError if that has
    not exactly one element, or is complex.
    """
    which = (argnums,) if isinstance(argnums, int) else tuple(argnums)
    name = getattr(f, "__name__", repr(f))

    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        inputs = list(args)
        for i in which:
            if not -len(args) <= i < len(args):
                raise TypeError(f"value_and_grad: argument {i} of {name} must be passed by position")
            inputs[i] = wrap(_differentiable(args[i], f"value_and_grad: argument {i} of {name}"))
            inputs[i].requires_grad_()
        out = settled(inside(partial(set_recording, True), resumed, f, *inputs, **kwargs))
        if not isinstance(out, TensorBase):
            raise TypeError(f"value_and_grad: {name} must return a Tensor, but returned {kind(out)}: compute with "
                            "gradwright's functions, not on detached values")  # fmt: skip
        if out.array.size != 1 or dtypes.of(out.array.dtype).is_complex:
            raise RuntimeError(f"value_and_grad: {name} must return one real number, but returned a tensor of shape "
                               f"{tuple(out.array.shape)} and {dtypes.of(out.array.dtype)}")  # fmt: skip
        wanted = [inputs[i] for i in which]
        if out._node is None:
            warn(
                f"value_and_grad: what {name} returned does not depend on its arguments, or was detached from them on "
                "the way: its gradient is zeros"
            )
            slopes: Any = [backends.namespace(x.array).zeros_like(x.array) for x in wanted]
        else:
            grads = grad(out, wanted, allow_unused=True, materialize_grads=True)
            slopes = [backends.namespace(g.array).asarray(g.array) for g in grads]
        return backends.to_host(out.array).item(), slopes[0] if isinstance(argnums, int) else tuple(slopes)

    return call
