"""What helps around training: `data` to load, `checkpoint` to save memory, operations in C++ (`cpp_extension`)."""

from importlib import import_module

from gradwright.utils import checkpoint as checkpoint


def __getattr__(name: str) -> object:
    # For those who want them: they bring multiprocessing, threads, hashes.
    if name in ("_pytree", "cpp_extension", "data"):
        return import_module(f"gradwright.utils.{name}")
    raise AttributeError(f"gradwright.utils has no {name!r}", name=name)
