"""PyTorch's databases: differentiable operations, modules and optimisers; their names, groups and samples."""

from __future__ import annotations

import fnmatch
import random
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
import torch

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.testing._internal.common_modules import ModuleInfo, module_db
    from torch.testing._internal.common_optimizers import OptimizerInfo, optim_db
    from torch.testing._internal.opinfo.core import BinaryUfuncInfo, ReductionOpInfo, UnaryUfuncInfo

GROUPS = (
    "elementwise", "reductions", "tensors", "nn.functional", "linalg", "special", "fft", "masked", "signal", "sparse",
    "internal", "modules", "optimizers",
)  # fmt: skip
"""``tensors``: top-level functions and methods that are neither elementwise nor reductions. ``internal``: what the
database holds of PyTorch's insides, `_segment_reduce` or `native_layer_norm`, that programs do not call."""

OPERATIONS = [o for o in op_db if o.supports_autograd and torch.float64 in o.backward_dtypes]
ENTRIES: list[Any] = [*OPERATIONS, *module_db, *optim_db]


def name_of(entry: Any) -> str:
    """The name of an entry, its variant included: ``div.floor_rounding``, ``nn.Linear``, ``optim.Adam``."""
    if isinstance(entry, (ModuleInfo, OptimizerInfo)):
        return entry.name if isinstance(entry, ModuleInfo) else f"optim.{entry.name}"
    return f"{entry.name}.{entry.variant_test_name}" if entry.variant_test_name else entry.name


def group_of(entry: Any) -> str:
    """The one of `GROUPS` that an entry belongs to."""
    if isinstance(entry, (ModuleInfo, OptimizerInfo)):
        return "modules" if isinstance(entry, ModuleInfo) else "optimizers"
    name = entry.name
    if name.startswith(("torch.ops.", "native_", "_native", "grid_sampler_")) or (name[0] == "_" and name[1] != "_"):
        return "internal"
    if name.startswith("nn.functional."):
        return "nn.functional"
    if "." in name:
        return name.partition(".")[0]
    if isinstance(entry, (UnaryUfuncInfo, BinaryUfuncInfo)):
        return "elementwise"
    return "reductions" if isinstance(entry, ReductionOpInfo) else "tensors"


def chosen(ops: Iterable[str] = (), groups: Iterable[str] = ()) -> list[Any]:
    """The entries with one of these names (patterns as in a shell, of the name with or without its variant) or groups.

    All of them if neither is given.
    """
    ops, groups = list(ops), list(groups)
    return [
        e
        for e in ENTRIES
        if (not ops or any(fnmatch.fnmatchcase(n, op) for op in ops for n in (e.name, name_of(e))))
        and (not groups or group_of(e) in groups)
    ]


def seed() -> None:
    """Start every source of random numbers anew, so that an entry has the same samples in every run."""
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 - the database draws from it


def samples(entry: Any, dtype: torch.dtype, count: int | None, requires_grad: bool = True) -> list[Any]:
    """Up to ``count`` samples of an entry (None: all), spread evenly over its list."""
    seed()
    found = list(entry.sample_inputs("cpu", dtype, requires_grad=requires_grad))
    if count is None or len(found) <= count:
        return found
    return [found[i] for i in np.unique(np.linspace(0, len(found) - 1, count).round().astype(int))]


def describe(sample: Any) -> str:
    """A sample in a line: shapes for tensors, values for the rest."""
    parts = [_brief(sample.input), *map(_brief, sample.args), *(f"{k}={_brief(v)}" for k, v in sample.kwargs.items())]
    line = ", ".join(parts)
    return f"({line if len(line) <= 110 else line[:107] + '...'})"


def _brief(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        kind = "" if value.dtype in (torch.float64, torch.float32) else str(value.dtype)[6:]
        return f"{kind}{[*value.shape]}" + ("" if value.layout is not torch.strided or value.is_contiguous() else "'")
    if isinstance(value, (list, tuple)):
        return f"({', '.join(map(_brief, value))})"
    return repr(value)
