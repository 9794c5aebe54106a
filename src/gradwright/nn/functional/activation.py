"""Activations. ``inplace`` overwrites the input: a RuntimeError if that is a leaf that requires grad."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from gradwright import dtypes
from gradwright.engine.apply import apply, apply_one
from gradwright.face import elementwise, reduce
from gradwright.face.activation import floating_arg, hardshrink, prelu
from gradwright.face.algebra.linalg import linear
from gradwright.face.elementwise import abs as absolute
from gradwright.face.elementwise import sigmoid, softplus, tanh, where
from gradwright.face.forms import aside, store
from gradwright.face.forms import inplace as in_place
from gradwright.face.join import split
from gradwright.nn.functional.sparse import one_hot
from gradwright.ops import activation as _ops
from gradwright.ops import arithmetic as _arithmetic
from gradwright.ops import special as _special
from gradwright.random import rand_like
from gradwright.reading.torch import one_dim, tensor_arg

if TYPE_CHECKING:
    from gradwright._typing import DType, Tensor

__all__ = [
    "celu", "celu_", "elu", "elu_", "gelu", "glu", "gumbel_softmax", "hardshrink", "hardsigmoid", "hardswish",
    "hardtanh", "hardtanh_", "leaky_relu", "leaky_relu_", "linear", "log_softmax", "logsigmoid", "mish", "prelu",
    "relu", "relu6", "relu_", "rrelu", "rrelu_", "selu", "selu_", "sigmoid", "silu", "softmax", "softmin", "softplus",
    "softshrink", "softsign", "tanh", "tanhshrink", "threshold", "threshold_",
]  # fmt: skip

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _applied(op: Any, x: Any, inplace: bool, static: dict[str, Any]) -> Any:
    return store(x, apply_one(op, aside(x), static)) if inplace else apply_one(op, x, static)


def _run(op: Any, name: str, input: Any, inplace: bool = False, **static: Any) -> Any:
    return _applied(op, floating_arg(name, input), inplace, static)


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """max(x, 0), entry by entry; derivative 1 where x > 0, else 0, at the kink too.

    >>> import gradwright as gw
    >>> relu(gw.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    x = tensor_arg("relu", input)
    return x.relu_() if inplace else elementwise.relu(x)


def _elu(name: str, input: Any, inplace: bool, alpha: float, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    return _run(_ops.elu, name, input, inplace, alpha=alpha, scale=scale, input_scale=input_scale)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, alpha (e**x - 1) below."""
    return _elu("elu", input, inplace, alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, alpha (e**(x/alpha) - 1) below: `elu` without its kink."""
    if alpha == 0:
        raise RuntimeError("celu(): ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu("celu", input, inplace, alpha, 1.0, 1.0 / alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """`elu` scaled so that mean 0 and variance 1 persist from layer to layer."""
    return _elu("selu", input, inplace, _SELU_ALPHA, _SELU_SCALE)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x above 0, negative_slope x elsewhere."""
    return _run(_ops.leaky_relu, "leaky_relu", input, inplace, slope=negative_slope)


def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """x above 0; elsewhere r x, in training with r drawn from [lower, upper) for each entry, else with its mean."""
    if lower > upper:
        raise RuntimeError(f"Lower bound should be less than or equal to the upper bound, but got {lower} and {upper}")
    x = floating_arg("rrelu", input)
    if not training:
        return leaky_relu(x, (lower + upper) / 2, inplace)
    factor = where(x.detach() > 0, 1.0, lower + (upper - lower) * rand_like(x))
    return store(input, x * factor) if inplace else x * factor


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x kept between two numbers; slope 0 at the bounds."""
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val, but got {min_val} and {max_val}")
    return _clipped("hardtanh", input, min_val, max_val, inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x kept between 0 and 6; slope 0 at both."""
    return _clipped("relu6", input, 0.0, 6.0, inplace)


def _clipped(name: str, input: Any, low: float, high: float, inplace: bool) -> Any:
    x = tensor_arg(name, input)
    kind = dtypes.kind(x.array.dtype)
    if kind in "bc":
        raise NotImplementedError(f"{name}(): not implemented for {x.dtype}")
    if kind == "u" and low < 0:
        raise RuntimeError(f"{name}(): cannot do hardtanh on an unsigned type with negative limits")
    bounds = (int(low), int(high)) if kind in "iu" else (low, high)
    return _applied(_ops.hardtanh, x, inplace, dict(zip(("min", "max"), bounds, strict=True)))


def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """x above the threshold, else ``value``."""
    x = tensor_arg("threshold", input)
    kind = dtypes.kind(x.array.dtype)
    if kind in "bc":
        raise NotImplementedError(f"threshold(): not implemented for {x.dtype}")
    static = {"threshold": threshold, "value": int(value) if kind in "iu" else value}
    return _applied(_ops.threshold, x, inplace, static)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """x/6 + 1/2 kept between 0 and 1."""
    return _run(_ops.hardsigmoid, "hardsigmoid", input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x `hardsigmoid` (x)."""
    return _run(_ops.hardswish, "hardswish", input, inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x `sigmoid` (x)."""
    if tensor_arg("silu", input).is_complex():
        return _applied(_ops.silu, input, inplace, {})
    return _run(_ops.silu, "silu", input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x tanh(log(1 + e**x))."""
    return _run(_ops.mish, "mish", input, inplace)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x Phi(x), with the normal distribution function Phi; ``approximate="tanh"`` is a nearly equal formula."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"gelu(): approximate argument must be either none or tanh, but got {approximate!r}")
    if approximate == "tanh":
        return _run(_ops.gelu_tanh, "gelu", input)
    x = floating_arg("gelu", input)
    return apply(_scaled, (x, apply_one(_special.ndtr, x, {})), {})


_scaled = _arithmetic.multiply.variant("GeluBackward0")


def logsigmoid(input: Tensor) -> Tensor:
    """log `sigmoid` (x), without overflow."""
    return _run(_ops.log_sigmoid, "logsigmoid", input)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by lambd, and to 0 if it is nearer."""
    x = floating_arg("softshrink", input)
    if lambd < 0:
        raise RuntimeError(f"softshrink(): lambda must be in range [0, inf) for input dtype {x.dtype}, found {lambd}")
    return apply_one(_ops.softshrink, x, {"lambd": lambd})


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh x."""
    return tensor_arg("tanhshrink", input) - tanh(input)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + abs x)."""
    return tensor_arg("softsign", input) / (absolute(input) + 1)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a `sigmoid` (b), where a and b are the two halves of ``input`` along ``dim``."""
    x = floating_arg("glu", input)
    if not x.array.ndim:
        raise RuntimeError("glu(): glu does not support 0-dimensional tensors")
    axis = one_dim("glu", dim, x.array.ndim)
    n = x.array.shape[axis]
    if n % 2:
        raise RuntimeError(f"glu(): Halving dimension must be even, but dimension {axis} is size {n}")
    a, b = split(x, [n // 2, n // 2], axis)
    return a * sigmoid(b)


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType = None) -> Tensor:
    """y_i = exp(x_i) / sum_j exp(x_j) along ``dim``, shaped like ``input``; ``dtype`` converts it first.

    Raises IndexError if there is no such ``dim``. Leaving it out warns, as PyTorch does, and takes dim 0 of a tensor
    with 0, 1 or 3 dims, dim 1 of any other.

    >>> import gradwright as gw
    >>> softmax(gw.tensor([[0.0, 0.0], [2.0, 2.0]]), dim=1)
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    return reduce.softmax(input, _chosen("softmax", input, dim, _stacklevel), dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType = None) -> Tensor:
    """`softmax` of -input; arguments as there."""
    return reduce.softmax(-tensor_arg("softmin", input), _chosen("softmin", input, dim, _stacklevel), dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType = None) -> Tensor:
    """y_i = x_i - log sum_j exp(x_j) along ``dim``: the logarithm of `softmax`, without overflow; arguments as there.

    >>> import gradwright as gw
    >>> log_softmax(gw.tensor([0.0, 1000.0]), dim=0)
    tensor([-1000.,     0.])
    """
    return reduce.log_softmax(input, _chosen("log_softmax", input, dim, _stacklevel), dtype=dtype)


def _chosen(name: str, input: Any, dim: int | None, stacklevel: int) -> int:
    """``dim``, or the one that PyTorch takes where none is given."""
    if dim is not None:
        return dim
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                  "argument.", stacklevel=stacklevel)  # fmt: skip
    return 0 if tensor_arg(name, input).ndim in (0, 1, 3) else 1


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """`softmax` of (logits + Gumbel noise)/tau: a relaxed draw from the categories along ``dim``.

    ``hard`` gives one-hot values, with the gradient of the relaxed ones. ``eps`` has no effect.
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    x = floating_arg("gumbel_softmax", logits, "logits")
    noise = -(-rand_like(x).log()).log()
    y = reduce.softmax((x + noise) / tau, dim)
    if not hard:
        return y
    hot = one_hot(y.detach().argmax(dim), y.size(dim)).to(y.dtype).movedim(-1, dim)
    return hot - y.detach() + y


relu_, elu_, celu_, selu_ = in_place(relu), in_place(elu), in_place(celu), in_place(selu)
rrelu_, leaky_relu_, hardtanh_ = in_place(rrelu), in_place(leaky_relu), in_place(hardtanh)
threshold_ = in_place(threshold)
