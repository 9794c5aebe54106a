"""What stands for each name that a PyTorch file has: data, or a function of ours that builds data from data."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy._core import multiarray

from gradwright.backends.devices import CPU, device
from gradwright.base import dtypes
from gradwright.base.errors import FileError, UnsafeGlobalError
from gradwright.engine.base import TensorBase, wrap
from gradwright.face.sparse.rows import sparse_csr_tensor
from gradwright.face.sparse.tensor import sparse_coo_tensor
from gradwright.face.tensor import Tensor
from gradwright.nn.parameter import Buffer, Parameter
from gradwright.serialization.checkpoint.safe_globals import added

STORAGES = {
    "FloatStorage": "float32", "DoubleStorage": "float64", "HalfStorage": "float16", "BFloat16Storage": "bfloat16",
    "LongStorage": "int64", "IntStorage": "int32", "ShortStorage": "int16", "CharStorage": "int8",
    "ByteStorage": "uint8", "BoolStorage": "bool", "ComplexFloatStorage": "complex64",
    "ComplexDoubleStorage": "complex128",
}  # fmt: skip
"""The dtypes of PyTorch's storages. Those of other dtypes are untyped, and each tensor says its own."""
_SMALL = 1 << 16
_BLOCKED = ("sys", "os", "posix", "nt")


class Storage(NamedTuple):
    """Memory that tensors of a file lie in.

    Attributes:
        memory: its bytes.
        dtype: the name of its entries' dtype; None where each tensor says its own.
        counter: how often it was written, for all tensors in it.
    """

    memory: Any
    dtype: str | None
    counter: list[Any]

    @property
    def itemsize(self) -> int:
        """How many bytes what it counts in takes: an entry, or a byte where it has no dtype."""
        return 1 if self.dtype is None else dtypes.of(self.dtype).itemsize


class Kind(NamedTuple):
    """A class of PyTorch's that a file names as data, and does not call."""

    name: str


_TENSORS = (Kind("torch.Tensor"), Kind("torch.nn.parameter.Parameter"))


class Rebuild:
    """Builds the data of one file.

    Args:
        to: the device that its tensors shall be on.
        trusting: NumPy's arrays and numbers are built, too, which PyTorch does where ``weights_only`` is False.
    """

    def __init__(self, to: device = CPU, trusting: bool = False) -> None:
        self._to = to
        self._known: dict[str, Any] = {
            "_codecs.encode": _encoded,
            "builtins.bytearray": _bytearray,
            "builtins.complex": complex,
            "builtins.set": set,
            "collections.Counter": Counter,
            "collections.OrderedDict": OrderedDict,
            "torch.Size": dtypes.Size,
            "torch.device": _device,
            "torch._tensor._rebuild_from_type_v2": _of_type,
            "torch._utils._rebuild_parameter": _parameter,
            "torch._utils._rebuild_parameter_with_state": _parameter,
            "torch._utils._rebuild_sparse_tensor": _sparse,
            "torch._utils._rebuild_tensor": self._tensor,
            "torch._utils._rebuild_tensor_v2": self._tensor,
            "torch._utils._rebuild_tensor_v3": self._tensor_of_dtype,
            "torch.serialization._get_layout": _layout,
            **{kind.name: kind for kind in _TENSORS},
        }
        if trusting:
            self._known |= {"numpy.dtype": np.dtype, "numpy.ndarray": np.ndarray} | {
                f"{package}.multiarray.{name}": getattr(multiarray, name)
                for package in ("numpy.core", "numpy._core") for name in ("scalar", "_reconstruct")
            }  # fmt: skip

    def find(self, name: str) -> Any:
        """What stands for a global. Raises UnsafeGlobalError for one that is neither PyTorch's nor added."""
        module, _, last = name.rpartition(".")
        if module.partition(".")[0] in _BLOCKED:
            raise UnsafeGlobalError(f"its pickle names {name}, of a module that no file may reach")
        if name in self._known:
            return self._known[name]
        if module in ("torch", "torch.cuda", "torch.storage") and last.endswith("Storage"):
            return Kind(last)
        if module == "torch" and (last in dtypes.NAMES or last == "bfloat16"):
            return dtypes.of(last)
        if (trusted := added().get(name)) is not None:
            return trusted
        if module == "torch" or module.startswith("torch."):
            return _refuse(name, f"gradwright has no {name}")
        return _refuse(name)

    def _tensor(self, storage: Storage, offset: int, size: Iterable[int], stride: Iterable[int],
                requires_grad: bool = False, _hooks: Any = None, marks: Any = None) -> TensorBase:  # fmt: skip
        return self._in(storage, storage.dtype, offset, size, stride, requires_grad, marks)

    def _tensor_of_dtype(self, storage: Storage, offset: int, size: Iterable[int], stride: Iterable[int],
                         requires_grad: bool, _hooks: Any, dtype: dtypes.dtype, marks: Any = None,
                         ) -> TensorBase:  # fmt: skip
        return self._in(storage, dtype.name, offset, size, stride, requires_grad, marks)

    def _in(self, storage: Storage, name: str | None, offset: int, size: Iterable[int], stride: Iterable[int],
            requires_grad: bool, marks: Any) -> TensorBase:  # fmt: skip
        if not isinstance(storage, Storage):
            raise ValueError(f"a tensor lies in a {type(storage).__name__}, which is no storage")
        if name is None:
            raise ValueError("a tensor in an untyped storage says no dtype")
        dtype = dtypes.of(name).dtype
        step = dtype.itemsize
        array = np.ndarray(tuple(size), dtype, storage.memory, offset * step, tuple(s * step for s in stride))
        counter: Any = storage.counter
        if marks:
            if array.nbytes > max(len(storage.memory), _SMALL):
                raise FileError("a tensor that is conjugated or negated has more entries than its storage")
            array, counter = array.conj() if marks.get("conj") else array.copy(), None
            array = -array if marks.get("neg") else array
        tensor = wrap(self._to.hold(array), counter=counter if self._to == CPU else None)
        return tensor.requires_grad_() if requires_grad else tensor


def _refuse(name: str, why: str = "") -> NoReturn:
    raise UnsafeGlobalError(
        "Weights only load failed: no code of a file is run. " + (f"{why}. " if why else "") +
        f"Unsupported global: GLOBAL {name} was not an allowed global by default. If you trust it, name it: "
        f"`serialization.add_safe_globals([{name}])`, or within `serialization.safe_globals([{name}])`; or load the "
        "file where it was made, and save its state_dict there")  # fmt: skip


def _parameter(data: Tensor, requires_grad: bool, _hooks: Any, state: Any = None) -> Parameter:
    return _with_state(Parameter(data.detach(), requires_grad), state)


def _of_type(build: Callable[..., Any], kind: Any, arguments: tuple[Any, ...], state: Any) -> Any:
    """A tensor with attributes. A buffer is one of which they say so."""
    if kind not in _TENSORS:
        _refuse(getattr(kind, "__name__", str(kind)), "a tensor of a class of its own")
    tensor = build(*arguments)
    if isinstance(state, dict) and state.get("_is_buffer"):
        state = dict(state)
        del state["_is_buffer"]
        return _with_state(Buffer(tensor, persistent=bool(state.pop("persistent", True))), state)
    return _with_state(tensor, state)


def _with_state(tensor: Any, state: Any) -> Any:
    """``tensor``, with the attributes that a program had set on it."""
    for part in state if isinstance(state, tuple) else (state,):
        for name, value in (part or {}).items():
            if hasattr(type(tensor), name):
                raise ValueError(f"it sets the attribute {name!r} of a tensor")
            setattr(tensor, name, value)
    return tensor


def _sparse(layout: str, data: tuple[Any, ...]) -> Any:
    if layout == "torch.sparse_coo":
        indices, values, size, *coalesced = data
        return sparse_coo_tensor(indices, values, size, is_coalesced=coalesced[0] if coalesced else None)
    if layout == "torch.sparse_csr":
        return sparse_csr_tensor(*data)
    raise FileError(f"it has a tensor of the layout {layout}, which gradwright has not: save its to_dense()")


def _layout(name: str) -> str:
    return name


def _device(kind: str, index: int | None = None) -> device:
    """Of another kind than there is here, the CPU, where the tensors of such a device are, too."""
    try:
        return device(kind, index)
    except (RuntimeError, ImportError):
        return CPU


def _encoded(text: str, encoding: str) -> bytes:
    if encoding not in ("latin1", "utf-8"):
        raise ValueError(f"bytes in {encoding!r}")
    return text.encode(encoding)


def _bytearray(*parts: Any) -> bytearray:
    if parts and not isinstance(parts[0], (str, bytes)):
        raise ValueError("a bytearray of a size, or of no content")
    return bytearray(*parts)
