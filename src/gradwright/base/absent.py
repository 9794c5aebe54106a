"""What stands for a name of PyTorch's that is not here: it may be mentioned, and says so when it is used."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NoReturn, Union


def _no(*_: Any, **__: Any) -> bool:
    return False


class Absent(ModuleType):
    """A module, class or function of PyTorch's that gradwright does not have.

    A program may import it, pass it on, name it in annotations, in ``isinstance`` (nothing is an instance of it) and
    derive classes from it. What would need it to be there raises AttributeError with its name: to call it, to make an
    instance of a class derived from it, to set what belongs to it, to ask whether it is true or what it holds.
    Its ``is_available()`` is False.

        >>> rpc = Absent("torch.distributed.rpc", "one process computes here")
        >>> isinstance(1, rpc.RRef)
        False
        >>> rpc.init_rpc("worker")
        Traceback (most recent call last):
        AttributeError: gradwright has no torch.distributed.rpc.init_rpc yet: one process computes here
    """

    def __init__(self, name: str, mend: str = "") -> None:
        super().__init__(name)
        vars(self).update(_mend=mend, __path__=[])

    def _missing(self) -> AttributeError:
        mend: str = vars(self)["_mend"]
        return AttributeError(f"gradwright has no {self.__name__} yet{': ' * bool(mend) + mend}")

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise self._missing()

    __call__ = __bool__ = __iter__ = __len__ = __enter__ = __delattr__ = _refuse

    def __getattr__(self, name: str) -> Any:
        if name.startswith(("__", "pytest")):
            raise AttributeError(f"gradwright has no {self.__name__}.{name}", name=name)
        if name == "is_available":  # a question that has an answer
            return _no
        return Absent(f"{self.__name__}.{name}", vars(self)["_mend"])

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("__") and not isinstance(value, Absent):  # which is what an import sets
            raise getattr(self, name)._missing()
        super().__setattr__(name, value)

    def __getitem__(self, of: Any) -> Any:
        return self  # as in an annotation

    def __or__(self, other: Any) -> Any:
        return Union[self, other]  # noqa: UP007 - they are values

    def __ror__(self, other: Any) -> Any:
        return Union[other, self]  # noqa: UP007 - they are values

    def __instancecheck__(self, instance: object) -> bool:
        return False

    def __subclasscheck__(self, subclass: type) -> bool:
        return False

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        def refuse(cls: type, *_: Any, **__: Any) -> NoReturn:
            raise self._missing()

        return (type(self.__name__.rpartition(".")[2], (), {"__new__": refuse, "__doc__": repr(self)}),)

    def __repr__(self) -> str:
        return f"<{self.__name__}, which gradwright does not have>"
