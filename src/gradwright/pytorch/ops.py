"""``torch.ops``: the operations that `gradwright.pytorch.library.custom_op` has made, by namespace."""

from __future__ import annotations

from typing import Any

from gradwright.base.absent import Absent
from gradwright.pytorch.library import Namespace

load_library = Absent("torch.ops.load_library", "it is a library of PyTorch's C++ extensions: build its source with "
                      "gradwright.utils.cpp_extension")  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.startswith(("__", "pytest")):
        raise AttributeError(f"gradwright has no torch.ops.{name}", name=name)
    return Namespace(name)
