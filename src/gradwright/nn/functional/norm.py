"""Normalisations: over a batch, a layer, groups of channels, one image; to length 1.

Results have the dtype of the input, and so must parameters and running statistics have, but that float32 ones do for an
input of half precision, too; RuntimeError otherwise. `rms_norm` takes any.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import size
from gradwright.engine.apply import apply, apply_one
from gradwright.engine.grad_mode import no_grad
from gradwright.engine.levels import varies
from gradwright.face.functions import reduce
from gradwright.face.functions.activation import floating_arg
from gradwright.face.reading.torch import tensor_arg, to_dtype
from gradwright.face.tensor import Tensor
from gradwright.ops import norm as _ops

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "normalize", "rms_norm"]

_batch, _layer, _group = (
    {shown: op.variant(f"Native{kind}NormBackward0") for shown, op in (
        (False, _ops.standardize), (True, _ops.standardize_shown)
    )}
    for kind in ("Batch", "Layer", "Group")
)  # fmt: skip
_PRECISION = {2: 2.0**-10, 4: 2.0**-23, 8: 2.0**-52}


def standardized(x: Any, axis: tuple[int, ...], eps: float, shown: bool = True, kind: Any = _batch
                 ) -> tuple[Any, Any, Any]:  # fmt: skip
    """``x`` with mean 0 and variance 1 over ``axis``, and its mean and variance, these dims kept with length 1.

    ``shown`` says that users get the first as it is, and may write in it.
    """
    y, mean, var = apply(kind[shown], (x,), {"axis": axis, "eps": eps})
    return y, mean, var


def affine(y: Any, weight: Any, bias: Any) -> Any:
    """y weight + bias, in the dtype of y; either may be None."""
    out = y if weight is None else y * weight
    out = out if bias is None else out + bias
    return out if out.array.dtype == y.array.dtype else to_dtype(out, y.array.dtype)


def per_channel(parameter: Any, ndim: int) -> Any:
    """A vector with an entry for each channel (dim 1), shaped to broadcast."""
    return None if parameter is None else parameter.reshape(-1, *(1,) * (ndim - 2))


def check_dtypes(x: Any, *parameters: Any) -> None:
    """RuntimeError unless the parameters have the dtype of ``x``; float32 does for one of half precision, too."""
    for p in parameters:
        if p is not None and backends.differ("a normalisation", p.array, x.array):
            due = "expect parameter to have scalar type of Float"
            if p.dtype is dtypes.float32:
                if dtypes.of(x.array.dtype).dtype.itemsize == 2:
                    continue
                due = "all inputs must share same datatype"
            raise RuntimeError(f"mixed dtype (CPU): {due}, but got a parameter of {p.dtype} for an input of {x.dtype}. "
                               f"{dtypes.remedy(x.dtype, p.dtype)}")  # fmt: skip


def check_channels(name: str, x: Any, **parameters: Any) -> None:
    """RuntimeError if a parameter has not one entry for each channel, or another dtype than it may have."""
    channels = x.array.shape[1]
    check_dtypes(x, *parameters.values())
    for argument, p in parameters.items():
        if p is not None and p.array.size != channels:
            raise RuntimeError(f"{name}(): {argument} should contain {channels} elements not {p.array.size}")


@no_grad()
def follow(running: Any, value: Any, momentum: float) -> None:
    """Move a running statistic, in place, the fraction ``momentum`` of the way to ``value``.

    Raises RuntimeError if that is another one in each example of a `vmap`, and the statistic is one for all.
    """
    if running is not None:
        if varies(value.array, running.array):
            raise RuntimeError(
                "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated "
                "in place, were not batched. Set track_running_stats=False, use eval(), or map the statistics, too."
            )
        running.copy_(running * (1 - momentum) + value.detach().reshape(running.shape).to(running.dtype) * momentum)


def _several(counted: Sequence[int], shape: tuple[int, ...], what: str) -> None:
    """ValueError if there is only one value to normalise over: its variance would be 0."""
    if math.prod(counted) == 1:
        raise ValueError(f"Expected more than 1 {what} when training, got input size {size(shape)}")


def batch_norm(input: Tensor, running_mean: Tensor | None, running_var: Tensor | None, weight: Tensor | None = None,
               bias: Tensor | None = None, training: bool = False, momentum: float = 0.1,
               eps: float = 1e-5) -> Tensor:  # fmt: skip
    """Each channel (dim 1) brought to mean 0 and variance 1 over the others, then weight y + bias.

    In training with the statistics of this input, which the running ones, if there are any, follow in place (with the
    variance over n - 1); otherwise with the running ones.

    y = (x - mean) / sqrt(var + eps). Shape: (N, C, ...), the statistics and parameters (C,).

    Raises ValueError in training on one value per channel; RuntimeError for fewer than 2 dims, other sizes or dtypes.

    >>> gw.nn.functional.batch_norm(gw.tensor([[1.0], [3.0]]), None, None, training=True)
    tensor([[-1.0000],
            [ 1.0000]])
    """
    x = floating_arg("batch_norm", input)
    shape, ndim = x.array.shape, x.array.ndim
    if ndim == 1 and not x.array.size:
        return x.clone()
    if ndim < 2:
        raise RuntimeError(f"batch_norm(): expected an input of at least 2 dims, got {size(shape)}")
    if training:
        _several((*shape[:1], *shape[2:]), shape, "value per channel")
    if eps < 0 or (training and eps == 0):
        raise ValueError(f"batch_norm eps must be {'positive during training' if training else 'non-negative'}, "
                         f"but got {eps}")  # fmt: skip
    check_channels("batch_norm", x, running_mean=running_mean, running_var=running_var, weight=weight, bias=bias)
    w, b = per_channel(weight, ndim), per_channel(bias, ndim)
    if not training:
        if running_mean is None or running_var is None:
            raise RuntimeError("batch_norm(): Expected running_mean and running_var to be defined when training=False")
        scale = (running_var + eps).rsqrt()
        scale = scale if weight is None else scale * weight
        shift = -running_mean * scale
        shift = shift if bias is None else shift + bias
        return affine(x, per_channel(scale, ndim), per_channel(shift, ndim))
    shown = weight is None and bias is None
    return affine(batch_statistics(x, running_mean, running_var, momentum, eps, shown)[0], w, b)


def batch_statistics(x: Any, running_mean: Any, running_var: Any, momentum: float, eps: float, shown: bool = True
                     ) -> tuple[Any, Any, Any]:  # fmt: skip
    """Each channel with mean 0 and variance 1, and its mean and variance, which the running ones follow."""
    y, mean, var = standardized(x, (0, *range(2, x.array.ndim)), eps, shown)
    n = x.array.size // max(x.array.shape[1], 1)
    if n:
        follow(running_mean, mean, momentum)
        follow(running_var, var.detach() * (n / max(n - 1, 1)), momentum)
    return y, mean, var


def instance_norm(input: Tensor, running_mean: Tensor | None = None, running_var: Tensor | None = None,
                  weight: Tensor | None = None, bias: Tensor | None = None, use_input_stats: bool = True,
                  momentum: float = 0.1, eps: float = 1e-5) -> Tensor:  # fmt: skip
    """Each channel (dim 1) of each instance (dim 0) brought to mean 0 and variance 1, then weight y + bias.

    The running statistics, if there are any, follow their means over the batch in place; they are used instead if
    ``use_input_stats`` is false.

    Shape: (N, C, ...), the statistics and parameters (C,). Raises ValueError for one value per channel; RuntimeError
    for other sizes or dtypes.

    >>> gw.nn.functional.instance_norm(gw.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.0000,  1.0000]]])
    """
    x = floating_arg("instance_norm", input)
    shape, ndim = x.array.shape, x.array.ndim
    if not use_input_stats:
        return batch_norm(x, running_mean, running_var, weight, bias, False, momentum, eps)
    _several(shape[2:], shape, "spatial element")
    check_channels("instance_norm", x, running_mean=running_mean, running_var=running_var, weight=weight,
                   bias=bias)  # fmt: skip
    y, mean, var = standardized(x, tuple(range(2, ndim)), eps, weight is None and bias is None)
    n = math.prod(shape[2:])
    follow(running_mean, mean.detach().mean(0), momentum)
    follow(running_var, var.detach().mean(0) * (n / max(n - 1, 1)), momentum)
    return affine(y, per_channel(weight, ndim), per_channel(bias, ndim))


def group_norm(input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5) -> Tensor:  # fmt: skip
    """Each group of channels (dim 1) of each instance brought to mean 0 and variance 1, then weight y + bias.

    Raises RuntimeError if the channels do not divide into groups.

    Shape: (N, C, ...), the parameters (C,). ValueError for one value per group.

    >>> gw.nn.functional.group_norm(gw.tensor([[1.0, 3.0, 5.0, 7.0]]), 2)
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """
    x = floating_arg("group_norm", input)
    shape = x.array.shape
    if len(shape) < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if shape[1] % num_groups:
        raise RuntimeError("Expected number of channels in input to be divisible by num_groups, but got input of shape "
                           f"{size(shape)} and num_groups={num_groups}")  # fmt: skip
    _several((shape[0] * shape[1] // num_groups, *shape[2:]), shape, "value per channel")
    return grouped(x, num_groups, weight, bias, eps)[0]


def grouped(x: Any, groups: int, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any]:
    """`group_norm`, and each group's mean and variance (n, groups, 1)."""
    shape = x.array.shape
    check_channels("group_norm", x, weight=weight, bias=bias)
    length = math.prod(shape[1:]) // groups
    y, mean, var = standardized(x.reshape(shape[0], groups, length), (2,), eps, weight is None and bias is None, _group)
    w, b = per_channel(weight, len(shape)), per_channel(bias, len(shape))
    return affine(y.reshape(shape), w, b), mean, var


def trailing(name: str, x: Any, normalized_shape: Any, **parameters: Any) -> tuple[int, ...]:
    """The last dims of ``x``, whose sizes must be ``normalized_shape``, as must those of the parameters."""
    wanted = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (int(normalized_shape),)
    if not wanted:
        raise RuntimeError(f"{name}(): Expected normalized_shape to be at least 1-dimensional, but got {wanted}")
    for argument, p in parameters.items():
        if p is not None and p.array.shape != wanted:
            raise RuntimeError(f"{name}(): Expected {argument} to be of same shape as normalized_shape, but got shape "
                               f"{size(p.array.shape)} and normalized_shape = {list(wanted)}")  # fmt: skip
    shape = x.array.shape
    if shape[-len(wanted) :] != wanted:
        raise RuntimeError(f"Given normalized_shape={list(wanted)}, expected input with shape [*, "
                           f"{', '.join(map(str, wanted))}], but got input of size{size(shape)}")  # fmt: skip
    return tuple(range(len(shape) - len(wanted), len(shape)))


def layer_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, bias: Tensor | None = None,
               eps: float = 1e-5) -> Tensor:  # fmt: skip
    """The last dims, of sizes ``normalized_shape``, brought to mean 0 and variance 1, then weight y + bias.

    y = (x - mean) / sqrt(var + eps) (arXiv:1607.06450). Shape: (..., *normalized_shape), the parameters
    normalized_shape.

    Raises RuntimeError for other sizes or dtypes.

    >>> gw.nn.functional.layer_norm(gw.tensor([[1.0, 3.0], [5.0, 7.0]]), (2,))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """
    x = floating_arg("layer_norm", input)
    axis = trailing("layer_norm", x, normalized_shape, weight=weight, bias=bias)
    check_dtypes(x, weight, bias)
    return affine(standardized(x, axis, eps, weight is None and bias is None, _layer)[0], weight, bias)


def rms_norm(input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None,
             eps: float | None = None) -> Tensor:  # fmt: skip
    """x / sqrt(mean x**2 + eps) over the last dims, of sizes ``normalized_shape``, times weight.

    ``eps=None`` is the spacing of the dtype at 1.

    Shape: (..., *normalized_shape), the weight normalized_shape (arXiv:1910.07467). Raises RuntimeError for other
    sizes.

    >>> gw.nn.functional.rms_norm(gw.tensor([3.0, 4.0]), (2,), gw.tensor([2.0, 1.0]))
    tensor([1.6971, 1.1314])
    """
    x = tensor_arg("rms_norm", input)
    axis = trailing("rms_norm", x, normalized_shape, weight=weight)
    if eps is None:
        eps = _PRECISION[dtypes.of(x.array.dtype).dtype.itemsize // (2 if x.is_complex() else 1)]
    return affine(apply_one(_ops.rms_normalize, x, {"axis": axis, "eps": eps}), weight, None)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """x divided by its p-norm along ``dim``, or by eps where that is larger.

    Shape: that of ``input``. What is divided by eps has the slope 1/eps. Raises IndexError for a dim that is not there.

    >>> gw.nn.functional.normalize(gw.tensor([[3.0, 4.0], [0.0, 0.0]]))
    tensor([[0.6000, 0.8000],
            [0.0000, 0.0000]])
    """
    x = tensor_arg("normalize", input)
    y = x / reduce.norm(x, p, dim, True).clamp(min=eps)
    return y if out is None else out.copy_(y)
