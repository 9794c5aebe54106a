"""First values of parameters. Every function fills a tensor in place, outside the graph, and returns it.

The fans of a weight (out, in, *kernel) are fan_in = in * n and fan_out = out * n, where n is the number of elements in
``*kernel``. The random ones take a ``generator``; the global one draws if that is None.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from gradwright.base.lazy import findable, lazy
from gradwright.engine.grad_mode import no_grad
from gradwright.face import creation, linalg, random
from gradwright.face.functions.elementwise import where

if TYPE_CHECKING:
    from gradwright.face.typing import Generator, Tensor

__all__ = [
    "calculate_gain", "constant", "constant_", "dirac", "dirac_", "eye", "eye_", "kaiming_normal", "kaiming_normal_",
    "kaiming_uniform", "kaiming_uniform_", "normal", "normal_", "ones_", "orthogonal", "orthogonal_", "sparse",
    "sparse_", "trunc_normal_", "uniform", "uniform_", "xavier_normal", "xavier_normal_", "xavier_uniform",
    "xavier_uniform_", "zeros_",
]  # fmt: skip

lazy(__name__)

_GAINS = dict.fromkeys(
    ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid"), 1
) | {"tanh": 5 / 3, "relu": math.sqrt(2), "selu": 3 / 4}  # fmt: skip


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """By how much to widen the weights before a nonlinearity.

    ==================== =====================================================
    linear, conv*        1
    sigmoid              1
    tanh                 5/3
    relu                 sqrt 2
    leaky_relu           sqrt(2 / (1 + slope**2)), slope ``param``, or 0.01
    selu                 3/4
    ==================== =====================================================

    Raises ValueError for another name, or a slope that is no number.

    >>> calculate_gain("leaky_relu", 0.2)
    1.3867504905630728
    """
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}; one of {', '.join([*_GAINS, 'leaky_relu'])}")
    return _GAINS[nonlinearity]


def _fans(tensor: Any) -> tuple[int, int]:
    """fan_in and fan_out."""
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    fan_out, fan_in, *kernel = tensor.shape
    return fan_in * math.prod(kernel), fan_out * math.prod(kernel)


@no_grad()
def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill in place from U(a, b), and return the tensor. RuntimeError if a > b.

    >>> bool((gw.nn.init.uniform_(gw.empty(100), -1, 1).abs() <= 1).all())
    True
    """
    return tensor.uniform_(a, b, generator=generator)


@no_grad()
def normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Fill in place from N(mean, std**2), and return the tensor. RuntimeError if std < 0.

    >>> gw.nn.init.normal_(gw.empty(2), 3.0, 0.0)
    tensor([3., 3.])
    """
    return tensor.normal_(mean, std, generator=generator)


@no_grad()
def trunc_normal_(tensor: Tensor, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0,
                  generator: Generator | None = None) -> Tensor:  # fmt: skip
    """Fill in place from N(mean, std**2), cut off outside of [a, b] (which are values, and not multiples of std).

    Warns where hardly anything of the distribution lies in there. RuntimeError if a > b.

    >>> bool((gw.nn.init.trunc_normal_(gw.empty(100), a=-1.0, b=1.0).abs() <= 1).all())
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.",
            stacklevel=3,
        )
    below, above = (math.erf((end - mean) / std / math.sqrt(2)) / 2 for end in (a, b))
    if above - below > 0.3:
        out = creation.empty_like(tensor).normal_(mean, std, generator=generator)
        while bool((refused := (out < a) | (out > b)).any()):
            out = where(refused, creation.empty_like(out).normal_(mean, std, generator=generator), out)
    else:  # uniform numbers, each kept with the share that its density has of the largest
        out, refused = tensor, creation.ones_like(tensor, dtype=bool)
        peak = ((max(a, min(mean, b)) - mean) / std) ** 2 / 2
        while bool(refused.any()):
            tried = creation.empty_like(tensor).uniform_(a, b, generator=generator)
            out = where(refused, tried, out)
            height = peak - ((tried - mean) / std) ** 2 / 2
            refused = refused & (creation.empty_like(tensor).uniform_(generator=generator).log() > height)
    return tensor.copy_(out)


@no_grad()
def constant_(tensor: Tensor, val: float) -> Tensor:
    """Fill in place with ``val``, and return the tensor.

    >>> gw.nn.init.constant_(gw.empty(2), 0.5)
    tensor([0.5000, 0.5000])
    """
    return tensor.fill_(val)


def ones_(tensor: Tensor) -> Tensor:
    """Fill in place with 1, and return the tensor.

    >>> gw.nn.init.ones_(gw.empty(2))
    tensor([1., 1.])
    """
    return constant_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Fill in place with 0, and return the tensor.

    >>> gw.nn.init.zeros_(gw.empty(2))
    tensor([0., 0.])
    """
    return constant_(tensor, 0.0)


@no_grad()
def eye_(tensor: Tensor) -> Tensor:
    """Fill in place with the identity matrix, cut off or filled up with 0. ValueError unless there are 2 dims.

    >>> gw.nn.init.eye_(gw.empty(2, 3))
    tensor([[1., 0., 0.],
            [0., 1., 0.]])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return tensor.copy_(creation.eye(*tensor.shape, dtype=tensor.dtype, device=tensor.device))


@no_grad()
def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """The weight of a convolution that hands on as many of its channels as it can; of each group, the same.

    1 in the middle of the kernel from channel k to channel k, else 0. ValueError unless there are 3, 4 or 5 dims, or if
    ``groups`` does not divide the first.

    >>> w = gw.nn.init.dirac_(gw.empty(2, 2, 3))
    >>> gw.nn.functional.conv1d(gw.tensor([[1.0, 2.0], [3.0, 4.0]]), w, padding=1)
    tensor([[1., 2.],
            [3., 4.]])
    """
    if tensor.dim() not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    out, channels, *kernel = tensor.shape
    if out % groups:
        raise ValueError("dim 0 must be divisible by groups")
    middle = tuple(n // 2 for n in kernel)
    tensor.zero_()
    for group in range(groups):
        for k in range(min(out // groups, channels)):
            tensor[(group * (out // groups) + k, k, *middle)] = 1
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """U(-a, a) with a = gain sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio 2010). ValueError below 2 dims.

    Of a weight (out, in, *kernel) fan_in is in times the size of the kernel, fan_out out times that.

    >>> bool((gw.nn.init.xavier_uniform_(gw.empty(3, 3)).abs() <= 1).all())
    True
    """
    a = gain * math.sqrt(6 / (sum(_fans(tensor)) or 1))
    return uniform_(tensor, -a, a, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """N(0, gain**2 * 2 / (fan_in + fan_out)) (Glorot and Bengio 2010). ValueError below 2 dims.

    The fans are those of `xavier_uniform_`.

    >>> gw.nn.init.xavier_normal_(gw.empty(3, 5)).shape
    torch.Size([3, 5])
    """
    return normal_(tensor, 0.0, gain * math.sqrt(2 / (sum(_fans(tensor)) or 1)), generator)


def _kaiming(tensor: Any, a: float, mode: str, nonlinearity: str) -> float:
    """The standard deviation that keeps the variance; 0 of a tensor without elements."""
    if 0 in tensor.shape:
        warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
        return 0.0
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']")
    fan = _fans(tensor)[mode.lower() == "fan_out"]
    return calculate_gain(nonlinearity, a) / math.sqrt(fan)


def kaiming_uniform_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                     generator: Generator | None = None) -> Tensor:  # fmt: skip
    """U(-b, b) with b = gain sqrt(3 / fan) (He et al. 2015).

    Args:
        tensor: the weight.
        a: the slope of a leaky_relu for negative numbers.
        mode: "fan_in" to keep the variance on the way forward, "fan_out" on the way back.
        nonlinearity: what follows; see `calculate_gain`.
        generator: what draws.

    Raises ValueError below 2 dims, for another mode or nonlinearity.

    >>> w = gw.nn.init.kaiming_uniform_(gw.empty(4, 6), nonlinearity="relu")
    >>> bool((w.abs() <= 1).all())
    True
    """
    bound = math.sqrt(3) * _kaiming(tensor, a, mode, nonlinearity)
    return uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(tensor: Tensor, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu",
                    generator: Generator | None = None) -> Tensor:  # fmt: skip
    """N(0, gain**2 / fan) (He et al. 2015); arguments and errors are those of `kaiming_uniform_`.

    >>> gw.nn.init.kaiming_normal_(gw.empty(4, 6), mode="fan_out").shape
    torch.Size([4, 6])
    """
    return normal_(tensor, 0.0, _kaiming(tensor, a, mode, nonlinearity), generator)


@no_grad()
def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """``gain`` times a random (semi-)orthogonal matrix, of the dims after the first taken as one (Saxe et al. 2013).

    ValueError below 2 dims.

    >>> w = gw.nn.init.orthogonal_(gw.empty(2, 3))
    >>> bool(gw.allclose(w @ w.T, gw.eye(2), atol=1e-6))
    True
    """
    if tensor.dim() < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    shape = max(rows, columns), min(rows, columns)
    flat = random.randn(shape, dtype=tensor.dtype, device=tensor.device, generator=generator)
    q, r = linalg.qr(flat)
    q = q * r.diagonal().sgn()  # else the distribution would not be uniform
    return tensor.copy_((q if rows >= columns else q.mT).reshape(tensor.shape) * gain)


@no_grad()
def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """N(0, std**2), but 0 at random places: a fraction ``sparsity``, rounded up, of each column (Martens 2010).

    ValueError unless there are 2 dims.

    >>> (gw.nn.init.sparse_(gw.empty(10, 2), 0.25) == 0).sum(0)
    tensor([3, 3])
    """
    if tensor.dim() != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    normal_(tensor, 0.0, std, generator)
    for k in range(columns):
        tensor[random.randperm(rows, device=tensor.device, generator=generator)[: math.ceil(sparsity * rows)], k] = 0
    return tensor


F = TypeVar("F", bound=Callable[..., Any])


def _deprecated(fill: F) -> F:
    name = fill.__name__.rstrip("_")

    @functools.wraps(fill)
    def deprecated(*args: Any, **kwargs: Any) -> Any:
        text = f"`nn.init.{name}` is now deprecated in favor of `nn.init.{name}_`."
        warnings.warn(text, FutureWarning, stacklevel=2)
        return fill(*args, **kwargs)

    deprecated.__name__ = name
    deprecated.__doc__ = f"`{fill.__name__}` under its old name, with a FutureWarning."
    return deprecated  # type: ignore[return-value]


uniform, normal, constant = _deprecated(uniform_), _deprecated(normal_), _deprecated(constant_)
eye, dirac, orthogonal, sparse = _deprecated(eye_), _deprecated(dirac_), _deprecated(orthogonal_), _deprecated(sparse_)
xavier_uniform, xavier_normal = _deprecated(xavier_uniform_), _deprecated(xavier_normal_)
kaiming_uniform, kaiming_normal = _deprecated(kaiming_uniform_), _deprecated(kaiming_normal_)

findable(__name__)
