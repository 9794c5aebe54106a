"""Whose code it is: which is observed, and which only called."""

from __future__ import annotations

import builtins
import copy
import os
import sys
import sysconfig
from types import CodeType
from typing import Any

import numpy as np

from gradwright.base.cpython.frames import ASKING
from gradwright.base.errors import home
from gradwright.engine.source_line import HOME, is_own

OBSERVED, OWN, NUMPY, STANDARD, PURE = "observed", "gradwright's", "NumPy's", "the standard library's", "pure"
_NN = HOME + "nn" + os.sep
_APART = tuple(_NN + name for name in (
    "functional", "registry.py", "hooks.py", "faults.py", "init.py", "state.py", "stateless.py", "convert.py",
    "lazy.py", "parameter.py", "ties.py", "per_sample.py", *(f"utils{os.sep}{name}.py" for name in (
        "clip_grad", "convert_parameters", "finite", "rnn", "skip")),
))  # fmt: skip
_NUMPY = os.path.dirname(np.__file__) + os.sep
_STANDARD = tuple({sysconfig.get_path("stdlib") + os.sep, os.path.dirname(os.__file__) + os.sep, "<frozen "})
_PACKAGES = (os.sep + "site-packages" + os.sep, os.sep + "dist-packages" + os.sep)
_PURE = tuple(f"{packages}{name}{os.sep}" for packages in _PACKAGES for name in ("einops", "opt_einsum", "scipy"))
_JAX = tuple(f"{packages}{name}{os.sep}" for packages in _PACKAGES for name in ("jax", "jaxlib", "ml_dtypes"))
_known: dict[str, str] = {"<rule>": OWN, ASKING: OWN}


def whose(code: CodeType) -> str:
    """One of the five: what is neither gradwright's nor a library's is observed, and so is most of gradwright.nn."""
    name = code.co_filename
    found = _known.get(name)
    if found is None:
        found = _known[name] = _whose(name)
    return found


def _whose(name: str) -> str:
    if name == copy.__file__:  # which `is_own` counts as ours
        return STANDARD
    if is_own(name):
        return OBSERVED if name.startswith(_NN) and not name.startswith(_APART) else OWN
    if name.startswith(_NUMPY) or any(part in name for part in _JAX):
        return NUMPY
    if any(part in name for part in _PURE):
        return PURE
    if name.startswith(_STANDARD) and not any(part in name for part in _PACKAGES):
        return STANDARD
    return OBSERVED


def is_ours(code: CodeType) -> bool:
    """Whether it is gradwright's code, observed or not."""
    return code.co_filename.startswith(HOME) or code.co_filename == ASKING


def root(value: Any) -> str:
    """The name of the package that a class, function or module is of."""
    if isinstance(value, type):
        return home(value)
    name = getattr(value, "__module__", None) or getattr(value, "__name__", None)
    return name.partition(".")[0] if isinstance(name, str) else ""


def is_library(value: Any) -> bool:
    """Whether it is a class or function of Python, NumPy or gradwright, which nobody changes.

    A class that is made by `exec` without a `__name__` says that it is of builtins.
    """
    name = root(value)
    if name == "builtins" and isinstance(value, type):
        return getattr(builtins, value.__name__, None) is value or not value.__flags__ & (1 << 9)
    return name in _LIBRARIES


_LIBRARIES = (sys.stdlib_module_names - {"__main__"}) | {"gradwright", "numpy", "builtins"}
