"""What helps around training: `data` to load, `checkpoint` to save memory, operations in C++ (`cpp_extension`)."""

from importlib import import_module
from typing import TYPE_CHECKING

from gradwright.utils import checkpoint as checkpoint

if TYPE_CHECKING:
    from gradwright.utils import cpp_extension as cpp_extension
    from gradwright.utils import data as data


def __getattr__(name: str) -> object:
    # For those who want them: they bring multiprocessing, threads, hashes.
    if name in ("_pytree", "cpp_extension", "data"):
        return import_module(f"gradwright.utils.{name}")
    raise AttributeError(f"gradwright.utils has no {name!r}", name=name)
