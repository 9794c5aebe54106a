"""The native core: C forms of what runs for every operation. Python is their twin, and says what is right.

A form in C does the usual case and leaves all else to its twin, so without the core everything works, slower. It is
built where a package is made of the sources and a C compiler is found (``hatch_build.py``). ``GRADWRIGHT_CORE=0``
leaves it out, then and when gradwright is imported; with ``GRADWRIGHT_CORE=1`` it is an error that it is missing.
"""

from __future__ import annotations

import os
import sysconfig
import warnings
import zlib
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

_HERE = Path(__file__).parent


def sources() -> list[Path]:
    """The C files that the core is built from."""
    return sorted(_HERE.glob("*.[ch]"))


def fingerprint() -> int:
    """A number for the text of `sources`: the core holds that of the files it was built from."""
    found = 0
    for path in sources():
        found = zlib.crc32(path.read_bytes(), found)
    return found


def _found() -> tuple[Any, str]:
    """The core; or None, and why there is none."""
    asked = os.environ.get("GRADWRIGHT_CORE", "")
    if asked not in ("", "0", "1"):
        warnings.warn(f"GRADWRIGHT_CORE is 0 or 1, but got {asked!r}, which is left aside", RuntimeWarning, 2)
    if asked == "0":
        return None, "GRADWRIGHT_CORE=0"
    why = _missing()
    if not why:
        try:
            found: Any = import_module("gradwright.native._core")
            if found.built_from == fingerprint():
                return found, ""
            why = "built from other C files than lie here: install gradwright again"
        except (ImportError, RuntimeError, AttributeError) as error:  # of NumPy's tables of functions, the others
            why = f"it does not load: {str(error).splitlines()[0]}"
    if asked == "1":
        raise ImportError(f"GRADWRIGHT_CORE=1, but the native core is missing: {why}")
    return None, why


def _missing() -> str:
    """Why there is nothing to load; "" if there is."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "free-threaded Python"
    suffix = sysconfig.get_config_var("EXT_SUFFIX")
    if (_HERE / f"_core{suffix}").is_file():
        return ""
    others = [path.name for path in _HERE.glob("_core.*") if path.suffix in (".so", ".pyd")]
    return f"built for another Python: {others[0]}, not _core{suffix}" if others else "not built"


core, _why = _found()
"""The extension module, or None."""


def state() -> str:
    """What ``gradwright --version`` says: "native", or "Python" and why."""
    return "native" if core is not None else f"Python ({_why})"


def twin(name: str, function: F, *more: Any) -> F:
    """The C form ``name`` of a function, made of that and ``more``; the function itself where there is none."""
    form = getattr(core, name, None)
    made: F = function if form is None else form(function, *more)
    return made


def front(function: F, name: str, *of: Any) -> F:
    """The function, before which C is asked (native/front.c): by the form ``name``, made ``of`` these."""
    form = getattr(core, name, None)
    return function if form is None else core.front(function, form(*of))


def early(name: str, *direct: Callable[..., Any]) -> Callable[[F], F]:
    """`front` for a function of the face, by the form of this name, which does what these would with its arguments."""
    return lambda function: front(function, "form", name, *(vars(d)["_core"] for d in direct if core is not None))


@cache
def text_of(module: str) -> int:
    """A number for the text of a module, which its kernels have been built from."""
    return zlib.crc32(Path(*map(str, (_HERE.parent, *module.split(".")[1:]))).with_suffix(".py").read_bytes())


def kernel(formula: F, plain: Any) -> Any:
    """The kernel that was built of a formula, or derivative, whose twin is ``plain``; that, where there is none.

    What was built of another text than the formula's module has now is not taken.
    """
    module, name = getattr(formula, "__module__", ""), getattr(formula, "__qualname__", "")
    built_from = None if core is None else core.kernels.get(f"{module}.{name}")
    if built_from is None or built_from != text_of(module):
        return plain
    code = formula.__code__
    return core.kernel(plain, f"{module}.{name}", code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])


def plan(op: Any, mask: Sequence[bool], names: Sequence[str], packed: int, cls: type) -> Any:
    """What the function that records an operation of one to three tensors does, as native/nodes.c reads it.

    That is: the class of the node; the slot it saves in; which inputs need a gradient; and what is saved, an input by
    its place, the result as 3, the shape of an input as its place and 4, a static argument as its place and 8. (Of any
    number of inputs C looks itself which need one.) None: the function itself is to be called.
    """
    places = {"out": 3} | {n: k for k, n in enumerate(op.inputs)}
    places |= {f"{n}_shape": 4 + k for k, n in enumerate(op.inputs)} | {n: 8 + k for k, n in enumerate(op.static)}
    odd = op.several or len(op.inputs) > 3 or (op.variadic and not set(op.static) >= set(names))
    if odd or not places.keys() >= set(names):
        return None
    targets = [] if op.variadic else [k for k, needed in enumerate(mask) if needed]
    return cls, "_saved" if packed else "_static", bytes(targets), bytes([places[n] for n in names])


def rules(op: Any, mask: Sequence[bool], broadcast: bool, names: Sequence[str], packed: int, cls: type,
          formulas: dict[str, Any]) -> Any:  # fmt: skip
    """What nodes of a class compute, as run.c reads it.

    That is, for each input that needs a gradient: its formula, None if that hands the cotangent on; the places of what
    it is given among the ``names`` of what is saved, of which the first are tensors; and that of the shape to sum down
    to, or -1. None: the nodes' own ``_run`` is to be called.
    """
    needed = [n for n, m in zip(op.inputs, mask, strict=False) if m]
    odd = op.several or op.variadic or op.selects or (op.remade and "out" in names)
    if core is None or odd or len(needed) > 3 or not op.rules.keys() >= set(needed):
        return None
    found = []
    for n in needed:
        given = op.rules[n].names
        if len(given) > 6 or not set(names) >= set(given):
            return None
        shape = names.index(f"{n}_shape") if broadcast else -1
        found.append((formulas[n], bytes(map(names.index, given)), shape))
    return core.rules(cls, "_saved" if packed else "_static", packed, len(names), tuple(found))
