"""``torch._C``: what programs ask the inside of PyTorch's C++ library, which is not here."""

from __future__ import annotations

from gradwright.backends.devices import get_default_device as _get_default_device
from gradwright.engine.mode import now
from gradwright.face.functions.memory_format import layout
from gradwright.face.linalg import LinAlgError as _LinAlgError
from gradwright.face.methods.subclasses import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    _disabled_torch_function_impl,
)
from gradwright.face.random import Generator
from gradwright.face.tensor import Tensor as TensorBase
from gradwright.pytorch.flags import no, nothing

__all__ = ["DisableTorchFunction", "DisableTorchFunctionSubclass", "Generator", "TensorBase", "_LinAlgError",
           "_are_functorch_transforms_active", "_disabled_torch_function_impl", "_get_default_device",
           "_get_tracing_state", "_is_tracing", "_log_api_usage_once", "layout"]  # fmt: skip


def _are_functorch_transforms_active() -> bool:
    """Whether a transform runs in which a tensor may be more than its numbers: forward mode or vmap.

    Inside `gradwright.func.grad` and `vjp` tensors are as outside: no, where PyTorch's are not and say yes.
    """
    return now().level is not None


_get_tracing_state = _log_api_usage_once = nothing
_is_tracing = no
