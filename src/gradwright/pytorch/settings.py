"""Settings of PyTorch's that choose between ways to the same numbers: they can be set and asked, and change nothing."""

from __future__ import annotations

import os
from typing import Any

from gradwright.backends import devices
from gradwright.base import dtypes
from gradwright.face.reference import attach

__all__ = [
    "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode", "get_float32_matmul_precision",
    "get_num_interop_threads", "get_num_threads", "is_deterministic_algorithms_warn_only_enabled",
    "is_warn_always_enabled", "set_default_tensor_type", "set_deterministic_debug_mode", "set_flush_denormal",
    "set_float32_matmul_precision", "set_num_interop_threads", "set_num_threads", "set_warn_always",
    "use_deterministic_algorithms",
]  # fmt: skip

_PRECISIONS = ("highest", "high", "medium")
_MODES = ("default", "warn", "error")
_now: dict[str, Any] = {"threads": None, "interop": None, "deterministic": 0, "precision": "highest", "warn": False}


def _count(function: str, n: Any) -> int:
    if isinstance(n, bool) or not isinstance(n, int):
        raise TypeError(f"{function} expects an int, but got {type(n).__name__}")
    if n <= 0:
        raise RuntimeError(f"{function} expects a positive integer")
    return n


def get_num_threads() -> int:
    """What `set_num_threads` has set, or OMP_NUM_THREADS, or how many processors there are."""
    told = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return _now["threads"] or (int(told) if told.isdecimal() else 0) or os.cpu_count() or 1


def set_num_threads(n: int) -> None:
    """What `get_num_threads` says: how many threads NumPy's BLAS has is decided by OMP_NUM_THREADS before it starts."""
    _now["threads"] = _count("set_num_threads", n)


def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` has set, or how many processors there are."""
    return _now["interop"] or os.cpu_count() or 1


def set_num_interop_threads(n: int) -> None:
    """What `get_num_interop_threads` says; operations run one after the other."""
    _now["interop"] = _count("set_num_interop_threads", n)


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """What `are_deterministic_algorithms_enabled` says: operations give the same numbers at each call anyway."""
    _now["deterministic"] = (1 if warn_only else 2) if mode else 0


def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms` has been asked for."""
    return _now["deterministic"] > 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it has been asked for with ``warn_only``."""
    return bool(_now["deterministic"] == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: what `set_deterministic_debug_mode` has set."""
    return int(_now["deterministic"])


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """0 or "default", 1 or "warn", 2 or "error": see `use_deterministic_algorithms`."""
    known = debug_mode in _MODES or debug_mode in range(3)
    if not known:
        raise RuntimeError(f"invalid value of debug_mode, expected one of {_MODES} or 0, 1, 2, but got {debug_mode!r}")
    _now["deterministic"] = _MODES.index(debug_mode) if isinstance(debug_mode, str) else debug_mode


def get_float32_matmul_precision() -> str:
    """What `set_float32_matmul_precision` has set."""
    return str(_now["precision"])


def set_float32_matmul_precision(precision: str) -> None:
    """What `get_float32_matmul_precision` says; products of float32 are computed in float32, always."""
    if precision not in _PRECISIONS:
        raise RuntimeError(f"set_float32_matmul_precision: expected one of {_PRECISIONS}, but got {precision!r}")
    _now["precision"] = precision


def set_flush_denormal(mode: bool) -> bool:
    """False: numbers below the normal ones are kept."""
    return False


def set_warn_always(b: bool) -> None:
    """What `is_warn_always_enabled` says."""
    _now["warn"] = bool(b)


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` has set."""
    return bool(_now["warn"])


def set_default_tensor_type(t: Any) -> None:
    """Make the dtype of a typed class, such as ``FloatTensor`` or "torch.DoubleTensor", the default one."""
    name = t if isinstance(t, str) else f"{t.__module__}.{t.__name__}"
    if ".cuda." in name:
        devices.set_default_device(devices.cuda())  # or says that there is none
    wanted = {word: known for known, word in dtypes.LEGACY.items()}.get(name.rpartition(".")[2])
    if wanted is None or not dtypes.of(wanted).is_floating_point:
        raise TypeError(f"only floating-point types are supported as the default type, but got {name}")
    dtypes.set_default(dtypes.of(wanted))


attach(globals(), "pytorch")
