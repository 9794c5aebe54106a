"""`functionalize` and `debug_unwrap`: what PyTorch's tracers need, where operations are functions anyway."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from gradwright.engine.base import TensorBase
from gradwright.engine.levels import LevelArray
from gradwright.transform.arguments import like, mapped

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor

F = TypeVar("F", bound=Callable[..., Any])


def functionalize(func: F, *, remove: str = "mutations") -> F:
    """``func``, for programs that say this before they transform it.

    A write in place is recorded as an operation that makes new values, and each transform knows what it writes to, so
    ``func`` runs as it is, and what it writes to its arguments is written. With ``remove="mutations_and_views"`` what
    it returns shares memory with nothing.

    Raises RuntimeError for another ``remove``.

    >>> gw.func.functionalize(lambda x: x.clone().mul_(2))(gw.ones(2))
    tensor([2., 2.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. Valid options are: "
            "remove='mutations' and remove='mutations_and_views'."
        )

    @like(func)
    def functional(*args: Any, **kwargs: Any) -> Any:
        out = func(*args, **kwargs)
        return out if remove == "mutations" else mapped(_without_view, out)

    return functional  # type: ignore[return-value]


def _without_view(t: Any) -> Any:
    return t if t._view is None else t.clone()


def debug_unwrap(tensor: Tensor, *, recurse: bool = True) -> Tensor:
    """The tensor that one of a transform stands for: its value, or its whole batch; to look at, not to compute with.

    Of all transforms that it belongs to, or, unless ``recurse``, of the innermost alone. Any other is returned itself.
    """
    while isinstance(tensor, TensorBase) and isinstance(tensor.array, LevelArray):
        tensor = tensor.array.tensor
        if not recurse:
            break
    return tensor
