"""The tree that modules inside modules make, and the paths in it: names joined by dots, "encoder.0.weight"."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

from gradwright.face.tensor import Tensor
from gradwright.nn.parameter import Parameter
from gradwright.nn.registry import Registry


class Tree(Registry):
    """The part of `Module` that walks."""

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """The modules right below this one, each once, with their names."""
        seen: set[int] = set()
        for name, child in self._modules.items():
            if child is not None and id(child) not in seen:
                seen.add(id(child))
                yield name, child

    def children(self) -> Iterator[Any]:
        """The modules right below this one, each once."""
        return (child for _, child in self.named_children())

    def named_modules(self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
                      ) -> Iterator[tuple[str, Any]]:  # fmt: skip
        """This module and all below it, with their paths; each once, unless told otherwise."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, child in self._modules.items():
            if child is not None:
                yield from child.named_modules(memo, joined(prefix, name), remove_duplicate)

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """This module and all below it; each once, unless told otherwise."""
        return (module for _, module in self.named_modules(remove_duplicate=remove_duplicate))

    def _named(self, kind: str, prefix: str, recurse: bool, unique: bool) -> Iterator[tuple[str, Any]]:
        seen: set[int] = set()
        modules = self.named_modules(prefix=prefix, remove_duplicate=unique) if recurse else [(prefix, self)]
        for path, module in modules:
            for name, value in vars(module)[kind].items():
                if value is not None and id(value) not in seen:
                    if unique:
                        seen.add(id(value))
                    yield joined(path, name), value

    def named_parameters(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
                         ) -> Iterator[tuple[str, Parameter]]:  # fmt: skip
        """The parameters of this module, and with ``recurse`` of all below it, with their paths; each once."""
        return self._named("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters of this module, and with ``recurse`` of all below it; each once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
                      ) -> Iterator[tuple[str, Tensor]]:  # fmt: skip
        """The buffers of this module, and with ``recurse`` of all below it, with their paths; each once."""
        return self._named("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers of this module, and with ``recurse`` of all below it; each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Any:
        """The module at a path such as "encoder.0"; "" is this one. AttributeError if there is none."""
        module = self
        for name in target.split(".") if target else ():
            module = _attribute(module, name)
            if not isinstance(module, Registry):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Put ``module`` at a path, in place of what is there.

        With ``strict`` there must be a module there; else a new name will do, below a module that exists.

        Raises ValueError for "" and for what is no module, AttributeError where the path does not lead.
        """
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Registry):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"{type(parent).__name__} has no attribute `{name}`")
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Registry):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a path such as "encoder.0.weight". AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        found = _attribute(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"`{name}` is not an nn.Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path such as "encoder.0.mean". AttributeError if there is none."""
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        found = _attribute(module, name)
        if name not in module._buffers:
            raise AttributeError(f"`{name}` is not a buffer")
        return found

    def apply(self, fn: Callable[[Any], Any]) -> Self:
        """Call ``fn`` on every module below this one, then on this one; returns this one."""
        for child in self.children():
            child.apply(fn)
        fn(self)
        return self


def joined(path: str, name: str) -> str:
    """The path of ``name`` at ``path``."""
    return f"{path}.{name}" if path else name


def _attribute(module: Any, name: str) -> Any:
    if not hasattr(module, name):
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    return getattr(module, name)
