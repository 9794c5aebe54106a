"""LazyModuleMixin: modules that learn the sizes of their parameters from the first input."""

from __future__ import annotations

from typing import Any, ClassVar

from gradwright.engine.grad_mode import no_grad
from gradwright.nn.module import Module
from gradwright.nn.parameter import is_lazy


class LazyModuleMixin(Module):
    """Makes a module lazy: its `UninitializedParameter` s get their shapes from the first call, or from a state_dict.

    Write ``class LazyX(LazyModuleMixin, X)`` with ``cls_to_become = X``, an ``__init__`` that registers uninitialized
    parameters and buffers, and ``initialize_parameters(self, *args, **kwargs)``, which is given the arguments of the
    call and materializes them. After the first call the module is an ``X``; without ``cls_to_become`` it stays what it
    is. An optimiser must be made after the first call.

    Raises NotImplementedError without an ``initialize_parameters``, RuntimeError if that leaves one uninitialized.

    >>> from gradwright import nn
    >>> class Scale(nn.Module):
    ...     def forward(self, x):
    ...         return self.factor * x
    >>> class LazyScale(LazyModuleMixin, Scale):
    ...     cls_to_become = Scale
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = nn.UninitializedParameter()
    ...     def initialize_parameters(self, x):
    ...         self.factor.materialize(x.shape[-1:])
    ...         nn.init.ones_(self.factor)
    >>> net = nn.Sequential(LazyScale())
    >>> net(gw.ones(2, 3)).shape, net
    (torch.Size([2, 3]), Sequential(
      (0): Scale()
    ))
    """

    cls_to_become: ClassVar[type[Any] | None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give every uninitialized parameter and buffer its shape and values; a subclass defines it."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of this module itself has no shape yet."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _infer_parameters(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.initialize_parameters(*args, **kwargs)
        if self.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        self._initialize_hook.remove()
        self._load_hook.remove()
        del self._initialize_hook, self._load_hook
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *_: Any) -> None:
        """Give those that a state_dict has the shapes they have there."""
        own: dict[str, Any] = {**self._parameters, **self._buffers}
        for name, value in own.items():
            given = state_dict.get(prefix + name)
            if is_lazy(value) and given is not None and not is_lazy(given):
                with no_grad():
                    value.materialize(given.shape)
