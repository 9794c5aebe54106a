"""Parameter and Buffer: the kinds of tensor that a module notices. An optimiser changes the first.

Also those whose shape is not known yet: what lazy modules hold until their first call.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar, Self

from gradwright.base import dtypes
from gradwright.base.errors import kind
from gradwright.base.lazy import lazy
from gradwright.engine.base import TensorBase, wrap
from gradwright.engine.memory import share
from gradwright.face import creation
from gradwright.face.methods.copies import deep, in_own_memory, shallow
from gradwright.face.methods.subclasses import _disabled_torch_function_impl, attributes
from gradwright.face.tensor import Tensor

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike, DType

__all__ = [
    "Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy",
    "is_sparse",
]  # fmt: skip

lazy(__name__)


class Parameter(Tensor):
    """A leaf tensor that becomes a parameter of the `Module` it is assigned to.

    Args:
        data: a tensor, whose memory the parameter shares and whose history it leaves behind; None for an empty one.
        requires_grad: whether it is to be trained. `no_grad` makes no difference to it.

    Operations on a parameter give plain tensors. A deep copy and a pickle have its ``.grad``, which PyTorch's lose.

    Raises TypeError if ``data`` is no tensor, RuntimeError if it requires grad but is not of a floating-point or
    complex dtype.

    >>> w = Parameter(gw.tensor([1.0, 2.0]))
    >>> w
    Parameter containing:
    tensor([1., 2.], requires_grad=True)
    >>> 2 * w
    tensor([2., 4.], grad_fn=<MulBackward0>)
    """

    __slots__ = ()
    __torch_function__: Any = _disabled_torch_function_impl

    def __new__(cls, data: TensorBase | None = None, requires_grad: bool = True) -> Self:
        self = _over(cls, "Parameter", data)
        self.requires_grad = requires_grad
        return self

    def __repr__(self) -> str:
        return f"Parameter containing:\n{super().__repr__()}"

    def __copy__(self) -> Self:
        return shallow(self, type(self)(self, self.requires_grad))

    def __deepcopy__(self, memo: Any) -> Self:
        return deep(self, type(self)(in_own_memory(self, memo), self.requires_grad), memo, {})


class Buffer(Tensor):
    """A tensor that becomes a buffer of the `Module` it is assigned to: state that is not trained.

    Args:
        data: a tensor, whose memory the buffer shares and whose history it leaves behind; None for an empty one.
        persistent: whether `Module.state_dict` has it.

    Raises TypeError if ``data`` is no tensor.

    >>> norm = gw.nn.Module()
    >>> norm.mean = Buffer(gw.zeros(2))
    >>> dict(norm.named_buffers())
    {'mean': tensor([0., 0.])}
    """

    __slots__ = ("persistent",)
    __torch_function__: Any = _disabled_torch_function_impl
    persistent: bool

    def __new__(cls, data: TensorBase | None = None, *, persistent: bool = True) -> Self:
        self = _over(cls, "Buffer", data)
        self.persistent = persistent
        self.requires_grad = data is not None and data.requires_grad
        return self

    def __copy__(self) -> Self:
        return shallow(self, type(self)(self, persistent=self.persistent))

    def __deepcopy__(self, memo: Any) -> Self:
        copied = in_own_memory(self, memo).requires_grad_(self.requires_grad)
        return deep(self, type(self)(copied, persistent=self.persistent), memo, attributes(self))


def _over(cls: Any, function: str, data: Any) -> Any:
    """A leaf of this class over the memory of a tensor, with its version counter; over an empty one for None."""
    if data is not None and not isinstance(data, Tensor):
        raise TypeError(f"{function}(): argument 'data' must be Tensor or None, not {kind(data)}")
    shared = creation.empty(0) if data is None else data.detach()
    self = object.__new__(cls)
    self.array, self._counter = shared.array, shared._counter
    self._node = self._view = self._grad = None
    if data is not None:
        share(self, data)
    return self


# -- without a shape yet --

_array: Any = TensorBase.__dict__["array"]
"""The slot behind the property of the same name below."""


class UninitializedTensorMixin:
    """What `UninitializedParameter` and `UninitializedBuffer` share: a dtype, but no values, until `materialize`.

    Every operation on one raises ValueError; asking for its shape, RuntimeError.
    """

    __slots__ = ()
    cls_to_become: ClassVar[type] = Tensor
    __dict__: dict[str, Any]

    def __new__(cls, *_: Any, **__: Any) -> Self:
        return object.__new__(cls)

    def __init__(self, requires_grad: bool = False, device: DeviceLike = None, dtype: DType = None) -> None:
        _array.__set__(self, creation.empty(0, device=device, dtype=dtype).array)
        self._node = self._view = self._grad = None  # type: ignore[misc]
        self._counter = [0]  # type: ignore[misc]
        self.__dict__["wanted"] = requires_grad

    def materialize(self, shape: Any, device: DeviceLike = None, dtype: DType = None) -> None:
        """Become an ordinary parameter or buffer of this shape, whose values are whatever the memory holds."""
        values = creation.empty(shape, device=self.device if device is None else device,
                                dtype=self.dtype if dtype is None else dtype)  # fmt: skip
        wanted = self.__dict__.pop("wanted")
        self.__class__ = self.cls_to_become
        self.array = values.array  # type: ignore[misc]
        self.requires_grad = wanted

    @property
    def array(self) -> Any:
        raise ValueError(
            "Attempted to use an uninitialized parameter in an operation. This error happens when you are using a "
            "`LazyModule` or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When using "
            "LazyModules Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
        )

    @property
    def shape(self) -> Any:
        """RuntimeError: there is none yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes."
        )

    @property
    def dtype(self) -> Any:
        """The dtype that it will have."""
        return dtypes.of(_array.__get__(self).dtype)

    @property
    def device(self) -> Any:
        """Where it will live."""
        return wrap(_array.__get__(self)).device

    def is_floating_point(self) -> bool:
        """Whether that is a floating-point one."""
        return bool(self.dtype.is_floating_point)

    def is_complex(self) -> bool:
        """Whether that is a complex one."""
        return bool(self.dtype.is_complex)

    @property
    def requires_grad(self) -> bool:
        """Whether it will require grad."""
        return bool(self.__dict__["wanted"])

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.__dict__["wanted"] = value

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        """Set ``requires_grad`` and return it."""
        self.requires_grad = requires_grad
        return self

    @property
    def data(self) -> Any:
        """Itself; set to another one, it takes over its dtype and device."""
        return self

    @data.setter
    def data(self, value: Any) -> None:
        _array.__set__(self, creation.empty(0, dtype=value.dtype, device=value.device).array)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Another one, of the dtype and device to which these arguments convert a tensor like this."""
        like = creation.empty(0, dtype=self.dtype, device=self.device).to(*args, **kwargs)
        return type(self)(self.requires_grad, like.device, like.dtype)

    def detach(self) -> Any:
        """Itself: it has no history."""
        return self

    def __copy__(self) -> Any:
        return type(self)(self.requires_grad, self.device, self.dtype)

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"


class UninitializedParameter(UninitializedTensorMixin, Parameter):
    """A `Parameter` without a shape: ``materialize(shape)`` makes it one.

    Args:
        requires_grad: whether it is to be trained.
        device: where it will live.
        dtype: the dtype it will have; the default one if None.

    >>> w = UninitializedParameter()
    >>> w
    <UninitializedParameter>
    >>> w.materialize((2, 3))
    >>> type(w).__name__, w.shape
    ('Parameter', torch.Size([2, 3]))
    """

    __slots__ = ()
    cls_to_become = Parameter

    def __init__(self, requires_grad: bool = True, device: DeviceLike = None, dtype: DType = None) -> None:
        super().__init__(requires_grad, device, dtype)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):
    """A buffer without a shape: ``materialize(shape)`` makes it a `Tensor`.

    The arguments are those of `UninitializedParameter`.
    """

    __slots__ = ()
    cls_to_become = Tensor


def is_sparse(value: object) -> bool:
    """Whether it is a `sparse.SparseTensor`, which is no `Tensor`; there is none before its module is imported."""
    module = sys.modules.get("gradwright.face.sparse.tensor")
    return module is not None and isinstance(value, module.SparseTensor)


def is_lazy(value: object) -> bool:
    """Whether this is an uninitialized parameter or buffer."""
    return isinstance(value, UninitializedTensorMixin)
