"""``torch.sin_(x)`` and the like: functions that write their result into their first argument, as its methods do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradwright.base.errors import no_tensor
from gradwright.engine.base import TensorBase
from gradwright.face.reference import attach, texts
from gradwright.face.tensor import Tensor

NAMES = [*texts("in_place")]


def _written(name: str) -> Callable[..., Any]:
    method = getattr(Tensor, name)

    def call(input: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(input, TensorBase):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {no_tensor(input)}")
        return method(input, *args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = method.__doc__ and method.__doc__.partition("\n\n>>> ")[0]
    vars(call)["__wrapped__"] = method  # whose signature it has
    return call


globals().update({name: _written(name) for name in NAMES})
attach(globals(), "in_place")
