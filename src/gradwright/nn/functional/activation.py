"""Activations, and the softmax. ``inplace`` overwrites the input: RuntimeError if that is a leaf that requires grad."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.engine.apply import apply, apply_one
from gradwright.face.creation import empty_like
from gradwright.face.functions import elementwise
from gradwright.face.functions import reduce as _reduce
from gradwright.face.functions.activation import floating_arg, hardshrink, prelu
from gradwright.face.functions.algebra.linalg import linear
from gradwright.face.functions.elementwise import abs as absolute
from gradwright.face.functions.elementwise import sigmoid, softplus, tanh, where
from gradwright.face.functions.forms import aside, store
from gradwright.face.functions.forms import inplace as in_place
from gradwright.face.functions.join import split
from gradwright.face.random import exponential_, rand_like
from gradwright.face.reading.torch import one_dim, tensor_arg
from gradwright.nn.functional.sparse import one_hot
from gradwright.ops import activation as _ops
from gradwright.ops import arithmetic as _arithmetic
from gradwright.ops import special as _special

if TYPE_CHECKING:
    from gradwright.face.typing import DType, Tensor

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

    >>> relu(gw.tensor([-1.0, 0.0, 2.0]))
    tensor([0., 0., 2.])
    """
    x = tensor_arg("relu", input)
    return x.relu_() if inplace else elementwise.relu(x)


def _elu(name: str, input: Any, inplace: bool, alpha: float, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    return _run(_ops.elu, name, input, inplace, alpha=alpha, scale=scale, input_scale=input_scale)


def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, alpha (e**x - 1) below; the slope at 0 is that from below, alpha.

    Shape: any. Of floating-point numbers: NotImplementedError else.

    >>> gw.nn.functional.elu(gw.tensor([-1.0, 0.0, 2.0]))
    tensor([-0.6321,  0.0000,  2.0000])
    """
    return _elu("elu", input, inplace, alpha)


def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """x above 0, alpha (e**(x/alpha) - 1) below: `elu` without its kink, the slope at 0 being 1.

    Shape: any. Raises RuntimeError for alpha 0, NotImplementedError unless of floating-point numbers.

    >>> gw.nn.functional.celu(gw.tensor([-1.0, 0.0, 2.0]), alpha=2.0)
    tensor([-0.7869,  0.0000,  2.0000])
    """
    if alpha == 0:
        raise RuntimeError("celu(): ZeroDivisionError: alpha cannot be 0 for CELU")
    return _elu("celu", input, inplace, alpha, 1.0, 1.0 / alpha)


def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """s x above 0, s a (e**x - 1) below, with s = 1.0507 and a = 1.6733, which keep mean 0 and variance 1.

    From arXiv:1706.02515. Shape: any. The slope at 0 is s a. Raises NotImplementedError unless of floating-point
    numbers.

    >>> gw.nn.functional.selu(gw.tensor([-1.0, 0.0, 2.0]))
    tensor([-1.1113,  0.0000,  2.1014])
    """
    return _elu("selu", input, inplace, _SELU_ALPHA, _SELU_SCALE)


def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """x above 0, negative_slope x elsewhere; the slope at 0 is ``negative_slope``.

    Shape: any. Raises NotImplementedError unless of floating-point numbers; RuntimeError in place on a leaf that
    requires grad.

    >>> gw.nn.functional.leaky_relu(gw.tensor([-1.0, 0.0, 2.0]), 0.1)
    tensor([-0.1000,  0.0000,  2.0000])
    """
    return _run(_ops.leaky_relu, "leaky_relu", input, inplace, slope=negative_slope)


def rrelu(
    input: Tensor, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False, inplace: bool = False
) -> Tensor:
    """x above 0; elsewhere r x, in training with r drawn from [lower, upper) for each entry, else with its mean.

    Shape: any. Raises RuntimeError if lower > upper, NotImplementedError unless of floating-point numbers.

    >>> gw.nn.functional.rrelu(gw.tensor([-4.0, 2.0]), 0.25, 0.75)
    tensor([-2.,  2.])
    """
    if lower > upper:
        raise RuntimeError(f"Lower bound should be less than or equal to the upper bound, but got {lower} and {upper}")
    x = floating_arg("rrelu", input)
    if not training:
        return leaky_relu(x, (lower + upper) / 2, inplace)
    factor = where(x.detach() > 0, 1.0, lower + (upper - lower) * rand_like(x))
    return store(input, x * factor) if inplace else x * factor


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """x kept between ``min_val`` and ``max_val``; slope 1 inside, 0 at the bounds and beyond.

    Shape: any. Raises ValueError if the bounds are the wrong way round, NotImplementedError for booleans and complex
    numbers.

    >>> gw.nn.functional.hardtanh(gw.tensor([-2.0, 0.5, 2.0]))
    tensor([-1.0000,  0.5000,  1.0000])
    """
    if min_val > max_val:
        raise ValueError(f"min_val cannot be greater than max_val, but got {min_val} and {max_val}")
    return _clipped("hardtanh", input, min_val, max_val, inplace)


def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """x kept between 0 and 6; slope 1 inside, 0 at both bounds and beyond.

    Shape: any. Raises NotImplementedError for booleans and complex numbers.

    >>> gw.nn.functional.relu6(gw.tensor([-1.0, 3.0, 8.0]))
    tensor([0., 3., 6.])
    """
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
    """x above the threshold, with slope 1, else ``value``, with slope 0, at the threshold too.

    Shape: any. Raises NotImplementedError for booleans and complex numbers.

    >>> gw.nn.functional.threshold(gw.tensor([0.5, 1.0, 2.0]), 1.0, -5.0)
    tensor([-5., -5.,  2.])
    """
    x = tensor_arg("threshold", input)
    kind = dtypes.kind(x.array.dtype)
    if kind in "bc":
        raise NotImplementedError(f"threshold(): not implemented for {x.dtype}")
    static = {"threshold": threshold, "value": int(value) if kind in "iu" else value}
    return _applied(_ops.threshold, x, inplace, static)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """x/6 + 1/2 kept between 0 and 1; slope 0 at the bounds, -3 and 3, and beyond.

    Shape: any. Raises NotImplementedError unless of floating-point numbers.

    >>> gw.nn.functional.hardsigmoid(gw.tensor([-4.0, 0.0, 1.5]))
    tensor([0.0000, 0.5000, 0.7500])
    """
    return _run(_ops.hardsigmoid, "hardsigmoid", input, inplace)


def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """x `hardsigmoid` (x): 0 below -3, x above 3, x (x + 3) / 6 between (arXiv:1905.02244).

    Shape: any. The slopes at the kinks, -3 and 3, are 0 and 1, those from outside. Raises NotImplementedError unless of
    floating-point numbers.

    >>> gw.nn.functional.hardswish(gw.tensor([-4.0, 1.5, 4.0]))
    tensor([-0.0000, 1.1250, 4.0000])
    """
    return _run(_ops.hardswish, "hardswish", input, inplace)


def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """x `sigmoid` (x), dy/dx = s (1 + x (1 - s)) with s = sigmoid(x); complex numbers too.

    Shape: any. Raises NotImplementedError for whole numbers and booleans.

    >>> gw.nn.functional.silu(gw.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2689,  0.0000,  0.7311])
    """
    if tensor_arg("silu", input).is_complex():
        return _applied(_ops.silu, input, inplace, {})
    return _run(_ops.silu, "silu", input, inplace)


def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """x tanh(log(1 + e**x)), smooth (arXiv:1908.08681).

    Shape: any. Raises NotImplementedError unless of floating-point numbers.

    >>> gw.nn.functional.mish(gw.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.3034,  0.0000,  0.8651])
    """
    return _run(_ops.mish, "mish", input, inplace)


def gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """x Phi(x), with the normal distribution function Phi, dy/dx = Phi(x) + x e**(-x**2/2) / sqrt(2 pi).

    ``approximate="tanh"`` is x (1 + tanh(sqrt(2/pi) (x + 0.044715 x**3))) / 2, nearly equal (arXiv:1606.08415).

    Shape: any. Raises RuntimeError for another ``approximate``, NotImplementedError unless of floating-point numbers.

    >>> gw.nn.functional.gelu(gw.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.1587,  0.0000,  0.8413])
    """
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"gelu(): approximate argument must be either none or tanh, but got {approximate!r}")
    if approximate == "tanh":
        return _run(_ops.gelu_tanh, "gelu", input)
    x = floating_arg("gelu", input)
    return apply(_scaled, (x, apply_one(_special.ndtr, x, {})), {})


_scaled = _arithmetic.multiply.variant("GeluBackward0")


def logsigmoid(input: Tensor) -> Tensor:
    """log `sigmoid` (x) = -log(1 + e**-x), without overflow, dy/dx = sigmoid(-x).

    Shape: any. Raises NotImplementedError unless of floating-point numbers.

    >>> gw.nn.functional.logsigmoid(gw.tensor([-1000.0, 0.0]))
    tensor([-1.0000e+03, -6.9315e-01])
    """
    return _run(_ops.log_sigmoid, "logsigmoid", input)


def softshrink(input: Tensor, lambd: float = 0.5) -> Tensor:
    """x moved towards 0 by lambd, and to 0 if it is nearer; slope 1, and 0 for abs x <= lambd.

    Shape: any. Raises RuntimeError for a negative ``lambd``, NotImplementedError unless of floating-point numbers.

    >>> gw.nn.functional.softshrink(gw.tensor([-2.0, 0.5, 1.0]))
    tensor([-1.5000,  0.0000,  0.5000])
    """
    x = floating_arg("softshrink", input)
    if lambd < 0:
        raise RuntimeError(f"softshrink(): lambda must be in range [0, inf) for input dtype {x.dtype}, found {lambd}")
    return apply_one(_ops.softshrink, x, {"lambd": lambd})


def tanhshrink(input: Tensor) -> Tensor:
    """x - tanh x, dy/dx = tanh(x)**2.

    Shape: any. Raises TypeError if the input is no tensor.

    >>> gw.nn.functional.tanhshrink(gw.tensor([-1.0, 0.0, 1.0]))
    tensor([-0.2384,  0.0000,  0.2384])
    """
    return tensor_arg("tanhshrink", input) - tanh(input)


def softsign(input: Tensor) -> Tensor:
    """x / (1 + abs x), dy/dx = 1 / (1 + abs x)**2, 1 at 0.

    Shape: any. Raises TypeError if the input is no tensor.

    >>> gw.nn.functional.softsign(gw.tensor([-1.0, 0.0, 3.0]))
    tensor([-0.5000,  0.0000,  0.7500])
    """
    x = tensor_arg("softsign", input)
    return apply_one(_ops.softsign, x, {}) if dtypes.kind(x.array.dtype) == "f" else x / (absolute(x) + 1)


def glu(input: Tensor, dim: int = -1) -> Tensor:
    """a `sigmoid` (b), where a and b are the two halves of ``input`` along ``dim``: (..., 2 n, ...) to (..., n, ...).

    Raises RuntimeError if that dim is odd or there is none, IndexError for a dim that is not there.

    >>> gw.nn.functional.glu(gw.tensor([1.0, 2.0, 0.0, 0.0]))
    tensor([0.5000, 1.0000])
    """
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

    >>> softmax(gw.tensor([[0.0, 0.0], [2.0, 2.0]]), dim=1)
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    return _reduce.softmax(input, _chosen("softmax", input, dim, _stacklevel), dtype=dtype)


def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType = None) -> Tensor:
    """`softmax` of -input: y_i = exp(-x_i) / sum_j exp(-x_j) along ``dim``; arguments and errors as there.

    >>> gw.nn.functional.softmin(gw.tensor([0.0, 0.0]), dim=0)
    tensor([0.5000, 0.5000])
    """
    return _reduce.softmax(-tensor_arg("softmin", input), _chosen("softmin", input, dim, _stacklevel), dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: DType = None) -> Tensor:
    """y_i = x_i - log sum_j exp(x_j) along ``dim``: the logarithm of `softmax`, without overflow; arguments as there.

    >>> log_softmax(gw.tensor([0.0, 1000.0]), dim=0)
    tensor([-1000.,     0.])
    """
    return _reduce.log_softmax(input, _chosen("log_softmax", input, dim, _stacklevel), dtype=dtype)


def _chosen(name: str, input: Any, dim: int | None, stacklevel: int) -> int:
    """``dim``, or the one that PyTorch takes where none is given."""
    if dim is not None:
        return dim
    warnings.warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an "
                  "argument.", stacklevel=stacklevel)  # fmt: skip
    return 0 if tensor_arg(name, input).ndim in (0, 1, 3) else 1


def gumbel_softmax(logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Tensor:
    """`softmax` of (logits + Gumbel noise)/tau: a relaxed draw from the categories along ``dim`` (arXiv:1611.01144).

    Shape: that of ``logits``. ``hard`` gives one-hot values, with the gradient of the relaxed ones. ``eps`` has no
    effect.

    Raises NotImplementedError unless of floating-point numbers, IndexError for a dim that is not there.

    >>> gw.nn.functional.gumbel_softmax(gw.zeros(3, 4), hard=True).sum(-1)
    tensor([1., 1., 1.])
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    x = floating_arg("gumbel_softmax", logits, "logits")
    noise = -exponential_(empty_like(x.detach())).log()
    y = _reduce.softmax((x + noise) / tau, dim)
    if not hard:
        return y
    hot = one_hot(y.detach().argmax(dim), y.size(dim)).to(y.dtype).movedim(-1, dim)
    return hot - y.detach() + y


relu_, elu_, celu_, selu_ = in_place(relu), in_place(elu), in_place(celu), in_place(selu)
rrelu_, leaky_relu_, hardtanh_ = in_place(rrelu), in_place(leaky_relu), in_place(hardtanh)
threshold_ = in_place(threshold)
