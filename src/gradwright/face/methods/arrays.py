"""Tensor as other array libraries see it: NumPy's protocols, DLPack, the array API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

import numpy as np

from gradwright import backends
from gradwright.backends.devices import CPU, device_of
from gradwright.base import dtypes
from gradwright.engine.levels import below
from gradwright.engine.memory import writable
from gradwright.engine.mode import is_grad_enabled
from gradwright.engine.version import export
from gradwright.face.interop import numpy as interop
from gradwright.face.reading.torch import one_dim
from gradwright.face.xp.creation import moved
from gradwright.function.watched.in_backward import is_guarded, leaves

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, Tensor


class Count(int):
    """A number of elements, which called is a shape: the array API's ``x.size`` and PyTorch's ``x.size()`` in one."""

    shape: dtypes.Size

    @overload
    def __call__(self, dim: None = None) -> dtypes.Size: ...
    @overload
    def __call__(self, dim: int) -> int: ...
    def __call__(self, dim: Any = None) -> Any:
        """The shape of the tensor, or the size of one dim."""
        return self.shape if dim is None else self.shape[one_dim("size", dim, len(self.shape))]


class Arrays:
    """The protocols by which other array libraries take Tensors."""

    __slots__ = ()
    __array_priority__ = 1000
    array: Any
    _counter: list[Any]
    requires_grad: bool

    @property
    def size(self) -> Count:
        """Called, ``x.size()`` or ``x.size(dim)``: its shape, or the size of one dim. As a number: its elements.

        >>> gw.ones(2, 3).size(), gw.ones(2, 3).size(1)
        (torch.Size([2, 3]), 3)
        """
        count = Count(self.array.size)
        count.shape = dtypes.Size(self.array.shape)
        return count

    def data_ptr(self) -> int:
        """The address of its first entry; 0 if it has none.

        What is written there past the tensor is noticed by nothing: write through `numpy`. RuntimeError for arrays of
        another library, whose addresses are not known.
        """
        if self._is_elsewhere():
            raise RuntimeError(f"data_ptr(): a tensor on {device_of(self.array)} has no address that is known: call "
                               "cpu() for a copy that has one")  # fmt: skip
        return below(writable(self)).__array_interface__["data"][0] if self.array.size else 0

    def numpy(self, *, force: bool = False) -> np.ndarray[Any, Any]:
        """The same memory as a NumPy array.

        RuntimeError if it requires grad, except with ``force``, which detaches, and where nothing is recorded.
        TypeError if it is not on the CPU, except with ``force``, which copies.

        While the array, or a view of it, lives, each operation that saves the tensor for backward looks at all of its
        memory (0.3 ms per MB): so backward notices what was written through the array in between, and raises.

        >>> gw.tensor([1.0, 2.0]).numpy()
        array([1., 2.], dtype=float32)
        """
        if not force and self._is_elsewhere():
            raise TypeError(f"can't convert {device_of(self.array)} device type tensor to numpy. Use Tensor.cpu() to "
                            "copy the tensor to host memory first, or numpy(force=True)")  # fmt: skip
        return self._exported(None, leaves(self, "numpy()", True) or force)

    def _exported(self, holder: Any, force: bool = False) -> Any:
        if is_grad_enabled() and self.requires_grad and not force:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.")
        if backends.library(self.array).outer:
            return self.array.__array__()
        if self._is_elsewhere():
            return CPU.hold(self.array)
        return export(writable(self), self._counter, holder)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if copy is False and self._is_elsewhere():
            raise ValueError(f"a tensor on {device_of(self.array)} has to be copied to the CPU, but copy=False")
        array = self._exported(None, leaves(self, "numpy.asarray()", True))
        array.flags.writeable &= copy or not self._is_elsewhere()  # nobody expects a copy
        return np.array(array, dtype=dtype, copy=copy)

    def _is_elsewhere(self) -> bool:
        """Whether its memory is not NumPy's."""
        return self.array.__class__ is not np.ndarray and device_of(self.array) is not CPU

    @property
    def __array_interface__(self) -> dict[str, Any]:
        if self._is_elsewhere():
            raise AttributeError(f"a tensor on {device_of(self.array)} has no memory that NumPy can use")
        array = self._exported(None, leaves(self, "numpy.asarray()", True))
        if not array.flags.c_contiguous or not array.size:
            return self._exported(self, is_guarded()).__array_interface__  # who takes the memory so holds the tensor
        return {**array.__array_interface__, "data": array.reshape(-1).view(np.uint8)}  # or, better, only this array

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return interop.ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return interop.function(function, args, kwargs)

    def __array_namespace__(self, api_version: str | None = None) -> Any:
        return backends.namespace(self)

    def to_device(self, device: DeviceLike, /, *, stream: None = None) -> Tensor:
        """Moved to a device, of its library or another; itself if it is there."""
        return moved(self, device)

    def __dlpack__(self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None,
                   copy: bool | None = None) -> Any:  # fmt: skip
        if not leaves(self, "DLPack", True) and self.requires_grad:
            raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
        if self._is_elsewhere():
            return self.array.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)
        array = self._exported(None, is_guarded())
        if any(step < 0 for step in array.strides):
            raise BufferError("__dlpack__(): a tensor with negative strides cannot be exported: call contiguous()")
        if dtypes.of(array.dtype) is dtypes.bfloat16:
            raise BufferError("__dlpack__(): torch.bfloat16 cannot be exported by NumPy: call float() first")
        return array.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device, copy=copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        array = self.array if self._is_elsewhere() else np.asarray(self.array)
        return tuple(array.__dlpack_device__())
