"""The history of a tensor: what it requires and gets of gradients, and where it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Self

from gradwright import backends
from gradwright.base import dtypes
from gradwright.base.errors import kind, size
from gradwright.engine import calls
from gradwright.engine.base import TensorBase
from gradwright.engine.hooks import RemovableHandle
from gradwright.engine.levels import detached
from gradwright.engine.memory import owner
from gradwright.engine.node import AccumulateGrad, Node, node_of
from gradwright.engine.strict import warn
from gradwright.engine.version import UNTRACKED, Untracked, of_data, version
from gradwright.engine.view import alias_of, base_of, refresh, requires_grad, show
from gradwright.engine.watch import asked, used
from gradwright.face.methods.freeze import freeze, thaw
from gradwright.function.watched.after_backward import bypass
from gradwright.function.watched.in_backward import aside, replaced, rooted
from gradwright.native import early

if TYPE_CHECKING:
    from gradwright.face.typing import Tensor


class History(TensorBase):
    """What a tensor knows of the graph."""

    __slots__ = ()

    @property
    def requires_grad(self) -> bool:
        """Whether operations on it are recorded. May be set on leaves.

        A result requires grad if one of its inputs does and gradients are enabled. Raises RuntimeError when set on a
        result, or to True on a tensor of whole numbers or booleans, or to what is no bool.

        >>> x = gw.ones(2)
        >>> x.requires_grad = True
        >>> (x * 2).requires_grad, x.detach().requires_grad
        (True, False)
        """
        return self._node is not None if self._view is None else requires_grad(self)

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        if value.__class__ is not bool:
            raise RuntimeError(f"requires_grad must be a bool, but got {kind(value)}")
        if value and rooted(self):
            return
        if self._view is not None:
            refresh(self, always=True)
        if self._node is not None and type(self._node) is not AccumulateGrad:
            raise RuntimeError(
                "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in "
                "a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
            )
        if not value:
            freeze(self)
        elif dtypes.of(self.array.dtype).category < dtypes.FLOAT:
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients, but got "
                               f"{dtypes.of(self.array.dtype)}: write 1.0 for 1, or dtype=float32")  # fmt: skip
        else:
            thaw(self)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` and return the tensor. Raises as that, TypeError for what is no bool.

        >>> gw.ones(2).requires_grad_()
        tensor([1., 1.], requires_grad=True)
        """
        if requires_grad.__class__ is not bool:
            raise TypeError(f"requires_grad_(): argument 'requires_grad' must be bool, not {kind(requires_grad)}")
        if not requires_grad or dtypes.of(self.array.dtype).category < dtypes.FLOAT:
            self.requires_grad = requires_grad
        elif not rooted(self):
            if self._view is not None:
                refresh(self, always=True)
            thaw(self)
        return self

    @property
    def grad_fn(self) -> Node | None:
        """The node of the operation that made it; None for a leaf.

        >>> x = gw.ones(2, requires_grad=True)
        >>> x.grad_fn is None, (x * 2).grad_fn.name()
        (True, 'MulBackward0')
        """
        if self._view is not None:
            refresh(self, always=True)
        return node_of(self)

    @property
    def is_leaf(self) -> bool:
        """Whether it was made by the user rather than by a recorded operation: those keep their gradients.

        >>> x = gw.ones(2, requires_grad=True)
        >>> x.is_leaf, (x * 2).is_leaf, (x.detach() * 2).is_leaf
        (True, False, True)
        """
        return self.grad_fn is None

    @property
    def grad(self) -> Tensor | None:
        """The gradient accumulated by `backward`, or None; None, with a warning, for what keeps none.

        It may be set, to None or to a tensor of the same size and dtype: TypeError or RuntimeError else. Passes add to
        it.

        >>> x = gw.tensor([3.0], requires_grad=True)
        >>> for _ in range(2):
        ...     (x * x).sum().backward()
        >>> x.grad
        tensor([12.])
        """
        grad = getattr(self, "_grad", None)
        if grad is None and self._node is not None and type(self._node) is not AccumulateGrad and not self.retains_grad:
            warn(
                "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
                "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for "
                "a non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by "
                "mistake, make sure you access the leaf Tensor instead."
            )
        return grad

    @grad.setter
    def grad(self, value: Tensor | None) -> None:
        used((self,))
        if value is not None:
            if not isinstance(value, TensorBase):
                raise TypeError(f"assigned grad expected to be a Tensor or None but got grad of type {kind(value)}")
            if value is self:
                raise RuntimeError("can't assign Variable as its own grad")
            backends.common("assigned .grad", (self.array, value.array))
            if value.array.shape != self.array.shape:
                raise RuntimeError(
                    f"attempting to assign a gradient of size '{size(value.array.shape)}' to a tensor of size "
                    f"'{size(self.array.shape)}'. Please ensure that the gradient and the tensor are the same size."
                )
            if dtypes.of(value.array.dtype) is not dtypes.of(self.array.dtype):
                raise RuntimeError(
                    f"attempting to assign a gradient with dtype '{dtypes.of(value.array.dtype)}' to a tensor with "
                    f"dtype '{dtypes.of(self.array.dtype)}'. Please ensure that the gradient and the tensor have the "
                    "same dtype."
                )
        self._grad = value

    @grad.deleter
    def grad(self) -> None:
        used((self,))
        self._grad = None

    @property
    def data(self) -> Tensor:
        """The same memory without history; writes to it do not count, but are told where a graph meets the new numbers.

        `detach` gives one whose writes are noticed. Set, it gives the tensor other memory, of any size; TypeError for
        what is no tensor, RuntimeError for whole numbers where gradients are required.

        >>> x = gw.ones(2, requires_grad=True)
        >>> x.data *= 3
        >>> x
        tensor([3., 3.], requires_grad=True)
        """
        out = alias_of(self)
        if not out.is_inference():
            out._counter = [of_data(self._counter)]
            bypass(self, out)
        return aside(self, out, ".data")

    @data.setter
    def data(self, value: Tensor) -> None:
        if not isinstance(value, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {kind(value)}")
        if self._node is not None and dtypes.of(value.array.dtype).category < dtypes.FLOAT:
            raise RuntimeError(
                "data set to a tensor that requires gradients must be floating point or complex dtype, but got "
                f"{dtypes.of(value.array.dtype)}"
            )
        same = self._view is None and value.array is self.array and owner(value) is owner(self)  # as by x.data += 1
        if not same:
            show(self, value)
        if type(self._node) is AccumulateGrad:
            self._node._array = self.array
        replaced(self, value)

    def is_inference(self) -> bool:
        """Whether it was made in `inference_mode`, so that it can never be saved for a backward pass."""
        return isinstance(self._counter[0], Untracked)

    @property
    def _version(self) -> int:
        if self._counter[0] is UNTRACKED:
            raise RuntimeError("Inference tensors do not track version counter.")
        asked(self, version)
        return version(self)

    @property
    def _base(self) -> Any:
        asked(self, base_of)
        return base_of(self)

    def _is_view(self) -> bool:
        return self._base is not None

    @property
    def output_nr(self) -> int:
        """Which of its node's outputs it is, from 0.

        >>> x = gw.ones(2, requires_grad=True)
        >>> [part.output_nr for part in x.unbind()]
        [0, 1]
        """
        return 0 if self._node is None else self._node._edge()[1]

    def backward(self, gradient: Tensor | None = None, retain_graph: bool | None = None, create_graph: bool = False,
                 inputs: Tensor | Iterable[Tensor] | None = None) -> None:  # fmt: skip
        """Accumulate the gradients of this tensor into the leaves it depends on; see `gradwright.autograd.backward`.

        Args:
            gradient: what this tensor's entries count, of its shape; may be left out for a tensor of one entry, where
                it is 1.
            retain_graph: keep what the graph holds, for another pass; as ``create_graph`` if None.
            create_graph: record the pass, for gradients of gradients.
            inputs: accumulate into these alone.

        Raises RuntimeError if nothing requires grad, ``gradient`` is left out of a larger tensor or does not fit, or an
        earlier pass has freed the graph.

        >>> x = gw.tensor([1.0, 2.0], requires_grad=True)
        >>> (x * x).backward(gw.tensor([1.0, 10.0]))
        >>> x.grad
        tensor([ 2., 40.])
        """
        calls.backward(self, None if gradient is None else (gradient,), retain_graph, create_graph, inputs=inputs)

    @early("detach")
    def detach(self) -> Tensor:
        """The same memory without history; in-place writes to either are noticed by the graph.

        >>> x = gw.ones(2, requires_grad=True)
        >>> x.detach()
        tensor([1., 1.])
        """
        return aside(self, alias_of(self), "detach()")

    def detach_(self) -> Self:
        """Cut this tensor from its history, making it a leaf. RuntimeError for a view."""
        if self._is_view():
            raise RuntimeError("Can't detach views in-place. Use detach() instead.")
        freeze(self)
        self.array = detached(self.array)
        return self

    def retain_grad(self) -> None:
        """Keep the gradient of this non-leaf in `grad` on backward; of a leaf it is kept anyway.

        Raises RuntimeError for a tensor that requires no grad.

        >>> x = gw.ones(2, requires_grad=True)
        >>> y = x * 2
        >>> y.retain_grad()
        >>> y.sum().backward()
        >>> y.grad
        tensor([1., 1.])
        """
        if not self.requires_grad:
            raise RuntimeError("can't retain_grad on Tensor that has requires_grad=False")
        if self._node is not None and type(self._node) is not AccumulateGrad and not self.retains_grad:
            self._node._hooked().retain(self)

    @property
    def retains_grad(self) -> bool:
        """Whether `retain_grad` was called on this non-leaf.

        >>> y = gw.ones(2, requires_grad=True) * 2
        >>> y.retain_grad()
        >>> y.retains_grad
        True
        """
        hooks = None if self.is_leaf else self._node._hooks
        return hooks is not None and any(ref() is self for ref in hooks.retained)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(grad)`` with this tensor's gradient on backward; what it returns, if not None, replaces it.

        Returns a handle, whose ``remove()`` takes the hook away. Of a leaf it is called with what comes in a pass,
        before that is added to `grad`. Raises RuntimeError for a tensor that requires no grad.

        >>> x = gw.ones(2, requires_grad=True)
        >>> handle = x.register_hook(lambda grad: 10 * grad)
        >>> x.sum().backward()
        >>> x.grad
        tensor([10., 10.])
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self._view is not None:
            refresh(self, always=True)
        return RemovableHandle(self._node._hooked().tensor, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(tensor)`` after a gradient has been accumulated into this leaf; what it returns is not used.

        Returns a handle, whose ``remove()`` takes the hook away. Raises RuntimeError for what is no leaf or requires no
        grad.

        >>> x = gw.ones(2, requires_grad=True)
        >>> handle = x.register_post_accumulate_grad_hook(lambda t: print("got", t.grad))
        >>> x.sum().backward()
        got tensor([1., 1.])
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if not self.is_leaf:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return RemovableHandle(self._node._hooked().accumulated, hook)
