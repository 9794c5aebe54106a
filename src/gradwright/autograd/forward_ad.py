"""Forward mode by hand: PyTorch's ``torch.autograd.forward_ad``."""

from gradwright.base.lazy import lazy
from gradwright.transform.forward_ad import (
    UnpackedDualTensor,
    _is_fwd_grad_enabled,
    _set_fwd_grad_enabled,
    dual_level,
    enter_dual_level,
    exit_dual_level,
    make_dual,
    unpack_dual,
)  # fmt: skip

__all__ = [
    "UnpackedDualTensor", "_is_fwd_grad_enabled", "_set_fwd_grad_enabled", "dual_level", "enter_dual_level",
    "exit_dual_level", "make_dual", "unpack_dual",
]  # fmt: skip

lazy(__name__)
