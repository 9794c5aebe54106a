"""``torch.library.Library``, ``define`` and ``impl``: operations declared by a schema, and what does them."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gradwright.pytorch.library import CustomOpDef, below_autograd, known

__all__ = ["Library", "define", "impl"]


@contextmanager
def AutoDispatchBelowAutograd() -> Iterator[None]:
    """A block in which operations run the functions for the CPU, and not those for Autograd."""
    token = below_autograd.set(True)
    try:
        yield
    finally:
        below_autograd.reset(token)


class Declared(CustomOpDef):
    """An operation with a schema: what it does is said afterwards, by `Library.impl`."""

    def __init__(self, name: str, schema: str) -> None:
        signature, written = parsed(name, schema)

        def absent(*_: Any, **__: Any) -> Any:
            raise NotImplementedError(f"{name}: no function does it yet: register one with impl(), for \"CPU\"")

        absent.__name__, absent.__doc__ = name.rpartition("::")[2], f"{name}{schema}"
        absent.__signature__ = signature  # type: ignore[attr-defined]
        super().__init__(name, absent, written)


def parsed(name: str, schema: str) -> tuple[inspect.Signature, tuple[str, ...]]:
    """The signature that a schema such as "(Tensor x, *, float a=1.0) -> Tensor" declares, and the arguments it writes.

    ValueError for what is none.
    """
    found = re.fullmatch(r"\s*\((.*)\)\s*->\s*(.+)", schema, re.DOTALL)
    if found is None:
        raise ValueError(f"{name}: expected a schema such as '(Tensor x, float a=1.0) -> Tensor', but got {schema!r}")
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters, written = [], []
    for text in filter(None, (part.strip() for part in re.split(r",(?![^(\[]*[)\]])", found[1]))):
        if text == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        one = re.fullmatch(r"([\w.]+(?:\([^)]*\))?[\w\[\]?]*)\s+(\w+)\s*(?:=\s*(.+))?", text)
        if one is None:
            raise ValueError(f"{name}: expected a type and a name in its schema, but got {text!r}")
        of, argument, default = one.groups()
        value = inspect.Parameter.empty if default is None else _value(name, default)
        parameters.append(inspect.Parameter(argument, kind, default=value))
        written += [argument] * ("!" in of)
    return inspect.Signature(parameters), tuple(written)


def _value(name: str, text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        raise ValueError(f"{name}: a default that is no number, string, bool, list or None: {text!r}") from None


class Library:
    """Operations of a namespace: ``define`` declares one, and ``impl`` says what does it. `torch.ops` has them.

    ``kind`` is "DEF", "FRAGMENT" or "IMPL". Functions for devices that are not here, and for shapes ("Meta"), are taken
    and never called.
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "FRAGMENT", "IMPL"):
            raise ValueError(f"Library(): expected kind 'DEF', 'FRAGMENT' or 'IMPL', but got {kind!r}")
        if ns == "aten":
            raise ValueError("Library(): operations of aten are gradwright's own: gradwright.op declares others")
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare "name(Tensor x) -> Tensor"; gives the name."""
        name, bracket, rest = schema.partition("(")
        define(f"{self.ns}::{name.strip()}", bracket + rest)
        return name.strip()

    def impl(self, op_name: Any, fn: Callable[..., Any], dispatch_key: str = "", **_: Any) -> None:
        """Let ``fn`` do the operation: on the CPU, or with the history that it makes, for an "Autograd" key or none."""
        name = str(getattr(op_name, "_qualname", op_name)).removeprefix(f"{self.ns}::").removesuffix(".default")
        key = dispatch_key or self.dispatch_key or "CompositeImplicitAutograd"
        _declared(f"{self.ns}::{name}").do(fn, key)


def _declared(name: str) -> CustomOpDef:
    found = known.get(name)
    if found is None:
        raise ValueError(f"impl(): no operation {name!r} was declared: define() does it")
    return found


def define(qualname: str, schema: str, *, lib: Any = None, tags: Any = ()) -> None:
    """Declare the operation "namespace::name" by a schema "(Tensor x) -> Tensor"."""
    if "::" not in qualname:
        raise ValueError(f"define(): expected a name such as 'mylib::sin', but got {qualname!r}")
    known[qualname] = Declared(qualname, schema)


def impl(qualname: Any, types: Any = None, func: Any = None, *, lib: Any = None) -> Any:
    """Let ``func`` do an operation that was declared, on these devices: "cpu", "default", or dispatch keys.

    As a decorator if no function is given; also ``impl(library, name, dispatch_key)``.
    """
    if isinstance(qualname, Library):
        def register(function: Any) -> Any:
            qualname.impl(types, function, func or "")
            return function

        return register
    many = [types] if isinstance(types, str) else types
    keys = [{"cpu": "CPU", "default": "CompositeExplicitAutograd", "cuda": "CUDA"}.get(t, t) for t in many]

    def do(function: Any) -> Any:
        for key in keys:
            _declared(qualname).do(function, key)
        return function

    return do if func is None else do(func)
