"""Tensor: an array that records what is done to it. Operators and methods, one line each; the work is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Self, overload

from gradwright import backends
from gradwright.backends import library, to_host
from gradwright.backends.devices import CPU, beside, device_of
from gradwright.base import dtypes
from gradwright.base.errors import home, kind, size
from gradwright.base.formatting import tensor_repr
from gradwright.base.upward import slots
from gradwright.engine.apply import apply
from gradwright.engine.base import TensorBase
from gradwright.engine.levels import batches, shown
from gradwright.engine.memory import layout
from gradwright.engine.numbers import asked
from gradwright.engine.strict import warn
from gradwright.engine.view import alias_of
from gradwright.face import creation, random, xp
from gradwright.face.functions import elementwise as e
from gradwright.face.functions import indexing as i
from gradwright.face.functions import join as j
from gradwright.face.functions import shape as s
from gradwright.face.functions.algebra import linalg as m
from gradwright.face.functions.forms import inplace_operator, operator
from gradwright.face.functions.memory_format import contiguous_format, lies_in, order_like, preserve_format, suggested
from gradwright.face.functions.views import strides
from gradwright.face.methods.arrays import Arrays
from gradwright.face.methods.asked import Asked
from gradwright.face.methods.conversions import Conversions
from gradwright.face.methods.copies import deep, in_own_memory, is_alone, pickled, shallow
from gradwright.face.methods.elementwise import Elementwise
from gradwright.face.methods.families import Families
from gradwright.face.methods.history import History
from gradwright.face.methods.notebook import Notebook
from gradwright.face.methods.placed import Placed, readable
from gradwright.face.methods.subclasses import Subclasses, alike, attributes, refuse_dispatch
from gradwright.face.reading import overwrite
from gradwright.face.reading.torch import destination, one_dim, to_dtype
from gradwright.function.watched.in_backward import leaves
from gradwright.ops import arithmetic, piecewise

if TYPE_CHECKING:
    from gradwright.face.typing import Binary, DeviceLike, DType, MemoryFormat, Number, TensorLike


def _maker(make: Callable[..., Tensor]) -> Callable[..., Tensor]:
    def new(self: Tensor, *args: Any, size: Any = None, dtype: Any = None, **options: Any) -> Tensor:
        if options.get("device") is None:
            options["device"] = beside(self.array)
        args = args if size is None else (*args, size)
        return make(*args, dtype=self.array.dtype if dtype is None else dtype, **options)

    new.__doc__ = f"`{make.__name__}` of this dtype and on this device."
    return new


class Tensor(Subclasses, Arrays, Asked, Conversions, Elementwise, Families, History, Notebook, Placed, TensorBase):
    """A multi-dimensional array with a history.

    ``Tensor(2, 3)`` makes one of that size (its values are whatever the memory holds), ``Tensor([1., 2.])`` one of
    these values, of the default dtype in both cases; `gradwright.tensor` is the usual way to make one.
    """

    __slots__ = ()

    def __new__(cls, *args: Any, **_: Any) -> Self:
        if cls is not Tensor:
            refuse_dispatch(cls)
        self = object.__new__(cls)
        values = len(args) == 1 and not isinstance(args[0], (int, dtypes.Size))
        if values and isinstance(args[0], TensorBase) and args[0].requires_grad:
            creation.warn_of_copy(args[0], "torch.Tensor")
        like = creation.new(args[0], dtypes.default()) if values else creation.zeros(*args or (0,))
        self.array, self._node, self._counter, self._view, self._grad = like.array, like._node, [0], None, None
        return self

    # -- what it is --

    @property
    def shape(self) -> dtypes.Size:
        """The size of each dim.

        >>> gw.ones(2, 3).shape
        torch.Size([2, 3])
        """
        return dtypes.size(self.array.shape)

    @property
    def dtype(self) -> dtypes.dtype:
        """The element type.

        >>> gw.ones(2).dtype
        torch.float32
        """
        return dtypes.of(self.array.dtype)

    def dim(self) -> int:
        """How many dims it has.

        >>> gw.ones(2, 3).dim()
        2
        """
        return self.array.ndim

    @property
    def ndim(self) -> int:
        """How many dims it has.

        >>> gw.ones(2, 3).ndim
        2
        """
        return self.array.ndim

    def numel(self) -> int:
        """How many elements it has; `nelement` is the same.

        >>> gw.ones(2, 3).numel()
        6
        """
        return self.array.size

    nelement = numel

    @overload
    def stride(self) -> tuple[int, ...]: ...
    @overload
    def stride(self, dim: int) -> int: ...
    def stride(self, dim: int | None = None) -> int | tuple[int, ...]:
        """For each dim (or one), how many elements apart its neighbours lie in memory.

        >>> gw.ones(2, 3).stride(), gw.ones(2, 3).T.stride(0)
        ((3, 1), 1)
        """
        steps = strides(layout(self))
        return steps if dim is None else steps[one_dim("stride", dim, len(steps))]

    def is_contiguous(self, *, memory_format: MemoryFormat = contiguous_format) -> bool:
        """Whether its elements lie in memory without gaps, in the order of the format: row-major by default.

        >>> gw.ones(2, 3).is_contiguous(), gw.ones(2, 3).T.is_contiguous()
        (True, False)
        """
        return lies_in("is_contiguous", self, memory_format)

    def element_size(self) -> int:
        """Bytes of one element.

        >>> gw.ones(2).element_size()
        4
        """
        return dtypes.of(self.array.dtype).itemsize

    def is_floating_point(self) -> bool:
        """Whether its dtype is a floating-point one; complex ones are none.

        >>> gw.ones(2).is_floating_point(), gw.ones(2, dtype=gw.int64).is_floating_point()
        (True, False)
        """
        return dtypes.of(self.array.dtype).is_floating_point

    @overload
    def type(self, dtype: None = None) -> str: ...
    @overload
    def type(self, dtype: Any) -> Tensor: ...

    def type(self, dtype: Any = None) -> Any:
        """The legacy type name, such as ``torch.FloatTensor``; with a dtype, or such a class, the converted tensor.

        >>> gw.ones(2).type(), gw.ones(2).type(gw.int64)
        ('torch.FloatTensor', tensor([1, 1]))
        """
        if dtype is Tensor:
            dtype = dtypes.default()
        return f"torch.{dtypes.LEGACY.get(self.dtype.name)}" if dtype is None else to_dtype(self, dtypes.named(dtype))

    def __len__(self) -> int:
        if not self.array.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self.array.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.array.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(j.unbind(self))

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        if batches(self.array):  # there are no values that are its own
            return repr(self.array)
        grad = "requires_grad=True" if self.requires_grad else ""
        try:
            if self.grad_fn is not None:
                grad = f"grad_fn=<{type(self.grad_fn).__name__}>"
        except RuntimeError:  # of a view whose history cannot be told any more: that is for operations to say
            grad = "grad_fn=<Invalid>"
        grad = ", ".join(filter(None, (grad, shown(self.array))))
        where = "" if (at := self.device) == CPU else f"device='{at}'"
        if not library(self.array).is_here(self.array):
            parts = "...", where, f"size={tuple(self.array.shape)}", f"dtype={self.dtype}", grad
            return f"tensor({', '.join(filter(None, parts))})"
        prefix = "tensor(" if home(type(self)) == "gradwright" else f"{type(self).__name__}("
        kind_of = dtypes.default().dtype
        return tensor_repr(to_host(self.array), device=where, grad=grad, prefix=prefix, default_dtype=kind_of)

    def __format__(self, spec: str) -> str:
        return object.__format__(self, spec) if self.array.ndim else format(self.item(), spec)

    # -- its values, outside the graph --

    def item(self) -> int | Any:
        """Its one element as a Python number, without history; RuntimeError if it has several or none.

        >>> gw.tensor([2.5]).item()
        2.5
        """
        if self.array.size != 1:
            raise RuntimeError(f"a Tensor with {self.array.size} elements cannot be converted to Scalar: tolist() "
                               f"gives all of size {size(self.shape)}, x[i].item() one")  # fmt: skip
        leaves(self, "item()")
        return readable(self.array).item()

    def tolist(self) -> list[Any]:
        """Its values as nested lists of Python numbers, without history; a 0-d tensor gives a number.

        >>> gw.tensor([[1, 2], [3, 4]]).tolist()
        [[1, 2], [3, 4]]
        """
        leaves(self, "tolist()", True)
        return readable(self.array).tolist()

    def __bool__(self) -> bool:
        if self.array.size != 1:
            what = "more than one value" if self.array.size else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous: ask any() or all() of one of size "
                               f"{size(self.shape)}, or use where() for a choice by entry")  # fmt: skip
        return bool(readable(self.array))

    def __float__(self) -> float:
        return float(self._number(leaves(self, "float()")))

    def __int__(self) -> int:
        return int(self._number(leaves(self, "int()")))

    def __complex__(self) -> complex:
        return complex(self._number(leaves(self, "complex()")))

    def _number(self, noted: Any) -> Any:
        """`item`, with a warning, unless it is ``noted``, where that leaves a gradient behind unasked."""
        if not noted and self.requires_grad and self.array.size == 1:  # else `item` raises
            warn(
                "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior: what is "
                "computed from the number has no gradient. Consider using tensor.detach() or item() first."
            )
        if self.array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars, but this is of size "
                             f"{size(self.array.shape)}: tolist() gives all, x[i].item() one")  # fmt: skip
        return self.item()

    def __index__(self) -> int:
        if dtypes.of(self.array.dtype).category >= dtypes.FLOAT or self.array.size != 1:
            who = asked(self)
            raise TypeError(f"{who}{': ' if who else ''}only integer tensors of a single element can be converted to "
                            f"an index, but got {self.dtype} {size(self.array.shape)}")  # fmt: skip
        return int(self.item())

    def __contains__(self, element: Any) -> bool:
        if not isinstance(element, (TensorBase, int, float, complex)):
            raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but got {kind(element)}")
        found: Any = self == element
        return bool(to_host(found.array).any())

    def _apply(self, op: Any, arrays: Any, static: dict[str, Any]) -> Any:
        return apply(op, arrays, static)

    def __copy__(self) -> Tensor:
        out = s.clone(self) if not is_alone(self) else alias_of(self).requires_grad_(self.requires_grad)
        return shallow(self, alike(self, out))

    def __deepcopy__(self, memo: Any) -> Tensor:
        if not is_alone(self):
            raise RuntimeError("Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                               "protocol at the moment: detach() or clone() this tensor instead")  # fmt: skip
        copied = in_own_memory(self, memo).requires_grad_(self.requires_grad)
        return deep(self, alike(self, copied), memo, attributes(self))

    def __reduce__(self) -> Any:
        return pickled(self)

    # -- conversion --

    def to(self, *args: Any, dtype: DType = None, device: DeviceLike = None, non_blocking: bool = False,
           copy: bool = False, memory_format: MemoryFormat | None = None) -> Tensor:  # fmt: skip
        """Converted to a dtype, moved to a device (`gradwright.device`), or both, as another tensor is.

        Its memory keeps the order that it has, unless a ``memory_format`` is named. Itself where all is so already,
        unless ``copy``. It is recorded: the gradient is converted and moved back. ``non_blocking`` makes no difference.

        Raises RuntimeError for a device that is not there, TypeError for what is no dtype, device or tensor.

        >>> x = gw.ones(2)
        >>> x.to(gw.float64), x.to("cpu") is x
        (tensor([1., 1.], dtype=torch.float64), True)
        """
        dtype, device, copied = destination(args, dtype, device)
        out = creation.to(self, dtype, device)
        if memory_format is None or memory_format is preserve_format:
            return s.clone(out) if out is self and (copy or copied) else out
        order_like("to", memory_format, self)
        same = out is self and not (copy or copied) and suggested(self) is memory_format
        return self if same else s.clone(out, memory_format=memory_format)

    def type_as(self, other: Tensor) -> Tensor:
        """Converted to the dtype of ``other``; itself if it has that.

        >>> gw.ones(2).type_as(gw.tensor([1]))
        tensor([1, 1])
        """
        return to_dtype(self, other.array.dtype)

    new_zeros, new_ones, new_empty = map(_maker, (creation.zeros, creation.ones, creation.empty))
    new_full, new_empty_strided = _maker(creation.full), _maker(creation.empty_strided)

    def new_tensor(self, data: TensorLike, *, dtype: DType = None, device: DeviceLike = None,
                   requires_grad: bool = False) -> Tensor:  # fmt: skip
        """`tensor` of the data, in this dtype and on this device, unless others are named.

        >>> gw.ones(2, dtype=gw.float64).new_tensor([1, 2])
        tensor([1., 2.], dtype=torch.float64)
        """
        if isinstance(data, TensorBase):
            creation.warn_of_copy(data, "tensor.new_tensor")
        at = device_of(self.array) if device is None else device
        return creation.new(data, self.array.dtype if dtype is None else dtype, at, requires_grad)

    # -- operators --

    __add__ = operator(arithmetic.add)
    __radd__ = operator(arithmetic.add, reflected=True)
    __sub__ = operator(arithmetic.subtract)
    __rsub__ = operator(arithmetic.subtract.variant("RsubBackward1"), reflected=True)
    __mul__ = operator(arithmetic.multiply)
    __rmul__ = operator(arithmetic.multiply)
    __truediv__ = operator(arithmetic.divide, floating=True)
    __rtruediv__ = operator(arithmetic.divide, floating=True, reflected=True)
    __floordiv__ = operator(piecewise.floor_divide)
    __rfloordiv__ = operator(piecewise.floor_divide, reflected=True)
    __mod__ = operator(arithmetic.remainder)
    __rmod__ = operator(arithmetic.remainder, reflected=True)
    __pow__ = e.pow
    __matmul__ = m.matmul
    __neg__ = e.neg
    if TYPE_CHECKING:
        def __abs__(self) -> Tensor: ...  # abs() wants no less
    else:
        __abs__ = e.abs
    __eq__: Binary = operator(piecewise.equal)  # type: ignore[assignment]
    __ne__: Binary = operator(piecewise.not_equal)  # type: ignore[assignment]
    __lt__ = operator(piecewise.less)
    __le__ = operator(piecewise.less_equal)
    __gt__ = operator(piecewise.greater)
    __ge__ = operator(piecewise.greater_equal)
    __and__ = __rand__ = operator(piecewise.bitwise_and)
    __or__ = __ror__ = operator(piecewise.bitwise_or)
    __xor__ = __rxor__ = operator(piecewise.bitwise_xor)
    __invert__ = e.invert
    __getitem__ = i.getitem
    __setitem__ = i.setitem

    def __pos__(self) -> Tensor:
        return self

    def __rpow__(self, base: Number) -> Tensor:
        return e.pow(base, self)

    def __rmatmul__(self, other: TensorLike) -> Tensor:
        return m.matmul(creation.as_tensor(other), self)

    __iadd__ = inplace_operator(__add__, overwrite.add)
    __imatmul__ = inplace_operator(__matmul__)
    __isub__ = inplace_operator(__sub__, overwrite.subtract)
    __imul__ = inplace_operator(__mul__, overwrite.multiply)
    __itruediv__ = inplace_operator(__truediv__, overwrite.divide)
    __ipow__ = inplace_operator(__pow__)
    __ifloordiv__, __imod__ = inplace_operator(__floordiv__), inplace_operator(__mod__)
    __iand__, __ior__, __ixor__ = inplace_operator(__and__), inplace_operator(__or__), inplace_operator(__xor__)

    # -- random --

    uniform_, normal_, bernoulli_, random_ = random.uniform_, random.normal_, random.bernoulli_, random.random_
    exponential_, geometric_, cauchy_ = random.exponential_, random.geometric_, random.cauchy_
    log_normal_, bernoulli, multinomial = random.log_normal_, random.bernoulli, random.multinomial


slots.tensor = Tensor
backends.register(xp, Tensor, name="gradwright")
