"""Modules that hold modules: one after another, as a list, as a dictionary."""

from __future__ import annotations

import itertools
import operator
from collections import OrderedDict
from collections.abc import ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from typing import TYPE_CHECKING, Any, Generic, Self, SupportsIndex, TypeVar, overload

from gradwright.nn.module import Module

if TYPE_CHECKING:
    from typing_extensions import TypeVar as DefaultTypeVar  # a checker's own, which need not be installed

    from gradwright.face.typing import Tensor

    Item_co = DefaultTypeVar("Item_co", bound=Module, covariant=True, default=Module)
else:
    Item_co = TypeVar("Item_co", bound=Module, covariant=True)


def position(index: Any, n: int) -> int:
    """The index of one of ``n`` things, counted from the front. IndexError if there is no such thing."""
    index = operator.index(index)
    if not -n <= index < n:
        raise IndexError(f"index {index} is out of range")
    return index % n


def pairs(of: str, given: Any) -> list[tuple[Any, Any]]:
    """What a mapping, or an iterable of pairs, would add to ``of``. TypeError or ValueError for anything else."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{of}.update should be called with an iterable of key/value pairs, but got {type(given).__name__}"
        )
    found = []
    for k, pair in enumerate(given.items() if hasattr(given, "items") else given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{of} update sequence element #{k} should be Iterable; is {type(pair).__name__}")
        if len(both := tuple(pair)) != 2:
            raise ValueError(f"{of} update sequence element #{k} has length {len(both)}; 2 is required")
        found.append(both)
    return found


class _Listed(Module, Generic[Item_co]):
    """What `Sequential` and `ModuleList` share: children in order, found by position, named by number."""

    def _part(self, items: list[tuple[str, Any]]) -> Self:
        """A container of the same class with these children."""
        raise NotImplementedError

    def _names(self, index: Any) -> list[str]:
        """The names of the children that an index or a slice means."""
        names = list(self._modules)
        if isinstance(index, slice):
            return names[index]
        return [names[position(index, len(names))]]

    def _renumber(self, modules: Iterable[Module | None]) -> None:
        self._modules = {str(i): module for i, module in enumerate(modules)}

    @overload
    def __getitem__(self, index: slice) -> Self: ...
    @overload
    def __getitem__(self, index: SupportsIndex) -> Item_co: ...

    def __getitem__(self, index: Any) -> Any:
        names = self._names(index)
        if isinstance(index, slice):
            return self._part([(name, self._modules[name]) for name in names])
        return self._modules[names[0]]

    def __setitem__(self, index: int, module: Module) -> None:
        name, = self._names(operator.index(index))  # fmt: skip
        setattr(self, name, module)

    def __delitem__(self, index: Any) -> None:
        gone = set(self._names(index))
        self._renumber(module for name, module in self._modules.items() if name not in gone)

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Item_co]:
        return iter(self._modules.values())

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def append(self, module: Module) -> Self:
        """Add a module at the end, under the next free number."""
        numbers = map(str, itertools.count(len(self)))
        self.add_module(next(n for n in numbers if n not in self._modules), module)
        return self

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add several modules at the end; TypeError unless they can be iterated over."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"{type(self).__name__}.extend should be called with an iterable, but got "
                            f"{type(modules).__name__}: write [module]")  # fmt: skip
        for module in list(modules):
            self.append(module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Add a module before position ``index`` and number all anew; IndexError if that is out of range."""
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        *before, last = self.append(module)
        before.insert(index, last)
        self._renumber(before)
        return self

    @overload
    def pop(self, index: slice) -> Self: ...
    @overload
    def pop(self, index: SupportsIndex) -> Item_co: ...

    def pop(self, index: Any) -> Any:
        """Take out the module at a position, or those of a slice, and number the rest anew."""
        found = self[index]
        del self[index]
        return found


class Sequential(_Listed[Item_co]):
    """Modules one after another: each takes what the one before it returns.

    Args:
        modules: the modules in order, named "0", "1", ...; or one OrderedDict of names and modules.

    An index gives a module, a slice a Sequential. Taking modules out or inserting them numbers all anew.

    Raises TypeError for what is no module, IndexError for an index out of range.

    >>> from gradwright import nn
    >>> net = Sequential(nn.Linear(3, 4), nn.ReLU())
    >>> net.append(nn.Linear(4, 1))
    Sequential(
      (0): Linear(in_features=3, out_features=4, bias=True)
      (1): ReLU()
      (2): Linear(in_features=4, out_features=1, bias=True)
    )
    >>> net[1], len(net[1:])
    (ReLU(), 2)
    """

    def __init__(self, *modules: Any) -> None:
        super().__init__()
        if len(modules) == 1 and isinstance(modules[0], OrderedDict):
            for name, module in modules[0].items():
                self.add_module(name, module)
        else:
            self.extend(modules)

    def _part(self, items: list[tuple[str, Any]]) -> Self:
        return type(self)(OrderedDict(items))

    def __add__(self, other: Any) -> Sequential:
        return Sequential(*self, *other) if isinstance(other, Sequential) else NotImplemented

    def __mul__(self, other: int) -> Sequential:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return Sequential(*[*self] * other)

    __rmul__ = __mul__

    def __imul__(self, other: int) -> Self:
        self._renumber(self * other)
        return self

    def forward(self, input: Tensor) -> Tensor:
        """``input`` put through every module in turn."""
        for module in self:
            input = module(input)
        return input


class ModuleList(_Listed[Item_co]):
    """Modules in a list, whose parameters are found. Calling them is up to you.

    Args:
        modules: the modules to begin with.

    Raises TypeError for what is no module, IndexError for an index out of range.

    >>> from gradwright import nn
    >>> ModuleList([nn.Linear(2, 2) for _ in range(3)] + [nn.ReLU()])
    ModuleList(
      (0-2): 3 x Linear(in_features=2, out_features=2, bias=True)
      (3): ReLU()
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:  # a subclass may extend by what it makes later alone
            self.extend(modules)

    def _part(self, items: list[tuple[str, Any]]) -> Self:
        return type(self)([module for _, module in items])

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def _described(self) -> Iterator[tuple[str, str]]:
        at = 0
        for text, equal in itertools.groupby(map(repr, self)):
            n = len(list(equal))
            yield (str(at), text) if n == 1 else (f"{at}-{at + n - 1}", f"{n} x {text}")
            at += n


class ModuleDict(Module, Generic[Item_co]):
    """Modules in a dictionary, whose parameters are found. Calling them is up to you.

    Args:
        modules: names and modules to begin with: a mapping, or pairs.

    Raises TypeError unless given a module, KeyError for a name that is missing, or taken by an attribute.

    >>> from gradwright import nn
    >>> ModuleDict({"act": nn.ReLU()})
    ModuleDict(
      (act): ReLU()
    )
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:  # the update() of a subclass may need what it makes later
            self.update(modules)

    def __getitem__(self, name: str) -> Item_co:
        return self._modules[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self.add_module(name, module)

    def __delitem__(self, name: str) -> None:
        del self._modules[name]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, name: str) -> bool:
        return name in self._modules

    def keys(self) -> KeysView[str]:
        """Their names."""
        return self._modules.keys()

    def values(self) -> ValuesView[Item_co]:
        """The modules."""
        return self._modules.values()

    def items(self) -> ItemsView[str, Item_co]:
        """Pairs of a name and a module."""
        return self._modules.items()

    def update(self, modules: Any) -> None:
        """Add those of a mapping, or of pairs; one that has the name already is replaced."""
        for name, module in pairs("ModuleDict", modules):
            self[name] = module

    def pop(self, name: str) -> Item_co:
        """Take out the module of this name."""
        return self._modules.pop(name)

    def clear(self) -> None:
        """Take out all."""
        self._modules.clear()
