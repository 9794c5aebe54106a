"""Helpers around modules: gradients clipped, parameters as one vector or computed from others, sequences packed."""

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
from gradwright.nn.utils.skip import skip_init

__all__ = [
    "clip_grad", "convert_parameters", "parametrizations", "parametrize", "rnn",
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm",
    "parameters_to_vector", "vector_to_parameters", "skip_init", "stop_at_nan",
]  # fmt: skip
