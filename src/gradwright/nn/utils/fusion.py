"""A layer and the batch normalisation after it as one layer, for evaluation."""

from __future__ import annotations

import copy
from typing import Any, TypeVar

from gradwright.base.lazy import lazy
from gradwright.face.creation import ones_like, zeros_like
from gradwright.face.tensor import Tensor
from gradwright.nn.module import Module
from gradwright.nn.parameter import Parameter

M = TypeVar("M", bound=Module)

__all__ = ["fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights"]

lazy(__name__)


def _fused(w: Any, b: Any, rm: Any, rv: Any, eps: float, bn_w: Any, bn_b: Any, shape: list[int]) -> tuple[Any, Any]:
    b = zeros_like(rm) if b is None else b
    bn_w = ones_like(rm) if bn_w is None else bn_w
    bn_b = zeros_like(rm) if bn_b is None else bn_b
    factor = bn_w * (rv + eps).rsqrt()
    weight = (w * factor.reshape(shape)).to(w.dtype)
    return (Parameter(weight.detach(), w.requires_grad),
            Parameter(((b - rm) * factor + bn_b).to(w.dtype).detach(), b.requires_grad))  # fmt: skip


def fuse_conv_bn_weights(conv_w: Tensor, conv_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
                         bn_w: Tensor | None, bn_b: Tensor | None,
                         transpose: bool = False) -> tuple[Parameter, Parameter]:  # fmt: skip
    """Weight and bias of a convolution that does what a convolution and a batch normalisation after it do.

    weight' = weight f and bias' = (bias - bn_rm) f + bn_b for each output channel, f = bn_w / sqrt(bn_rv + bn_eps).

    >>> one = gw.ones(1)
    >>> w, b = gw.nn.utils.fuse_conv_bn_weights(gw.ones(1, 1, 2), None, one, 3 * one, 1.0, one, 0 * one)
    >>> w.detach(), b.detach()
    (tensor([[[0.5000, 0.5000]]]), tensor([-0.5000]))
    """
    shape = [1] * conv_w.ndim
    shape[int(transpose)] = -1
    return _fused(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_weights(linear_w: Tensor, linear_b: Tensor | None, bn_rm: Tensor, bn_rv: Tensor, bn_eps: float,
                           bn_w: Tensor, bn_b: Tensor) -> tuple[Parameter, Parameter]:  # fmt: skip
    """Weight and bias of a linear layer that does what a linear layer and a batch normalisation after it do.

    The formula is that of `fuse_conv_bn_weights`.

    >>> one = gw.ones(1)
    >>> w, b = gw.nn.utils.fuse_linear_bn_weights(gw.ones(1, 2), None, one, 3 * one, 1.0, one, 0 * one)
    >>> w.detach(), b.detach()
    (tensor([[0.5000, 0.5000]]), tensor([-0.5000]))
    """
    return _fused(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _evaluated(layer: M, bn: Any) -> M:
    if layer.training or bn.training:
        raise AssertionError("Fusion only for eval!")
    return copy.deepcopy(layer)


def fuse_conv_bn_eval(conv: M, bn: Module, transpose: bool = False) -> M:
    """A copy of a convolution that does what it and a batch normalisation after it do in evaluation mode.

    Raises AssertionError unless both are in evaluation mode.

    >>> conv, bn = gw.nn.Conv1d(1, 2, 3).eval(), gw.nn.BatchNorm1d(2).eval()
    >>> x = gw.ones(1, 1, 4)
    >>> bool(gw.allclose(gw.nn.utils.fuse_conv_bn_eval(conv, bn)(x), bn(conv(x)), atol=1e-6))
    True
    """
    out: Any = _evaluated(conv, bn)
    out.weight, out.bias = fuse_conv_bn_weights(
        out.weight, out.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, transpose
    )
    return out


def fuse_linear_bn_eval(linear: M, bn: Module) -> M:
    """A copy of a linear layer that does what it and a batch normalisation after it do in evaluation mode.

    Raises AssertionError unless both are in evaluation mode and the sizes fit.

    >>> linear, bn = gw.nn.Linear(3, 2).eval(), gw.nn.BatchNorm1d(2).eval()
    >>> x = gw.ones(1, 3)
    >>> bool(gw.allclose(gw.nn.utils.fuse_linear_bn_eval(linear, bn)(x), bn(linear(x)), atol=1e-6))
    True
    """
    out = _evaluated(linear, bn)
    if linear.out_features != bn.num_features and bn.num_features != 1:
        raise AssertionError("To fuse, linear.out_features == bn.num_features or bn.num_features == 1")
    out.weight, out.bias = fuse_linear_bn_weights(
        out.weight, out.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )
    return out
