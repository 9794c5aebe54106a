"""``torch.distributed``: it is not here, and the questions that programs ask first are answered so.

Several processes compute together by `gradwright.distributed`, whose names are others.
"""

from __future__ import annotations

from typing import Any

from gradwright.base.absent import Absent

_MEND = "processes compute together by gradwright.distributed, which is another thing; ask is_available() first"


def is_available() -> bool:
    """Whether several processes can compute together by PyTorch's names: no."""
    return False


is_initialized = is_nccl_available = is_gloo_available = is_mpi_available = is_ucc_available = is_available
is_torchelastic_launched = is_xccl_available = is_available


def __getattr__(name: str) -> Any:
    if name.startswith(("__", "pytest")):
        raise AttributeError(f"gradwright has no torch.distributed.{name} yet", name=name)
    return Absent(f"torch.distributed.{name}", _MEND)
