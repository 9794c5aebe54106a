"""``FloatTensor``, ``LongTensor`` and their family: constructors of a dtype, and types to ask for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gradwright.base import dtypes
from gradwright.engine.base import TensorBase
from gradwright.face import creation

TYPES = {word: name for name, word in dtypes.LEGACY.items()}


class _OfDtype(type):
    """The class of `FloatTensor` and the like: every tensor of that dtype is an instance."""

    dtype: Any

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, TensorBase) and instance.dtype is cls.dtype  # type: ignore[attr-defined]


def _typed(word: str, name: str) -> Any:
    dtype = dtypes.of(name)

    def new(cls: Any, *args: Any, device: Any = None) -> Any:
        if len(args) == 1 and not isinstance(args[0], int | dtypes.Size):
            if isinstance(args[0], TensorBase) and args[0].dtype is not dtype:  # type: ignore[attr-defined]
                raise TypeError(f"torch.{word}(): expected a tensor of {dtype}, but got one of {args[0].dtype}: "  # type: ignore[attr-defined]
                                f"convert it with .to({dtype})")  # fmt: skip
            return creation.new(args[0], dtype, device)
        return creation.zeros(*args or (0,), dtype=dtype, device=device)

    about = f"""A tensor of {name}: ``{word}(2, 3)`` of a size, ``{word}([1, 2])`` of values. Each such is an instance.

    Raises TypeError for a tensor of another dtype.

    >>> gw.{word}([1, 2]).dtype, isinstance(gw.zeros(2, dtype=gw.{name}), gw.{word})
    (torch.{name}, True)
    """
    return _OfDtype(word, (), {"__new__": new, "dtype": dtype, "__doc__": about, "__module__": "torch"})


if TYPE_CHECKING:
    from gradwright.face.typing import Tensor as BFloat16Tensor
    from gradwright.face.typing import Tensor as BoolTensor
    from gradwright.face.typing import Tensor as ByteTensor
    from gradwright.face.typing import Tensor as CharTensor
    from gradwright.face.typing import Tensor as DoubleTensor
    from gradwright.face.typing import Tensor as FloatTensor
    from gradwright.face.typing import Tensor as HalfTensor
    from gradwright.face.typing import Tensor as IntTensor
    from gradwright.face.typing import Tensor as LongTensor
    from gradwright.face.typing import Tensor as ShortTensor
else:
    FloatTensor, DoubleTensor, HalfTensor, BFloat16Tensor, LongTensor, IntTensor, ShortTensor, CharTensor, ByteTensor, \
        BoolTensor = (_typed(word, TYPES[word]) for word in (
            "FloatTensor", "DoubleTensor", "HalfTensor", "BFloat16Tensor", "LongTensor", "IntTensor", "ShortTensor",
            "CharTensor", "ByteTensor", "BoolTensor",
        ))  # fmt: skip
