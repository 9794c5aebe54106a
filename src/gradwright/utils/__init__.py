"""What helps around training: `data` to load, `checkpoint` to save memory, operations in C++ (`cpp_extension`)."""

from importlib import import_module

from gradwright.utils import checkpoint as checkpoint


def __getattr__(name: str) -> object:
    if name in ("data", "cpp_extension"):  # for those who want them: they bring multiprocessing, threads, hashes
        return import_module(f"gradwright.utils.{name}")
    raise AttributeError(f"gradwright.utils has no {name!r}", name=name)
