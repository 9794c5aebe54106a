"""Entries whose callable is not found by name: entry name -> a function that returns gradwright's, or None.

Everything here is looked up when it is asked for, so that what gradwright lacks is missing and not an error.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import gradwright


def _method(name: str) -> Callable[[], Any]:
    return lambda: getattr(gradwright.Tensor, name, None)


def _max_pool2d_backward(x: Any, kernel_size: Any = (), stride: Any = (), dilation: Any = 1, padding: Any = 0,
                         ceil_mode: bool = False, **_: Any) -> Any:  # fmt: skip
    """The database's own wrapper of the operation: what comes back for ones."""
    y, places = gradwright.nn.functional.max_pool2d(x, kernel_size, stride, padding, dilation, ceil_mode, True)
    f = importlib.import_module("gradwright.nn.functional.aten").max_pool2d_with_indices_backward
    return f(gradwright.ones_like(y), x, kernel_size, stride, padding, dilation, ceil_mode, places)


CALLABLES: dict[str, Callable[[], Any]] = {
    # The database calls these as methods; gradwright's name of the same name, if any, is a dtype or something else.
    **{name: _method(name) for name in ("cdouble", "cfloat")},
    "max_pool2d_with_indices_backward": lambda: _max_pool2d_backward,
    "native_dropout_backward": lambda: importlib.import_module("gradwright.nn.functional.top").native_dropout_backward,
    "slice": lambda: getattr(importlib.import_module("gradwright.face.functions.views"), "slice_view", None),
}
"""By the entry's name without its variant."""

EMPTY = ("empty", "empty_like", "new_empty", "empty_permuted", "empty_strided", "new_empty_strided")
"""Results that nobody initialised: only their shape and dtype are compared."""

ROUGH = (
    "_softmax_backward_data", "complex", "grid_sampler_2d", "grid_sampler_3d", "matrix_exp",
    "nn.functional.grid_sample",
    "nn.functional.scaled_dot_product_attention", "nn.functional.soft_margin_loss", "view_as_complex",
)  # fmt: skip
"""Not compared in float16 and bfloat16: PyTorch rounds or overflows on the way, or gives complex32."""

TIES = ("sort", "topk", "kthvalue", "median", "nanmedian", "mode", "cummax", "cummin", "max", "min")
"""Values with the indices they were found at: among equal values PyTorch promises none, so that only the values are
compared where many are equal (int64, bool, and the halves)."""
