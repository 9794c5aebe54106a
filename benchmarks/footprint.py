"""What it takes to have a library at hand: the time of its import, and the disk it fills with what it depends on."""

from __future__ import annotations

import compileall
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import Distribution, distribution
from pathlib import Path
from time import perf_counter
from typing import Any

from packaging.requirements import Requirement

from benchmarks.runner import Case, Figure, Pace


def _import_time(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
    def seconds(program: str) -> float:
        start = perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True)
        return perf_counter() - start

    if lib.__name__ == "gradwright":  # pip compiles what it installs, but not an editable install
        compileall.compile_dir(Path(lib.__file__).parent, quiet=1)
    return lambda: (seconds(f"import {lib.__name__}") - seconds("pass"),)


def _size(lib: Any, pace: Pace) -> Callable[[], tuple[float, ...]]:
    if lib.__name__ == "gradwright":  # its distribution may be an editable one, which holds no files
        total = sum(f.stat().st_size for f in Path(lib.__file__).parent.rglob("*.py"))
        total += sum(map(_disk, _with_dependencies("numpy")))
    else:
        total = sum(map(_disk, _with_dependencies(lib.__name__)))
    return lambda: (total,)


def _disk(d: Distribution) -> float:
    """The size of a distribution's files, compiled Python left out."""
    paths = (Path(str(d.locate_file(f))) for f in d.files or () if f.suffix != ".pyc")
    return sum(p.stat().st_size for p in paths if p.exists())


def _with_dependencies(name: str) -> list[Distribution]:
    """A distribution and everything it requires here, without extras."""
    found: dict[str, Distribution] = {}
    todo = [name]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        found[name] = distribution(name)
        needs = map(Requirement, found[name].requires or ())
        todo += [r.name for r in needs if r.marker is None or r.marker.evaluate({"extra": ""})]
    return list(found.values())


import_time = Case((Figure("import, less the bare interpreter", "s", 0.2),), _import_time, rounds=5)
installed_size = Case((Figure("installed size with dependencies", "B", None),), _size, rounds=1)
