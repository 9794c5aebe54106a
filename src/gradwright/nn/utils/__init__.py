"""Helpers around modules: gradients clipped, parameters as one vector or computed from others, sequences packed."""

from gradwright.base.lazy import lazy
from gradwright.nn.utils import clip_grad, convert_parameters, parametrizations, parametrize, rnn
from gradwright.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from gradwright.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from gradwright.nn.utils.finite import stop_at_nan
from gradwright.nn.utils.fusion import (
    fuse_conv_bn_eval,
    fuse_conv_bn_weights,
    fuse_linear_bn_eval,
    fuse_linear_bn_weights,
)
from gradwright.nn.utils.memory_format import (
    convert_conv2d_weight_memory_format,
    convert_conv3d_weight_memory_format,
)
from gradwright.nn.utils.skip import skip_init
from gradwright.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from gradwright.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad", "convert_parameters", "parametrizations", "parametrize", "rnn",
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm",
    "parameters_to_vector", "vector_to_parameters", "skip_init", "stop_at_nan",
    "convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval", "fuse_conv_bn_weights", "fuse_linear_bn_eval", "fuse_linear_bn_weights",
    "remove_spectral_norm", "remove_weight_norm", "spectral_norm", "weight_norm",
]  # fmt: skip

lazy(__name__, {"gradwright.nn.utils.prune": "prune"}, "fusion")
