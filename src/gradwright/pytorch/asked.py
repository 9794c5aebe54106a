"""Questions that are functions in PyTorch and methods here, and what PyTorch says about how it was built."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from gradwright.base import dtypes
from gradwright.base.errors import no_tensor
from gradwright.engine.base import TensorBase
from gradwright.face import creation
from gradwright.face.reference import attach
from gradwright.face.tensor import Tensor

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType, Question, Tensor

__all__ = [
    "compiled_with_cxx11_abi", "frombuffer", "get_device", "has_lapack", "has_mkl", "has_openmp", "has_spectral",
    "is_conj", "is_distributed", "is_inference", "is_neg", "is_same_size", "is_signed", "is_vulkan_available",
    "range", "typename",
]  # fmt: skip

has_lapack = has_spectral = True  # NumPy's
has_mkl = has_openmp = False


def _question(name: str) -> Callable[..., Any]:
    method = getattr(Tensor, name)

    def ask(input: Any, *args: Any) -> Any:
        if not isinstance(input, TensorBase):
            raise TypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {no_tensor(input)}")
        return method(input, *args)

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = method.__doc__ and method.__doc__.partition("\n\n")[0]
    return ask


is_conj, is_distributed, is_inference, is_neg, is_signed = cast("tuple[Question, ...]", tuple(map(_question, (
    "is_conj", "is_distributed", "is_inference", "is_neg", "is_signed",
))))  # fmt: skip
get_device: Callable[[Tensor], int] = _question("get_device")
is_same_size: Callable[[Tensor, Tensor], bool] = _question("is_same_size")


def is_vulkan_available() -> bool:
    """Whether there is a Vulkan device: no."""
    return False


def compiled_with_cxx11_abi() -> bool:
    """Whether the library's C++ strings are those of C++11: there is none, and compilers of today say yes."""
    return True


def typename(obj: object, /) -> str:
    """The name of a value's type with its module; of a tensor that of its legacy class, "torch.FloatTensor"."""
    if isinstance(obj, TensorBase):
        return str(obj.type())  # type: ignore[attr-defined]
    what = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(what, "__module__", None) or ""
    return what.__qualname__ if module in ("", "builtins") else f"{module}.{what.__qualname__}"


def range(start: float, end: float, step: float = 1, *, dtype: DType = None, device: DeviceLike = None,
          requires_grad: bool = False) -> Tensor:  # fmt: skip
    """``start``, ``start + step``, ... up to ``end``, which is among them if it is met."""
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    kind_of = dtypes.default() if dtype is None else dtypes.of(dtype)
    count = int((end - start) / step) + 1
    values = start + np.arange(count) * step
    return creation.tensor(values, dtype=kind_of, device=device, requires_grad=requires_grad)


def frombuffer(buffer: Any, *, dtype: DType, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A vector over the memory of an object with Python's buffer protocol, shared; read-only memory may not be written.

    ``count`` entries of ``dtype`` from byte ``offset`` on; all that there are if it is negative. ValueError if the
    memory does not hold them.
    """
    wanted, held = dtypes.numpy_dtype(dtype), memoryview(buffer).nbytes
    if not 0 <= offset < held:
        raise ValueError(f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({held} "
                         "bytes) - 1")  # fmt: skip
    if count < 0 and (held - offset) % wanted.itemsize:
        raise ValueError(f"buffer length ({held - offset} bytes) after offset ({offset} bytes) must be a multiple of "
                         f"element size ({wanted.itemsize})")  # fmt: skip
    if count == 0 or offset + count * wanted.itemsize > held:
        raise ValueError(f"requested buffer length ({count} * {wanted.itemsize} bytes) after offset ({offset} bytes) "
                         f"must be positive and not be greater than actual buffer length ({held} bytes)")  # fmt: skip
    array = np.frombuffer(buffer, wanted, count, offset)
    return creation.from_numpy(array).requires_grad_(requires_grad)


attach(globals(), "pytorch")
