"""Capsules: a diagnosis as two files, the numbers and a test that replays it."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gradwright.engine.base import TensorBase


@dataclass(frozen=True, eq=False)
class Replay:
    """What was diagnosed: the arguments of `diagnose`, with copies of the tensors."""

    f: Any
    inputs: tuple[Any, ...]
    arguments: tuple[str, ...]
    names: tuple[str, ...] | None
    outputs: tuple[str, ...] | None
    order: int


_TEST = '''"""Replays a diagnosis, and passes once the function is mended.

{report}
"""

import importlib
import importlib.util
import sys
from pathlib import Path

import numpy as np

import gradwright

MODULE, FILE, NAME = {module!r}, {file!r}, {name!r}


def the_function():
    try:
        found = importlib.import_module(MODULE)
    except ModuleNotFoundError:
        spec = importlib.util.spec_from_file_location(MODULE, FILE)
        found = sys.modules[MODULE] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(found)
    for part in NAME.split("."):
        found = getattr(found, part)
    return found


def tensor(array, requires_grad):
    return gradwright.from_numpy(array).requires_grad_(requires_grad)


def test_{test}():
    data = np.load(Path(__file__).with_name({data!r}))
    inputs = {inputs}
    found = gradwright.autograd.diagnose(the_function(), inputs{options})
    assert found.verdict == "VERIFIED", f"\\n{{found}}"
'''

_NO_TEST = '''"""A diagnosis that cannot be replayed.

{report}
"""

import pytest


def test_{test}():
    pytest.fail({why!r})
'''


def write(path: Path, replay: Replay, report: str, arrays: dict[str, Any]) -> tuple[Path, Path]:
    """Write both files and return their paths."""
    path = path.with_suffix(".npz")
    stem = path.stem.removeprefix("test_")
    test = path.with_name(f"test_{stem}.py")
    found = dict(arrays)
    inputs, why = _written(replay.inputs, found)
    module, file, name, why_not = origin(replay.f)
    why = why_not or why
    np.savez(path, **found)
    identifier = "".join(c if c.isalnum() else "_" for c in stem)
    report = report.replace("\\", "\\\\").replace('"""', "'''")
    options = "".join(f", {k}={v!r}" for k,
                      v in (("names", replay.names), ("outputs", replay.outputs)) if v is not None)
    options += f", order={replay.order}" if replay.order != 1 else ""
    content = (
        _NO_TEST.format(report=report, test=identifier, why=f"cannot be replayed: {why}")
        if why
        else _TEST.format(report=report, module=module, file=file, name=name, test=identifier, data=path.name,
                          inputs=inputs, options=options)
    )
    test.write_text(content, encoding="utf-8")
    return path, test


def origin(f: Any) -> tuple[str, str, str, str]:
    """The module, file and qualified name to import ``f`` by; and why that cannot be, or ``""``."""
    owner = getattr(f, "__self__", None)
    name = getattr(f, "__qualname__", "")
    if isinstance(owner, type):  # apply of a Function
        f, name = owner, f"{owner.__qualname__}.{f.__name__}"
    module = getattr(f, "__module__", None) or ""
    file = str(getattr(sys.modules.get(module), "__file__", None) or "")
    if "<lambda>" in name:
        return module, file, name, "it is a lambda; give it a name at the top of a module"
    if "<locals>" in name:
        return module, file, name, f"{name} is defined inside a function; move it to the top of a module"
    found: Any = sys.modules.get(module)
    for part in name.split(".") if name else ():
        found = getattr(found, part, None)
    if not name or found is None:
        return module, file, name, f"{name or type(f).__name__} cannot be found by name in module {module or 'unknown'}"
    if module == "__main__":
        if not file:
            return module, file, name, f"{name} was defined interactively; write it to a file"
        module = Path(file).stem
    return module, file, name, ""


def _written(value: Any, arrays: dict[str, Any]) -> tuple[str, str]:
    """An expression for an argument, its tensors put into ``arrays``; and why there is none, or ``""``."""
    if isinstance(value, TensorBase):
        key = f"input_{sum(k.startswith('input_') for k in arrays)}"
        arrays[key] = np.asarray(value.array)
        return f"tensor(data[{key!r}], {value._node is not None})", ""
    if value is None or type(value) in (bool, int, float, complex, str):
        return (
            (repr(value), "")
            if value == value and value not in (float("inf"), -float("inf"))
            else (f"float({str(value)!r})", "")
        )
    if type(value) in (tuple, list):
        parts = [_written(v, arrays) for v in value]
        inner = ", ".join(p for p, _ in parts)
        why = next((w for _, w in parts if w), "")
        return (f"({inner}{',' if len(parts) == 1 else ''})" if type(value) is tuple else f"[{inner}]"), why
    if type(value) is dict:
        pairs = [(k, *_written(v, arrays)) for k, v in value.items()]
        return f"{{{', '.join(f'{k!r}: {v}' for k, v, _ in pairs)}}}", next((w for *_, w in pairs if w), "")
    return "", f"an argument of type {type(value).__name__} cannot be written down"
