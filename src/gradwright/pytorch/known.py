"""Which names PyTorch has, by module: the table ``known.txt``, written from an installed PyTorch.

Each line is a module, and the names that its documentation's index has (``__all__``, or else what it defines), after a
``+`` the others that it has, too. Of modules that have no names there only the module is known. Lines of "module:out"
have the functions that take ``out=``. `written` makes it anew
(``python -m gradwright.pytorch.known FILE``), and a test compares the two.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import pkgutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

FILE = Path(__file__).with_name("known.txt")

COUNTED = (
    "torch", "torch.Tensor", "torch.nn", "torch.nn.functional", "torch.nn.init", "torch.nn.utils", "torch.optim",
    "torch.optim.lr_scheduler", "torch.autograd", "torch.func", "torch.distributions", "torch.linalg", "torch.fft",
    "torch.special",
)  # fmt: skip
"""What `gradwright run --names` counts."""

DETAILED = {
    *COUNTED, "torch.amp", "torch.autograd.forward_ad", "torch.autograd.function", "torch.autograd.functional",
    "torch.autograd.grad_mode", "torch.autograd.graph", "torch.autograd.profiler", "torch.compiler", "torch.cuda",
    "torch.cuda.amp", "torch.fx", "torch.hub", "torch.jit", "torch.library", "torch.masked", "torch.nn.attention",
    "torch.nn.modules", "torch.nn.modules.activation", "torch.nn.modules.batchnorm", "torch.nn.modules.conv",
    "torch.nn.modules.loss", "torch.nn.modules.module", "torch.nn.modules.pooling", "torch.nn.modules.rnn",
    "torch.nn.modules.utils", "torch.nn.parallel", "torch.nn.parameter", "torch.nn.utils.parametrizations",
    "torch.nn.utils.parametrize", "torch.nn.utils.prune", "torch.nn.utils.rnn", "torch.optim.optimizer",
    "torch.optim.swa_utils", "torch.overrides", "torch.profiler", "torch.random", "torch.serialization",
    "torch.sparse", "torch.testing", "torch.types", "torch.utils", "torch.utils.checkpoint", "torch.utils.data",
    "torch.utils.dlpack", "torch.utils.hooks", "torch.version",
}  # fmt: skip
"""Modules whose names are in the table."""


_PLUMBING = ("torch.overrides", "torch._jit_internal", "torch._torch_docs")
_IMPORTED = ("Tensor", "assert_int_or_pair", "has_torch_function", "has_torch_function_unary",
             "has_torch_function_variadic")  # fmt: skip


WITH_OUT = ("torch", "torch.linalg", "torch.fft", "torch.special")
"""Modules of which the table has the functions that take ``out=``, too."""


class Names(NamedTuple):
    """Names of one module: those that its documentation has, and others."""

    public: frozenset[str]
    other: frozenset[str]


@functools.cache
def table() -> dict[str, Names]:
    """The names of each module that is known."""
    found = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        module, *words = line.split()
        at = words.index("+") if "+" in words else len(words)
        found[module] = Names(frozenset(words[:at]), frozenset(words[at + 1 :]))
    return found


def is_known(name: str) -> bool:
    """Whether PyTorch has this name, "torch.a.b"; any in a module of which only the name is known."""
    known = table()
    above, _, last = name.rpartition(".")
    if name in known:
        return True
    if above in known:
        names = known[above]
        return last in names.public or last in names.other or not names.public
    return bool(above) and is_known(above) and above not in DETAILED and above.rpartition(".")[0] in known


def _names(holder: Any) -> Names:
    own = [name for name in vars(holder) if not name.startswith("__")]
    if isinstance(holder, type):
        own = [name for name in dir(holder) if not name.startswith("__")]
    declared = getattr(holder, "__all__", None)
    if declared is None:
        mine = (n for n in own if not n.startswith("_") and not isinstance(getattr(holder, n, None), ModuleType))
        declared = [n for n in mine if isinstance(holder, type) or _is_own(getattr(holder, n, None))]
    return Names(frozenset(declared), frozenset(own) - frozenset(declared))


def _taking_out(module: Any) -> list[str]:
    """The functions of a module that take ``out=``.

    Of those of ``torch`` its type stubs tell, and their own arguments where they are written in Python; of those of
    the other modules their documentation.
    """
    if module.__name__ == "torch":
        stubs = ast.parse((Path(module.__path__[0]) / "_C" / "_VariableFunctions.pyi").read_text(encoding="utf-8"))
        found = {f.name for f in stubs.body if isinstance(f, ast.FunctionDef) and _has_out(f)}
        python = ((name, f) for name, f in vars(module).items() if inspect.isfunction(f))
        own = {name for name, f in python if "out" in inspect.signature(f).parameters}
        return sorted(name for name in found | own if hasattr(module, name) and not name.startswith("_"))
    said = ((name, str(getattr(getattr(module, name, None), "__doc__", ""))) for name in sorted(vars(module)))
    return [name for name, doc in said if not name.startswith("_") and ("out=None" in doc or "out (Tensor" in doc)]


def _has_out(f: ast.FunctionDef) -> bool:
    return any(argument.arg == "out" for argument in (*f.args.args, *f.args.kwonlyargs))


def _below(folders: Any, above: str, depth: int) -> Iterator[str]:
    """The modules in folders, without importing them, down to this depth."""
    for found in pkgutil.iter_modules(folders):
        yield f"{above}.{found.name}"
        if found.ispkg and depth > 1 and (depth > 2 or not above.rpartition(".")[2].startswith("_")):
            yield from _below([str(Path(f) / found.name) for f in folders], f"{above}.{found.name}", depth - 1)


def _is_own(value: Any) -> bool:
    """Whether a value is a function or class of PyTorch's that a module has for its users."""
    home = str(getattr(value, "__module__", None) or "torch")
    names = getattr(value, "__name__", "")
    return callable(value) and home.startswith("torch") and home not in _PLUMBING and names not in _IMPORTED


def written() -> str:
    """The table of the PyTorch that is installed."""
    torch = importlib.import_module("torch")
    paths = {"torch", "torch.Tensor"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        paths.update(_below(torch.__path__, "torch", 3))
        lines = []
        for path in sorted(paths | DETAILED):
            if path not in DETAILED:
                lines.append(path)
                continue
            holder = torch.Tensor if path == "torch.Tensor" else importlib.import_module(path)
            names = _names(holder)
            lines.append(" ".join([path, *sorted(names.public), "+", *sorted(names.other)]))
        lines += [" ".join([f"{path}:out", *_taking_out(importlib.import_module(path))]) for path in WITH_OUT]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1] if len(sys.argv) > 1 else FILE).write_text(written(), encoding="utf-8")
