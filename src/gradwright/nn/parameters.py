"""Modules that hold parameters: as a list, as a dictionary."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NoReturn, Self

from gradwright.face.tensor import Tensor
from gradwright.nn.container import pairs, position
from gradwright.nn.module import Module
from gradwright.nn.parameter import Parameter


class _Holder(Module):
    """What `ParameterList` and `ParameterDict` share: tensors become parameters, anything else is kept as it is."""

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise RuntimeError(f"{type(self).__name__} should not be called.")

    def _keep(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, name, value)

    def _described_parameters(self, items: Iterable[tuple[Any, Any]], tensor: Any) -> str:
        def said(value: Any) -> str:
            if not isinstance(value, Tensor):
                return f"Object of type: {type(value).__name__}"
            return f"Parameter containing: [{tensor(value)} of size {'x'.join(map(str, value.shape))}]"

        return "\n".join(f"  ({name}): {said(value)}" for name, value in items)


class ParameterList(_Holder):
    """Parameters in a list, which a module that has it finds.

    Args:
        values: what to begin with: tensors become parameters, anything else is kept as it is.

    An index gives one, a slice a ParameterList. It cannot be called (RuntimeError).

    Raises IndexError for an index out of range, TypeError for values to extend it by that are no such.

    >>> weights = ParameterList([gw.ones(2), gw.ones(2, 3)])
    >>> weights
    ParameterList(
        (0): Parameter containing: [torch.float32 of size 2]
        (1): Parameter containing: [torch.float32 of size 2x3]
    )
    >>> [name for name, _ in weights.named_parameters()]
    ['0', '1']
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return type(self)([self[k] for k in range(*index.indices(len(self)))])
        return getattr(self, str(position(index, len(self))))

    def __setitem__(self, index: int, value: Any) -> None:
        self._keep(str(position(index, len(self))), value)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def append(self, value: Any) -> Self:
        """Add one at the end."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add several at the end."""
        if isinstance(values, Tensor) or not isinstance(values, Iterable):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return self._described_parameters(enumerate(self), lambda p: p.dtype)


class ParameterDict(_Holder):
    """Parameters in a dictionary, which a module that has it finds.

    Args:
        parameters: names and values to begin with: a mapping, or pairs. Tensors become parameters, anything else is
            kept as it is. A mapping that is neither an OrderedDict nor a ParameterDict is taken in alphabetical order.

    It cannot be called (RuntimeError).

    Raises KeyError for a name that is missing, or taken by an attribute, TypeError for one that is no string.

    >>> ParameterDict([("w", gw.ones(2, 3)), ("b", gw.ones(2))])
    ParameterDict(
        (w): Parameter containing: [torch.FloatTensor of size 2x3]
        (b): Parameter containing: [torch.FloatTensor of size 2]
    )
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._names: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return getattr(self, name)

    def __setitem__(self, name: str, value: Any) -> None:
        if not isinstance(name, str):
            raise TypeError("Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                            f"'{type(name).__name__}').")  # fmt: skip
        if name not in self._names and hasattr(self, name):
            raise KeyError(f"attribute '{name}' already exists")
        self._keep(name, value)
        self._names[name] = None

    def __delitem__(self, name: str) -> None:
        del self._names[name]
        delattr(self, name)

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __or__(self, other: Any) -> ParameterDict:
        return self.copy()._updated(other)

    def __ror__(self, other: Any) -> ParameterDict:
        return ParameterDict(other)._updated(self)

    def __ior__(self, other: Any) -> Self:
        return self._updated(other)

    def _updated(self, other: Any) -> Self:
        self.update(other)
        return self

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._names.keys()

    def values(self) -> Iterable[Any]:
        """The parameters, and what else it holds."""
        return [self[name] for name in self]

    def items(self) -> Iterable[tuple[str, Any]]:
        """Pairs of a name and a parameter."""
        return [(name, self[name]) for name in self]

    def copy(self) -> ParameterDict:
        """Another one, of the same parameters."""
        return ParameterDict(self)

    def get(self, name: str, default: Any = None) -> Any:
        """The one of this name, or ``default``."""
        return self[name] if name in self._names else default

    def setdefault(self, name: str, default: Any = None) -> Any:
        """The one of this name, which is made ``default`` if there is none."""
        if name not in self:
            self[name] = default
        return self[name]

    def fromkeys(self, names: Iterable[str], default: Any = None) -> ParameterDict:
        """Another one, with ``default`` under each of the names."""
        return ParameterDict((name, default) for name in names)

    def update(self, parameters: Any) -> None:
        """Add those of a mapping, or of pairs; one that has the name already is replaced."""
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())
        for name, value in pairs("ParameterDict", parameters):
            self[name] = value

    def pop(self, name: str) -> Any:
        """Take out the one of this name."""
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take out the last one, and give its name, too."""
        name = next(reversed(self._names))
        return name, self.pop(name)

    def clear(self) -> None:
        """Take out all."""
        for name in list(self):
            del self[name]

    def extra_repr(self) -> str:
        return self._described_parameters(self.items(), lambda p: p.type())
