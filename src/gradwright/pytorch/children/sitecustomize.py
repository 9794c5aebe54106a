"""Run by Python as it starts, where this folder is in PYTHONPATH: ``import torch`` is gradwright's in this process.

`gradwright.pytorch.hook.serve` puts the folder there, for the processes that the program starts. Nothing of gradwright
is imported before torch is. Another ``sitecustomize`` that Python would have found is run as well.
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from typing import Any


class _Torch:
    """Leaves its place to gradwright's hook when torch is asked for; to PyTorch where there is no gradwright."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        if find_spec("gradwright") is None:
            return None
        from gradwright.pytorch import hook  # noqa: PLC0415 - most processes import no torch

        hook.serve()
        return find_spec(name)


def _run_the_other() -> None:
    here = Path(__file__).parent
    other = PathFinder.find_spec("sitecustomize", [p for p in sys.path if Path(p) != here])
    if other is not None and other.loader is not None:
        sys.modules["sitecustomize"] = module = module_from_spec(other)
        other.loader.exec_module(module)


sys.meta_path.insert(0, _Torch())
_run_the_other()
