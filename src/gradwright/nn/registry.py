"""Registering: how a module keeps parameters, buffers and modules that are assigned to its attributes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from gradwright.face.tensor import Tensor
from gradwright.nn.parameter import Buffer, Parameter, is_sparse

_BEGIN = ", which begins every subclass's: super().__init__()"


class extra:
    """A method that PyTorch's Module has not: what a program registers under the same name takes its place."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, module: Any, cls: type | None = None) -> Any:
        if module is None:
            return self._function
        for kind in ("_parameters", "_modules", "_buffers"):
            if self._name in vars(module).get(kind, ()):
                return vars(module)[kind][self._name]
        return _Extra(self._function, module)


_FREE = extra(lambda self: None)


class _Extra(partial[Any]):
    """Such a method, of a module."""


class Registry:
    """The part of `Module` that registers; `Module` is its one subclass.

    A `Parameter`, `Buffer` or module assigned to an attribute is kept under that name in ``_parameters``, ``_buffers``
    or ``_modules``; `register_buffer` does the same for any tensor that is state but not trained. Nothing is changed by
    an assignment that fails.
    """

    _parameters: dict[str, Parameter | None]
    _buffers: dict[str, Tensor | None]
    _non_persistent_buffers_set: set[str]
    _modules: dict[str, Any]

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Keep a parameter under a name. With None the name is known, but listed neither as parameter nor as state.

        Raises TypeError unless it is a Parameter or None, ValueError for one that an operation made, KeyError for a
        name that is taken, empty or has a dot.
        """
        own = self._vacant("parameter", name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_typename(param)}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        _check_leaf(name, param)
        own[name] = param

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Keep a tensor that is state but not trained; `state_dict` has it if it is ``persistent``.

        Raises TypeError unless it is a Tensor or None, KeyError for a name that is taken, empty or has a dot.
        """
        own = self._vacant("buffer", name)
        if tensor is not None and not isinstance(tensor, Tensor) and not is_sparse(tensor):
            raise TypeError(
                f"cannot assign '{_typename(tensor)}' object to buffer '{name}' (torch Tensor or None required)"
            )
        own[name] = tensor
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Any) -> None:
        """Keep a module under a name.

        Raises TypeError unless it is a Module or None, KeyError for a name that is taken, empty or has a dot.
        """
        if module is not None and not isinstance(module, Registry):
            is_class = isinstance(module, type) and issubclass(module, Registry)
            hint = f", but the class itself: write {module.__name__}(...)" if is_class else ""
            if isinstance(module, (list, tuple)):
                hint = f": hand over its elements, {type(self).__name__}(*modules)"
            raise TypeError(f"{_typename(module)} is not a Module subclass{hint}")
        self._vacant("module", name)[name] = module

    def register_module(self, name: str, module: Any) -> None:
        """`add_module` under another name."""
        self.add_module(name, module)

    def _vacant(self, kind: str, name: Any) -> dict[str, Any]:
        """Where things of this kind are kept, if ``name`` may be used there."""
        own = vars(self).get(f"_{kind}s")
        if own is None:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call{_BEGIN}")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_typename(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if not name:
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if name not in own and hasattr(self, name) and not isinstance(getattr(self, name), _Extra):
            raise KeyError(f"attribute '{name}' already exists")
        return own

    def __getattr__(self, name: str) -> Any:
        held = self.__dict__
        for kind in ("_parameters", "_modules", "_buffers"):
            own = held.get(kind)
            if own is not None and name in own:
                return own[name]
        if hasattr(type(self), name):  # a property that raised AttributeError: let it say why
            return super().__getattribute__(name)
        text = f"'{type(self).__name__}' object has no attribute '{name}'"
        if "_modules" not in held and name[0] == "_":
            text += f": Module.__init__() has not been called{_BEGIN}"
        raise AttributeError(text, name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        held = self.__dict__
        parameters, modules, buffers = held.get("_parameters"), held.get("_modules"), held.get("_buffers")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError(f"cannot assign parameters before Module.__init__() call{_BEGIN}")
            _check_leaf(name, value)
            self._vacate(name, parameters)
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(f"cannot assign '{_typename(value)}' as parameter '{name}' "
                                "(torch.nn.Parameter or None expected)")  # fmt: skip
            self.register_parameter(name, None)
        elif isinstance(value, Registry):
            if modules is None:
                raise AttributeError(f"cannot assign module before Module.__init__() call{_BEGIN}")
            self._vacate(name, modules)
            modules[name] = value
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(f"cannot assign '{_typename(value)}' as child module '{name}' "
                                "(torch.nn.Module or None expected)")  # fmt: skip
            modules[name] = None
        elif isinstance(value, Buffer):
            if buffers is None:
                raise AttributeError(f"cannot assign buffer before Module.__init__() call{_BEGIN}")
            self._vacate(name, buffers)
            self.register_buffer(name, value, value.persistent)
        elif buffers is not None and name in buffers:
            if value is not None and not isinstance(value, Tensor) and not is_sparse(value):
                raise TypeError(f"cannot assign '{_typename(value)}' as buffer '{name}' "
                                "(torch.nn.Buffer, torch.Tensor or None expected)")  # fmt: skip
            buffers[name] = value
        else:
            super().__setattr__(name, value)

    def _vacate(self, name: str, own: dict[str, Any]) -> None:
        """Forget what else is kept under ``name``. KeyError if the class has such an attribute, which would hide it."""
        if name not in own and self._hides(name):
            raise KeyError(f"attribute '{name}' already exists")
        for other in (self.__dict__, self._parameters, self._modules, self._buffers):
            if other is not own:
                other.pop(name, None)

    def _hides(self, name: str) -> bool:
        """Whether the class has an attribute of this name; a property that raises AttributeError is none."""
        there = (vars(cls)[name] for cls in type(self).__mro__ if name in vars(cls))
        found = next((value for value in there if not isinstance(value, extra)), _FREE)
        if isinstance(found, property):
            try:
                found.__get__(self)
            except AttributeError:
                return False
        return found is not _FREE

    def __delattr__(self, name: str) -> None:
        for own in (self._parameters, self._buffers, self._modules):
            if name in own:
                del own[name]
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        names = [*super().__dir__(), *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())


def _typename(value: Any) -> str:
    """The type of a value as PyTorch's messages write it: ``torch.FloatTensor`` for a tensor, a class by its path."""
    if isinstance(value, Tensor):
        return str(value.type())
    cls = value if isinstance(value, type) else type(value)
    return cls.__qualname__ if cls.__module__ == "builtins" else f"{cls.__module__}.{cls.__qualname__}"


def _check_leaf(name: str, parameter: Parameter | None) -> None:
    if parameter is not None and not parameter.is_leaf:
        raise ValueError(
            f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
            f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
        )
