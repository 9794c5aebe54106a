"""Flags and questions of ``torch.backends`` and other modules: what each says where there is no such thing.

The flags may be set: each chooses between ways to the same numbers, none of which is taken here.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradwright.face import cuda
from gradwright.pytorch.private import _parse_to


def no(*_: Any, **__: Any) -> bool:
    """No: there is no such thing here."""
    return False


def nothing(*_: Any, **__: Any) -> None:
    """Nothing: there is nothing that it would be done to."""


def zero(*_: Any, **__: Any) -> int:
    """None: there are none."""
    return 0


@contextmanager
def flags(*_: Any, **__: Any) -> Iterator[None]:
    """A context without effect."""
    yield


class Matmul:
    """Flags of products on CUDA devices."""

    allow_tf32 = allow_fp16_reduced_precision_reduction = allow_bf16_reduced_precision_reduction = False
    fp32_precision = "none"


def _parallel() -> str:
    """How many threads there may be, in the words in which programs look for it."""
    return f"ATen/Parallel:\n\tat::get_num_threads() : {os.cpu_count() or 1}\n"


_LACKING = {"is_available": no, "is_built": no}
_DEVICE = {"is_available": no, "device_count": zero, "empty_cache": nothing, "synchronize": nothing,
           "manual_seed": nothing}  # fmt: skip
_CHOICES = ("flash", "mem_efficient", "math", "cudnn")

MODULES: dict[str, dict[str, Any]] = {
    "torch._C._nn": {"_parse_to": _parse_to},
    "torch.__config__": {"show": lambda: "gradwright on NumPy\n", "parallel_info": _parallel},
    "torch.accelerator": {"is_available": cuda.is_available, "device_count": cuda.device_count,
                          "current_accelerator": nothing, "synchronize": nothing},
    "torch.backends": {},
    "torch.backends.cpu": {"get_cpu_capability": lambda: "DEFAULT"},
    "torch.backends.cuda": {"is_built": no, "matmul": Matmul(), "sdp_kernel": flags,
                            "preferred_linalg_library": nothing}
    | {f"enable_{name}_sdp": nothing for name in _CHOICES}
    | {f"{name}_sdp_enabled": no for name in _CHOICES},
    "torch.backends.cudnn": dict.fromkeys(("benchmark", "deterministic", "enabled", "allow_tf32"), False)
    | {"is_available": no, "version": nothing, "flags": flags, "benchmark_limit": 10},
    "torch.backends.mkl": {"is_available": no},
    "torch.backends.mkldnn": {"is_available": no, "enabled": False, "flags": flags},
    "torch.backends.mps": _LACKING | {"is_macos_or_newer": no},
    "torch.backends.openmp": {"is_available": no},
    "torch.backends.opt_einsum": {"is_available": no, "enabled": False, "strategy": None},
    "torch.backends.quantized": {"engine": "none", "supported_engines": ["none"]},
    "torch.backends.xnnpack": {"enabled": False},
    "torch.cpu": {"is_available": lambda: True, "device_count": lambda: 1, "synchronize": nothing,
                  "current_device": lambda: "cpu"},
    "torch.cuda.nvtx": {"mark": nothing, "range": flags, "range_start": zero, "range_end": nothing,
                        "range_push": zero, "range_pop": zero},
    "torch.distributed": dict.fromkeys(("is_available", "is_initialized", "is_nccl_available", "is_gloo_available",
                                        "is_mpi_available", "is_ucc_available", "is_xccl_available",
                                        "is_torchelastic_launched"), no),
    "torch.distributed.rpc": {"is_available": no},
    "torch.mps": _DEVICE,
    "torch.mtia": _DEVICE | {"is_initialized": no, "manual_seed_all": nothing},
    "torch.xpu": _DEVICE | {"is_initialized": no, "manual_seed_all": nothing},
    "torch.onnx": {"is_in_onnx_export": no},
}  # fmt: skip
