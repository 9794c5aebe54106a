"""einops on Tensors: the backend it asks for, told to it when it is imported.

einops finds a backend among the subclasses of its own `AbstractBackend`, which exists only once it has been imported;
so a finder waits for that import, steps aside, and adds the subclass afterwards.
"""

from __future__ import annotations

import importlib.util
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

import numpy as np

from gradwright.engine.base import TensorBase, wrap
from gradwright.face.functions import join, reduce, shape
from gradwright.face.functions.algebra import einsum

_MODULE = "einops._backends"


def teach(backends: ModuleType) -> None:
    """Add Tensors to the types that einops knows, given its module of backends."""

    class GradwrightBackend(backends.AbstractBackend):  # type: ignore[name-defined]
        framework_name = "gradwright"

        def is_appropriate_type(self, tensor: Any) -> bool:
            return isinstance(tensor, TensorBase)

        def from_numpy(self, x: Any) -> Any:
            return wrap(x)

        def to_numpy(self, x: Any) -> Any:
            return x.detach().numpy()

        def arange(self, start: int, stop: int) -> Any:
            return wrap(np.arange(start, stop))

        def reduce(self, x: Any, operation: str, reduced_axes: tuple[int, ...]) -> Any:
            return _REDUCTIONS[operation](x, tuple(reduced_axes))

        def transpose(self, x: Any, axes: tuple[int, ...]) -> Any:
            return shape.permute(x, axes)

        def stack_on_zeroth_dimension(self, tensors: list[Any]) -> Any:
            return join.stack(tensors)

        def add_axis(self, x: Any, new_position: int) -> Any:
            return shape.unsqueeze(x, new_position)

        def tile(self, x: Any, repeats: tuple[int, ...]) -> Any:
            return x.repeat(repeats)

        def add_axes(self, x: Any, n_axes: int, pos2len: dict[int, int]) -> Any:
            for at in sorted(pos2len):
                x = shape.unsqueeze(x, at)
            return shape.expand(x, *(pos2len.get(i, -1) for i in range(n_axes)))

        def concat(self, tensors: list[Any], axis: int) -> Any:
            return join.cat(tensors, axis)

        def is_float_type(self, x: Any) -> bool:
            return x.is_floating_point()

        def einsum(self, pattern: str, *x: Any) -> Any:
            return einsum.einsum(pattern, *x)

    backends.GradwrightBackend = GradwrightBackend  # type: ignore[attr-defined]  # classes keep no hold on subclasses


_REDUCTIONS: dict[str, Any] = {
    "min": reduce.amin, "max": reduce.amax, "sum": reduce.sum, "mean": reduce.mean, "prod": reduce.prod,
    "any": reduce.any, "all": reduce.all,
}  # fmt: skip


class _Awaiting(MetaPathFinder, Loader):
    """Lets einops's module of backends be imported as it is, then teaches it."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if fullname != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            self._loader, spec.loader = spec.loader, self
        return spec

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        teach(module)


def await_einops() -> None:
    """Teach einops about Tensors, now or when it is imported."""
    if _MODULE in sys.modules:
        teach(sys.modules[_MODULE])
    else:
        sys.meta_path.insert(0, _Awaiting())
