"""Normalisation layers: over a batch, one instance, a layer, groups of channels, neighbouring channels."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from gradwright.base import dtypes
from gradwright.base.source_line import warn
from gradwright.face import creation
from gradwright.face.tensor import Tensor
from gradwright.nn import functional as F
from gradwright.nn import init
from gradwright.nn.layer import layer
from gradwright.nn.modules.applied import Applied, Dimensional
from gradwright.nn.modules.parametric import Parametric, check_whole
from gradwright.nn.parameter import Parameter

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType

__all__ = [
    "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d",
    "LayerNorm", "RMSNorm", "GroupNorm", "LocalResponseNorm", "CrossMapLRN2d",
]  # fmt: skip


class _Affine(Parametric):
    """A normalisation followed by weight y + bias: 1 and 0 to begin with, or None where there is none."""

    weight: Parameter | Any
    bias: Parameter | Any

    def _scale(self, affine: bool, bias: bool, device: DeviceLike, dtype: DType) -> None:
        self._allocate(device, dtype, () if affine and bias else ("bias",) if affine else ("weight", "bias"))

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0."""
        for name, fill in (("weight", init.ones_), ("bias", init.zeros_)):
            parameter = self._parameters.get(name)
            if parameter is not None:
                fill(parameter)


class _Channels(Dimensional, _Affine):
    """What batch and instance normalisation share: a number of channels, and their running statistics."""

    _version = 2
    _ndims: ClassVar[tuple[int, ...]]
    """How many dims an input may have."""
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, device: DeviceLike = None, dtype: DType = None, *, bias: bool = True
                 ) -> None:  # fmt: skip
        super().__init__()
        if affine or track_running_stats:
            check_whole(self, num_features=num_features)
        self.num_features, self.eps, self.momentum = num_features, eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        own: dict[str, Any] = dict.fromkeys(("running_mean", "running_var", "num_batches_tracked"))
        if track_running_stats:
            own = {"running_mean": creation.zeros(num_features, device=device, dtype=dtype),
                   "running_var": creation.ones(num_features, device=device, dtype=dtype),
                   "num_batches_tracked": creation.tensor(0, device=device, dtype=dtypes.int64)}  # fmt: skip
        for name, buffer in own.items():
            self.register_buffer(name, buffer)
        self._scale(affine, bias, device, dtype)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.num_features,), "bias": (self.num_features,)}

    def reset_running_stats(self) -> None:
        """Set the running mean to 0, the running variance to 1 and the number of batches to 0, if there are any."""
        if self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Set the weight to 1 and the bias to 0, and begin the running statistics anew."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim not in self._ndims:
            expected = " or ".join(f"{n}D" for n in self._ndims)
            raise ValueError(f"expected {expected} input (got {input.ndim}D input)")

    def _bring_up_to_date(self, state_dict: dict[str, Any], prefix: str, version: int | None) -> None:
        if (version is None or version < 2) and self.num_batches_tracked is not None:  # they were not counted then
            state_dict.setdefault(f"{prefix}num_batches_tracked", self.num_batches_tracked)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )

    def _takes(self) -> str:
        shapes = {2: "N, {}", 3: "N, {}, L", 4: "N, {}, H, W", 5: "N, {}, D, H, W"}
        return " or ".join(f"({shapes[n]})".format(self.num_features) for n in self._ndims if n in shapes)


class _BatchNorm(_Channels):
    _about = """
    y = (x - mean) / sqrt(var + eps) * weight + bias, with mean and variance (over n) of this batch. In evaluation,
    with the running ones, which in training move the fraction ``momentum`` of the way to those of the batch (the
    variance over n - 1).

    Args:
        num_features: C.
        eps: added to the variance.
        momentum: see above; None for the average over all batches.
        affine: whether there are weight and bias.
        track_running_stats: whether there are running statistics; without, the batch's are used in evaluation, too.
        device: where parameters and buffers live.
        dtype: their dtype; the default one (float32) if None.
        bias: whether there is a bias beside the weight.

    Attributes: ``weight`` and ``bias`` (C,), 1 and 0 to begin with; buffers ``running_mean`` and ``running_var`` (C,)
    and ``num_batches_tracked``.

    Raises ValueError for another number of dims, or for a single value per channel in training; RuntimeError for
    another number of channels.

    >>> layer = gw.nn.BatchNorm{n}d(2)
    >>> layer
    BatchNorm{n}d(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    >>> layer(gw.tensor([[1.0, 0.0], [3.0, 8.0]]).reshape(2, 2, {ones})).detach().flatten()
    tensor([-1.0000, -1.0000,  1.0000,  1.0000])
    >>> layer.running_mean
    tensor([0.2000, 0.4000])
    """

    def forward(self, input: Tensor) -> Tensor:
        """``input`` (N, num_features, *size), each channel with mean 0 and variance 1, then weight y + bias."""
        self._check_input_dim(input)
        tracks = self.training and self.track_running_stats
        momentum: Any = 0.0 if self.momentum is None else self.momentum
        if tracks and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / self.num_batches_tracked.to(dtypes.float64)
        mean, var = self.running_mean, self.running_var
        by_batch = self.training or (mean is None and var is None)
        if by_batch and not tracks:
            mean = var = None
        return F.batch_norm(input, mean, var, self.weight, self.bias, by_batch, momentum, self.eps)


class BatchNorm1d(_BatchNorm, axes=1):
    """Each channel of signals, (N, C, L) or (N, C), brought to mean 0 and variance 1 over the others."""

    _ndims = (2, 3)


class BatchNorm2d(_BatchNorm, axes=2):
    """Each channel of images, (N, C, H, W), brought to mean 0 and variance 1 over the others."""

    _ndims = (4,)


class BatchNorm3d(_BatchNorm, axes=3):
    """Each channel of volumes, (N, C, D, H, W), brought to mean 0 and variance 1 over the others."""

    _ndims = (5,)


class SyncBatchNorm(_BatchNorm):
    """`BatchNorm1d` of any number of dims from 2 on, which in PyTorch takes the batches of all processes for one.

    In one process that is the same. Where several compute together, training with it raises RuntimeError.

    >>> SyncBatchNorm.convert_sync_batchnorm(gw.nn.Sequential(gw.nn.BatchNorm2d(2)))[0]
    SyncBatchNorm(2, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    _ndims = (2, 3, 4, 5)

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
                 track_running_stats: bool = True, process_group: Any = None, device: DeviceLike = None,
                 dtype: DType = None,
                 *, bias: bool = True) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.ndim < 2:
            raise ValueError(f"expected at least 2D input (got {input.ndim}D input)")
        session = sys.modules.get("gradwright.distributed.session")
        if self.training and session is not None and session.get_world_size() > 1:
            raise RuntimeError("SyncBatchNorm: the batches of several processes are not taken for one: use a layer "
                               "that needs none, such as GroupNorm, or BatchNorm, of each process alone")  # fmt: skip

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """``module``, with a layer of this class, with the same parameters and buffers, for each `BatchNorm` in it."""
        for name, child in module.named_children():
            setattr(module, name, cls.convert_sync_batchnorm(child, process_group))
        if not isinstance(module, _BatchNorm):
            return module
        new = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats,
                  process_group, bias=module.bias is not None)  # fmt: skip
        new._parameters.update(module._parameters)
        new._buffers.update(module._buffers)
        new.training = module.training
        return new


class _InstanceNorm(_Channels):
    _about = """
    (N, C, {size}) or (C, {size}), then weight y + bias. The arguments are those of `BatchNorm{n}d`; there are
    parameters and running statistics only if asked for. Without parameters any number of channels will do.

    Raises ValueError for another number of dims or channels, or for a single value per channel.

    >>> gw.nn.InstanceNorm{n}d(1)(gw.tensor([1.0, 3.0]).expand(1, 1, {twos})).flatten()[:2]
    tensor([-1.0000,  1.0000])
    """

    def __init__(self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = False,
                 track_running_stats: bool = False, device: DeviceLike = None, dtype: DType = None, *, bias: bool = True
                 ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def forward(self, input: Tensor) -> Tensor:
        """``input`` (N, num_features, *size) or without N, each channel of each instance with mean 0 and variance 1."""
        self._check_input_dim(input)
        single = input.ndim == self._ndims[0]
        dim = 0 if single else 1
        channels = input.shape[dim]
        if channels != self.num_features:
            if self.affine:
                raise ValueError(f"expected input's size at dim={dim} to match num_features ({self.num_features}), but "
                                 f"got: {channels}.")  # fmt: skip
            warn(f"input's size at dim={dim} does not match num_features, which is not used because affine=False: it "
                 f"is {channels}, not {self.num_features}")  # fmt: skip
        y = F.instance_norm(
            input.unsqueeze(0) if single else input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps,
        )  # fmt: skip
        return y.squeeze(0) if single else y


class InstanceNorm1d(_InstanceNorm, axes=1):
    """Each channel of each signal brought to mean 0 and variance 1."""

    _ndims = (2, 3)


class InstanceNorm2d(_InstanceNorm, axes=2):
    """Each channel of each image brought to mean 0 and variance 1."""

    _ndims = (3, 4)


class InstanceNorm3d(_InstanceNorm, axes=3):
    """Each channel of each volume brought to mean 0 and variance 1."""

    _ndims = (4, 5)


class _Trailing(_Affine):
    """What the normalisations over the last dims share."""

    normalized_shape: tuple[int, ...]
    eps: float | None
    elementwise_affine: bool

    def _set(self, normalized_shape: int | Sequence[int], eps: float | None, elementwise_affine: bool) -> None:
        given = tuple(normalized_shape) if isinstance(normalized_shape, Iterable) else (normalized_shape,)
        for size in given:
            check_whole(self, normalized_shape=size)
        self.normalized_shape, self.eps, self.elementwise_affine = given, eps, elementwise_affine

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"

    def _takes(self) -> str:
        return f"(..., {', '.join(map(str, self.normalized_shape))})"


class LayerNorm(_Trailing):
    """The last dims brought to mean 0 and variance 1, then weight y + bias: (..., *normalized_shape).

    Args:
        normalized_shape: the sizes of these dims; one number for the last.
        eps: added to the variance.
        elementwise_affine: whether there are weight and bias, of shape ``normalized_shape``, 1 and 0 to begin with.
        bias: whether there is a bias beside the weight.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.

    Raises RuntimeError for an input of other sizes.

    >>> LayerNorm(2)(gw.tensor([[1.0, 3.0], [0.0, 8.0]])).detach()
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """

    def __init__(self, normalized_shape: int | Sequence[int], eps: float = 1e-5, elementwise_affine: bool = True,
                 bias: bool = True, device: DeviceLike = None, dtype: DType = None) -> None:  # fmt: skip
        super().__init__()
        self._set(normalized_shape, eps, elementwise_affine)
        self._scale(elementwise_affine, bias, device, dtype)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": self.normalized_shape, "bias": self.normalized_shape}

    def forward(self, input: Tensor) -> Tensor:
        """`functional.layer_norm` of ``input``."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps or 0.0)

    def extra_repr(self) -> str:
        return f"{super().extra_repr()}, bias={self.bias is not None}"


class RMSNorm(_Trailing):
    """x / sqrt(mean x**2 + eps) over the last dims, times weight: (..., *normalized_shape).

    Args:
        normalized_shape: the sizes of these dims; one number for the last.
        eps: added to the mean of squares; the spacing of the dtype at 1 if it is None.
        elementwise_affine: whether there is a weight, of shape ``normalized_shape``, 1 to begin with.
        device: where it lives.
        dtype: its dtype; the default one (float32) if None.

    Raises RuntimeError for an input of other sizes.

    >>> RMSNorm(2)(gw.tensor([[1.0, 1.0], [0.0, 8.0]])).detach()
    tensor([[1.0000, 1.0000],
            [0.0000, 1.4142]])
    """

    def __init__(self, normalized_shape: int | Sequence[int], eps: float | None = None,
                 elementwise_affine: bool = True, device: DeviceLike = None, dtype: DType = None) -> None:  # fmt: skip
        super().__init__()
        self._set(normalized_shape, eps, elementwise_affine)
        self._allocate(device, dtype, () if elementwise_affine else ("weight",))

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": self.normalized_shape}

    def forward(self, input: Tensor) -> Tensor:
        """`functional.rms_norm` of ``input``."""
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)


class GroupNorm(_Affine):
    """Each group of channels of each instance brought to mean 0 and variance 1, then weight y + bias: (N, C, *).

    Args:
        num_groups: into how many the channels are divided.
        num_channels: C.
        eps: added to the variance.
        affine: whether there are weight and bias (C,), 1 and 0 to begin with.
        device: where the parameters live.
        dtype: their dtype; the default one (float32) if None.
        bias: whether there is a bias beside the weight.

    Raises ValueError unless the channels divide into groups; called, RuntimeError for another number of them.

    >>> GroupNorm(2, 4)(gw.tensor([[1.0, 3.0, 0.0, 8.0]])).detach()
    tensor([[-1.0000,  1.0000, -1.0000,  1.0000]])
    """

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True,
                 device: DeviceLike = None, dtype: DType = None, *, bias: bool = True) -> None:  # fmt: skip
        super().__init__()
        check_whole(self, num_groups=num_groups, num_channels=num_channels)
        if num_channels % num_groups:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups, self.num_channels, self.eps, self.affine = num_groups, num_channels, eps, affine
        self._scale(affine, bias, device, dtype)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.num_channels,), "bias": (self.num_channels,)}

    def forward(self, input: Tensor) -> Tensor:
        """`functional.group_norm` of ``input``."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


@layer
class LocalResponseNorm(Applied, function=F.local_response_norm):
    """x / (k + alpha m)**beta, m the mean of x**2 over ``size`` neighbouring channels: (N, C, *)."""

    size: int
    alpha: float = 1e-4
    beta: float = 0.75
    k: float = 1.0

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


@layer
class CrossMapLRN2d(LocalResponseNorm):
    """x / (k + alpha / size * sum x**2)**beta, summed over the (size - 1) // 2 channels on either side: (N, C, H, W).

    PyTorch's sum at the channel ``(size + 1) // 2`` has channel 0 in it, too; this one has not.

    Raises ValueError for another number of dims.

    >>> CrossMapLRN2d(1, alpha=3.0, beta=0.5)(gw.ones(1, 1, 1, 2))
    tensor([[[[0.5000, 0.5000]]]])
    """

    k: float = 1

    def forward(self, input: Tensor) -> Tensor:
        """``input`` (N, C, H, W), each entry divided by what stands around it in other channels."""
        if input.ndim != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.ndim}D instead.")
        odd = (self.size + 1) // 2 * 2 - 1
        return F.local_response_norm(input, odd, self.alpha * odd / self.size, self.beta, self.k)
