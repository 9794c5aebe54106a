"""What helps around training: loading data (`data`), trading computation for memory (`checkpoint`)."""

from importlib import import_module

from gradwright.utils import checkpoint as checkpoint


def __getattr__(name: str) -> object:
    if name == "data":  # for those who load data: it brings multiprocessing
        return import_module("gradwright.utils.data")
    raise AttributeError(f"gradwright.utils has no {name!r}", name=name)
