"""The closed subset of pickle that PyTorch's files are written in, read and written without running anything.

`read` is a stack machine over the opcodes, which the standard library's pickletools takes apart. A global is what
``find`` gives for its name, and only what ``find`` has given is called: a name that it refuses ends the reading.
`Writer` writes the same subset, in protocol 2.
"""

from __future__ import annotations

import pickletools
import struct
from _compat_pickle import IMPORT_MAPPING, NAME_MAPPING  # of the standard library: what was renamed since Python 2
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gradwright.base.errors import FileError

_MARK = object()
_PUSHED = frozenset((
    "BININT", "BININT1", "BININT2", "LONG1", "LONG4", "INT", "LONG", "BINFLOAT", "FLOAT", "BINUNICODE",
    "SHORT_BINUNICODE", "BINUNICODE8", "UNICODE", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8", "BYTEARRAY8", "BINSTRING",
    "SHORT_BINSTRING", "STRING",
))  # fmt: skip
"""Opcodes that push their argument."""
_CONSTANTS: dict[str, Callable[[], Any]] = {
    "NONE": lambda: None, "NEWTRUE": lambda: True, "NEWFALSE": lambda: False, "MARK": lambda: _MARK,
    "EMPTY_TUPLE": tuple, "EMPTY_LIST": list, "EMPTY_DICT": dict, "EMPTY_SET": set,
}  # fmt: skip
_GATHERED: dict[str, Callable[[list[Any]], Any]] = {
    "TUPLE": tuple, "LIST": list, "FROZENSET": lambda items: frozenset(keys(items)),
    "DICT": lambda items: dict(_pairs(items)),
}  # fmt: skip
"""Opcodes that make something of all that was pushed since the mark."""
_SHORT_TUPLES = {"TUPLE1": 1, "TUPLE2": 2, "TUPLE3": 3}
_TAKEN_BACK = ("BINGET", "LONG_BINGET", "GET")
_KEPT = ("BINPUT", "LONG_BINPUT", "PUT", "MEMOIZE")
_NOTHING = ("PROTO", "FRAME")


_LARGEST_KEY = 10_000


def _pairs(items: list[Any]) -> Iterable[tuple[Any, Any]]:
    return zip(keys(items[::2]), items[1::2], strict=True)


def keys(items: Iterable[Any]) -> Any:
    """What is to be hashed, as it is given; ValueError if one is made of more tuples than Python can hash.

    A tuple that is a thousand times in itself would end the process, and one of two that are each of two, forever.
    """
    for item in items:
        parts, count = [item], 0
        while parts:
            part = parts.pop()
            if isinstance(part, tuple):
                parts += part
                count += 1 + len(part)
                if count > _LARGEST_KEY:
                    raise ValueError(f"a key or member is made of more than {_LARGEST_KEY:,} parts")
    return items


def read(stream: Any, find: Callable[[str], Any], persistent: Callable[[Any], Any] | None = None) -> Any:
    """The object of one pickle in a stream of bytes, which is left at its end.

    Args:
        find: for ``"module.name"``, what stands for that global. Python calls it where the pickle says so.
        persistent: what an object kept outside the pickle is, by what the pickle says of it.

    Raises FileError where an opcode is not of the subset, or the pickle is damaged; whatever ``find`` raises.
    """
    try:
        return _Machine(find, persistent).run(stream)
    except FileError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError, MemoryError) as e:
        raise FileError(f"its pickle is damaged: {type(e).__name__}: {e}") from None


def globals_in(stream: Any) -> list[str]:
    """The globals that the pickle in a stream names, as ``module.name``, in the order of their first use."""
    found: dict[str, None] = {}
    texts: list[Any] = []  # what was pushed; a name taken from the stack is two texts pushed just before
    memo: dict[Any, Any] = {}
    for opcode, argument, _ in pickletools.genops(stream):
        if opcode.name == "GLOBAL":
            found[_dotted(str(argument))] = None
        elif opcode.name == "STACK_GLOBAL":
            found[_dotted(" ".join(map(str, texts[-2:])))] = None
        elif opcode.name in _KEPT:
            memo[len(memo) if argument is None else argument] = texts[-1] if texts else None
        else:
            texts.append(memo.get(argument) if opcode.name in _TAKEN_BACK else argument)
    return [*found]


def _dotted(argument: str) -> str:
    """``module.name`` of a GLOBAL, by the names of Python 3."""
    module, _, name = argument.partition(" ")
    module, name = NAME_MAPPING.get((module, name), (module, name))
    return f"{IMPORT_MAPPING.get(module, module)}.{name}"


def _says_order_alone(dtype: np.dtype[Any], state: Any) -> bool:
    """Whether a state leaves a dtype what it is: of another size, or of objects as bytes, arrays would be pointers."""
    _, _, *parts, size, alignment, flags = state[:8]
    own = size in (-1, dtype.itemsize) and alignment in (-1, dtype.alignment)
    return dtype.kind in "biufcSUmM" and own and flags == dtype.flags and parts == [None, None, None]


class _Machine:
    def __init__(self, find: Callable[[str], Any], persistent: Callable[[Any], Any] | None) -> None:
        self._find, self._persistent = find, persistent
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}
        self._found: dict[int, Any] = {}

    def run(self, stream: Any) -> Any:
        for opcode, argument, at in pickletools.genops(stream):
            if opcode.name == "STOP":
                return self._stack.pop()
            self._step(opcode.name, argument, at)
        raise ValueError("it has no end")

    def _step(self, name: str, argument: Any, at: int | None) -> None:
        stack = self._stack
        if name in _PUSHED:
            stack.append(argument)
        elif name in _CONSTANTS:
            stack.append(_CONSTANTS[name]())
        elif name in _TAKEN_BACK:
            stack.append(self._memo[argument])
        elif name in _KEPT:
            self._memo[len(self._memo) if name == "MEMOIZE" else argument] = stack[-1]
        elif name in _SHORT_TUPLES:
            n = _SHORT_TUPLES[name]
            stack[-n:] = [(*stack[-n:],)]
        elif name in _GATHERED:
            stack.append(_GATHERED[name](self._gathered()))
        elif name not in _NOTHING:
            act = getattr(self, f"_{name.lower()}", None)
            if act is None:
                raise FileError(f"its pickle has the opcode {name} at byte {at}, which no file of tensors needs")
            act(argument)

    def _gathered(self) -> list[Any]:
        """What was pushed since the last mark, taken from the stack."""
        begin = len(self._stack) - 1
        while self._stack[begin] is not _MARK:
            begin -= 1
            if begin < 0:
                raise ValueError("it gathers what it did not begin")
        items = self._stack[begin + 1 :]
        del self._stack[begin:]
        return items

    def _append(self, _: Any) -> None:
        item = self._stack.pop()
        self._stack[-1].append(item)

    def _appends(self, _: Any) -> None:
        items = self._gathered()
        self._stack[-1].extend(items)

    def _additems(self, _: Any) -> None:
        items = self._gathered()
        self._stack[-1].update(keys(items))

    def _setitem(self, _: Any) -> None:
        value, key = self._stack.pop(), self._stack.pop()
        keys((key,))
        self._stack[-1][key] = value

    def _setitems(self, _: Any) -> None:
        items = self._gathered()
        for key, value in _pairs(items):
            self._stack[-1][key] = value

    def _pop(self, _: Any) -> None:
        self._stack.pop()

    def _binpersid(self, _: Any) -> None:
        if self._persistent is None:
            raise ValueError("it refers to an object outside")
        self._stack.append(self._persistent(self._stack.pop()))

    def _global(self, argument: str) -> None:
        self._push_found(_dotted(argument))

    def _stack_global(self, _: Any) -> None:
        name, module = self._stack.pop(), self._stack.pop()
        self._push_found(_dotted(f"{module} {name}"))

    def _push_found(self, name: str) -> None:
        found = self._find(name)
        self._found[id(found)] = found
        self._stack.append(found)

    def _called(self, what: Any) -> Any:
        if id(what) not in self._found:
            raise ValueError(f"it calls {what!r:.50}, which is no global")
        return what

    def _reduce(self, _: Any) -> None:
        arguments = self._stack.pop()
        what = self._called(self._stack.pop())
        if isinstance(what, type) and issubclass(what, (set, OrderedDict, Counter)):
            for items in arguments:
                if not isinstance(items, (list, tuple, dict)):
                    raise ValueError(f"it makes a {what.__name__} of a {type(items).__name__}")
                keys([k for k, _ in items] if what is OrderedDict and not isinstance(items, dict) else items)
        self._stack.append(what(*arguments))

    def _newobj(self, _: Any) -> None:
        arguments = self._stack.pop()
        cls = self._called(self._stack.pop())
        self._stack.append(cls.__new__(cls, *arguments) if isinstance(cls, type) else cls(*arguments))

    def _newobj_ex(self, _: Any) -> None:
        keywords, arguments = self._stack.pop(), self._stack.pop()
        cls = self._called(self._stack.pop())
        self._stack.append(cls.__new__(cls, *arguments, **keywords))

    def _build(self, _: Any) -> None:
        """Give an object its state, as pickle does: only of a class that ``find`` has given, or an ordered dict."""
        state = self._stack.pop()
        target = self._stack[-1]
        if not any(id(cls) in self._found for cls in type(target).__mro__):
            raise ValueError(f"it sets the state of a {type(target).__name__}")
        if isinstance(target, np.dtype) and not _says_order_alone(target, state):
            raise FileError(f"it sets more of NumPy's dtype {target} than its byte order; read are arrays of numbers, "
                            "texts and dates")  # fmt: skip
        if hasattr(target, "__setstate__"):
            target.__setstate__(state)
            return
        attributes, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
        if attributes:
            vars(target).update(attributes)
        for name, value in (slots or {}).items():
            setattr(target, name, value)


class Writer:
    """Opcodes of protocol 2, written one after the other."""

    def __init__(self) -> None:
        self._parts = [b"\x80\x02"]
        self._memo: dict[Any, int] = {}

    def whole(self) -> bytes:
        """The pickle of what was written."""
        return b"".join((*self._parts, b"."))

    def constant(self, value: bool | None) -> None:
        """None, True or False."""
        self._parts.append({None: b"N", True: b"\x88", False: b"\x89"}[value])

    def integer(self, value: int) -> None:
        """A whole number of any size."""
        if -(2**31) <= value < 2**31:
            self._parts.append(b"J" + struct.pack("<i", value))
            return
        octets = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
        self._parts.append(b"\x8a" + bytes([len(octets)]) if len(octets) < 256 else
                           b"\x8b" + struct.pack("<i", len(octets)))  # fmt: skip
        self._parts.append(octets)

    def number(self, value: float) -> None:
        """A float."""
        self._parts.append(b"G" + struct.pack(">d", value))

    def text(self, value: str) -> None:
        """A string."""
        octets = value.encode("utf-8", "surrogatepass")
        self._parts.append(b"X" + struct.pack("<I", len(octets)) + octets)

    def named(self, name: str) -> None:
        """The global ``module.name``."""
        if self.again(name):
            return
        module, _, last = name.rpartition(".")
        self._parts.append(f"c{module}\n{last}\n".encode())
        self.keep(name)

    def begin(self, name: str | None = None) -> None:
        """Begin what an opcode gathers, or the arguments of a call of the global ``name``."""
        if name is not None:
            self.named(name)
        self._parts.append(b"(")

    def add(self, opcodes: bytes) -> None:
        """Opcodes: ``]``, ``}`` empty ones, ``e``, ``u`` into them, ``t`` a tuple, ``R`` a call, ``Q`` outside."""
        self._parts.append(opcodes)

    def keep(self, key: Any) -> None:
        """Remember what was written last, as ``key``."""
        self._memo[key] = len(self._memo)
        self._parts.append(b"r" + struct.pack("<I", self._memo[key]))

    def again(self, key: Any) -> bool:
        """Write what was remembered as ``key``; whether there is such."""
        if key in self._memo:
            self._parts.append(b"j" + struct.pack("<I", self._memo[key]))
        return key in self._memo
