"""Parametrizations: parameters that are computed from others each time they are asked for.

>>> class Symmetric(gw.nn.Module):
...     def forward(self, x):
...         return x.triu() + x.triu(1).mT
>>> layer = register_parametrization(gw.nn.Linear(3, 3), "weight", Symmetric())
>>> bool((layer.weight == layer.weight.mT).all())
True
>>> [name for name, _ in layer.named_parameters()]
['bias', 'parametrizations.weight.original']
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from gradwright.base.lazy import lazy
from gradwright.engine.grad_mode import no_grad
from gradwright.face.tensor import Tensor
from gradwright.nn.container import ModuleDict, ModuleList
from gradwright.nn.module import Module
from gradwright.nn.parameter import Parameter

_cache: ContextVar[dict[int, Any] | None] = ContextVar("cache", default=None)
"""What the parametrizations have computed under `cached`, by the id of their list."""

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]  # fmt: skip

lazy(__name__)


@contextmanager
def cached() -> Iterator[None]:
    """In this block, each parametrization is computed once: for parameters that are used several times in a pass.

    What is changed inside the block, by an optimiser for example, is not seen until it has ended.

    >>> layer = gw.nn.utils.parametrizations.orthogonal(gw.nn.Linear(2, 2))
    >>> with gw.nn.utils.parametrize.cached():
    ...     layer.weight is layer.weight
    True
    """
    outer = _cache.get()
    token = _cache.set({} if outer is None else outer)
    try:
        yield
    finally:
        _cache.reset(token)


def _register(module: Module, name: str, tensor: Any) -> None:
    (module.register_parameter if isinstance(tensor, Parameter) else module.register_buffer)(name, tensor)


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and what they are computed from.

    Called without arguments it gives the parametrized tensor: the first parametrization of ``original`` (or of
    ``original0``, ``original1``, ... if its ``right_inverse`` gives several), then the second of that, and so on.

    Args:
        modules: the parametrizations.
        original: the tensor to be parametrized, taken back through their ``right_inverse``, where they have one.
        unsafe: do without the check that shape and dtype stay what they were.

    Attributes:
        is_tensor: whether it is computed from one tensor.
        ntensors: of how many.

    Raises ValueError where a ``right_inverse``, or the result, does not fit.
    """

    def __init__(self, modules: Sequence[Module], original: Tensor | Parameter, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        new = original
        with no_grad():
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):
                        new = module.right_inverse(new)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(_sequence(new))
        if self.is_tensor:
            if original.dtype != new.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {new.dtype}"
                )
            if new is not original:
                original.data = new.data
            _register(self, "original", original)
        else:
            for k, part in enumerate(new):
                trained = isinstance(original, Parameter)
                part = Parameter(part, original.requires_grad) if trained else part.detach()
                _register(self, f"original{k}", part)
        if not unsafe:
            _check_same("Registering a parametrization", self(), original)

    def right_inverse(self, value: Any) -> None:
        """Set what the tensor is computed from so that it becomes ``value``, as far as the parametrizations can.

        Raises RuntimeError if one of them has no ``right_inverse``, ValueError if what that gives does not fit.
        """
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
        if self.is_tensor and not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {type(value).__name__}")
        values = [value] if self.is_tensor else _sequence(value)
        if len(values) != self.ntensors:
            raise ValueError(f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a "
                             f"sequence of length {len(values)}.")  # fmt: skip
        for original, new in zip(self._originals(), values, strict=True):
            if new.dtype != original.dtype:
                raise ValueError(f"The tensor returned by `right_inverse` has dtype {new.dtype} while `original` has "
                                 f"dtype {original.dtype}")  # fmt: skip
            original.data = new.data

    def _originals(self) -> list[Any]:
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{k}") for k in range(self.ntensors)]

    def forward(self) -> Any:
        """The parametrized tensor."""
        first, *others = self
        x = first(*self._originals())
        for module in others:
            x = module(x)
        return x


def _sequence(value: Any) -> Sequence[Any]:
    """What a ``right_inverse`` gives in place of one tensor: several."""
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                         f"{type(value).__name__}")  # fmt: skip
    for k, one in enumerate(value):
        if not isinstance(one, Tensor):
            raise ValueError("'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                             f"element {k} of the sequence with type {type(one).__name__}.")  # fmt: skip
    return value


def _check_same(what: str, new: Any, old: Any) -> None:
    if not isinstance(new, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(new).__name__}.")
    for name in ("dtype", "shape"):
        if getattr(new, name) != getattr(old, name):
            raise ValueError(f"{what} may not change the {name} of the tensor, unless `unsafe` flag is enabled.\n"
                             f"unparametrized {name}: {getattr(old, name)}\n"
                             f"parametrized {name}: {getattr(new, name)}")  # fmt: skip


class _Parametrized(Module):
    """What a class of modules is given in front while one of them is parametrized."""

    def _list(self, name: str) -> ParametrizationList | None:
        lists = vars(self).get("_modules", {}).get("parametrizations")
        return lists[name] if lists is not None and name in lists else None

    def __getattr__(self, name: str) -> Any:
        computed = self._list(name)
        if computed is None:
            return super().__getattr__(name)
        cache = _cache.get()
        if cache is None:
            return computed()
        if id(computed) not in cache:
            cache[id(computed)] = computed()
        return cache[id(computed)]

    def __setattr__(self, name: str, value: Any) -> None:
        computed = self._list(name)
        if computed is None:
            super().__setattr__(name, value)
        else:
            computed.right_inverse(value)

    def __reduce__(self) -> Any:
        return _blank, (type_before_parametrizations(self),), vars(self)


@functools.cache
def _parametrized(cls: Any) -> Any:
    return type(f"Parametrized{cls.__name__}", (_Parametrized, cls), {"__doc__": cls.__doc__})


def _blank(cls: Any) -> Any:
    return object.__new__(_parametrized(cls))


def register_parametrization(module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
                             ) -> Module:  # fmt: skip
    """Have a parameter or buffer computed by ``parametrization`` from now on; a second one takes what the first gives.

    ``module.weight`` then runs ``parametrization(original)``, where ``original``, at
    ``module.parametrizations.weight.original``, is the parameter that is trained and saved. If the parametrization has
    a method ``right_inverse``, that gives the original for a value: now for the one there is, and later for what is
    assigned to ``module.weight``. It may give several tensors, which ``forward`` then takes.

    Args:
        module: whose tensor it is; its class becomes one of its own, "Parametrized...".
        tensor_name: the name of it.
        parametrization: a module from tensor to tensor, of the same shape and dtype.
        unsafe: do without the check of that.

    Returns the module. Raises ValueError if there is no such tensor, or if shape or dtype would change.

    >>> class Symmetric(gw.nn.Module):
    ...     def forward(self, x):
    ...         return x.triu() + x.triu(1).T
    >>> layer = gw.nn.utils.parametrize.register_parametrization(gw.nn.Linear(2, 2), "weight", Symmetric())
    >>> bool((layer.weight == layer.weight.T).all())
    True
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        computed: Any = module.parametrizations[tensor_name]
        if not unsafe:
            old = getattr(module, tensor_name)
            new = parametrization(old)
            _check_same("Registering a parametrization", new, old)
            if hasattr(parametrization, "right_inverse"):
                with suppress(NotImplementedError):
                    _check_inverse(parametrization.right_inverse(new), old)
        computed.append(parametrization)
        computed.unsafe |= unsafe
    elif tensor_name in module._parameters or tensor_name in module._buffers:
        computed = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
        computed.train(module.training)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            cls: Any = type(module)
            module.__class__ = _parametrized(cls)
            module.parametrizations = ModuleDict()
        module.parametrizations[tensor_name] = computed
    else:
        raise ValueError(f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
                         f"'{tensor_name}'")  # fmt: skip
    return module


def _check_inverse(back: Any, old: Any) -> None:
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(back).__name__}")
    for name in ("dtype", "shape"):
        if getattr(back, name) != getattr(old, name):
            raise ValueError(f"The tensor returned by parametrization.right_inverse must have the same {name} as the "
                             f"parametrized tensor: {getattr(back, name)} is not {getattr(old, name)}.")  # fmt: skip


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Whether a module has parametrizations, or one of the tensor of this name.

    >>> layer = gw.nn.utils.parametrizations.orthogonal(gw.nn.Linear(2, 2))
    >>> is_parametrized = gw.nn.utils.parametrize.is_parametrized
    >>> is_parametrized(layer), is_parametrized(layer, "bias")
    (True, False)
    """
    lists = module._modules.get("parametrizations")
    if not isinstance(module, _Parametrized) or lists is None:
        return False
    return len(lists) > 0 if tensor_name is None else tensor_name in lists


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a tensor an ordinary parameter or buffer again.

    Args:
        module: whose tensor it is.
        tensor_name: the name of it.
        leave_parametrized: keep the value that was computed; else go back to the original, if that is one tensor.

    Returns the module. Raises ValueError if there is no parametrization, or no one original to go back to.

    >>> layer = gw.nn.utils.parametrizations.orthogonal(gw.nn.Linear(2, 2))
    >>> gw.nn.utils.parametrize.remove_parametrizations(layer, "weight")
    Linear(in_features=2, out_features=2, bias=True)
    >>> type(layer.weight).__name__
    'Parameter'
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    computed = module.parametrizations[tensor_name]
    if not computed.is_tensor and not leave_parametrized:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in "
                         "terms of a sequence of tensors.")  # fmt: skip
    value: Any = computed() if leave_parametrized else None
    if computed.is_tensor:
        tensor = computed.original
        if value is not None:
            tensor.data = value.detach().clone()
    else:
        trained = value.requires_grad
        tensor = Parameter(value.detach().clone()) if trained else value.detach().clone()
    del module.parametrizations[tensor_name]
    if not len(module.parametrizations):
        del module.parametrizations
        module.__class__ = type_before_parametrizations(module)
    _register(module, tensor_name, tensor)
    return module


def type_before_parametrizations(module: Module) -> type[Any]:
    """The class of a module, without what parametrizations made of it.

    >>> layer = gw.nn.utils.parametrizations.orthogonal(gw.nn.Linear(2, 2))
    >>> type(layer).__name__, gw.nn.utils.parametrize.type_before_parametrizations(layer).__name__
    ('ParametrizedLinear', 'Linear')
    """
    return type(module).__bases__[1] if isinstance(module, _Parametrized) else type(module)


def transfer_parametrizations_and_params(from_module: Module, to_module: Module, tensor_name: str | None = None
                                         ) -> Module:  # fmt: skip
    """Give ``to_module`` the parametrizations of ``from_module``, and the values they are computed from.

    Args:
        from_module: whose parametrizations they are; they are shared, the values are copied.
        to_module: a module with parameters of the same names.
        tensor_name: of which tensor; of all if None.

    Returns ``to_module``.

    >>> first = gw.nn.utils.parametrizations.orthogonal(gw.nn.Linear(2, 2))
    >>> second = gw.nn.utils.parametrize.transfer_parametrizations_and_params(first, gw.nn.Linear(2, 2))
    >>> bool((first.weight == second.weight).all())
    True
    """
    lists = from_module._modules.get("parametrizations") or {}
    for name in [tensor_name] if tensor_name is not None else list(lists):
        for parametrization in lists[name]:
            register_parametrization(to_module, name, parametrization, unsafe=True)
        copies = to_module.parametrizations[name]._originals()
        for new, old in zip(copies, lists[name]._originals(), strict=True):
            new.data = old.detach().clone()
    return to_module
