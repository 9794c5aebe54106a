"""The C++ compiler: which one, with what flags, and what it says when it fails."""

from __future__ import annotations

import os
import platform
import shlex
import sys
import sysconfig
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import ModuleType

import gradwright
from gradwright.base.compiler.find import Compiler, find, version

INCLUDE = Path(__file__).parent / "include"
RUNTIME = INCLUDE / "gradwright" / "runtime.cpp"
"""What every extension is linked with, besides nanobind."""
PYTHON = sysconfig.get_path("include")
"""Python's headers; asked for here, since threads must not be the first to ask, all at once."""
OLDEST = {"gcc": (8,), "clang": (7,)}
"""The first versions with all of C++17."""
_ADVICE = """Install one:
  Debian, Ubuntu:  sudo apt install g++
  Fedora, RHEL:    sudo dnf install gcc-c++
  macOS:           xcode-select --install
  conda:           conda install -c conda-forge cxx-compiler
or name one that is not on the PATH: export CXX=/path/to/c++"""


def find_compiler() -> Compiler:
    """The compiler that ``CXX`` names, or else the first of c++, g++ and clang++ that there is.

    Raises RuntimeError that says what to install if there is none.
    """
    if os.name != "posix":
        raise RuntimeError("C++ extensions are built with GCC or Clang, on Linux and macOS: on Windows, use WSL")
    found = find("CXX", ("c++", "g++", "clang++"))
    if found is not None:
        return found
    named = shlex.split(os.environ.get("CXX", ""))
    what = f"the C++ compiler that CXX names, {named[0]!r}, is not there" if named else "no C++ compiler was found"
    raise RuntimeError(f"{what}. {_ADVICE}")


def check_compiler() -> str:
    """What the compiler that extensions are built with says of itself: ``g++ (Debian 12.2.0-14) 12.2.0``.

    Raises RuntimeError that says what to install if there is none, or it is too old for C++17.
    """
    compiler = find_compiler()
    line, kind, number = version(compiler)
    if number and number < OLDEST[kind]:
        raise RuntimeError(
            f"{compiler.command[0]} is too old for C++17: it is {line}, and GCC {OLDEST['gcc'][0]} or Clang "
            f"{OLDEST['clang'][0]} is needed. {_ADVICE}"
        )
    return line


def nanobind() -> ModuleType:
    """nanobind; ModuleNotFoundError that names the extra if it is not installed."""
    try:
        return import_module("nanobind")
    except ModuleNotFoundError as e:
        raise ModuleNotFoundError(
            'C++ extensions need nanobind, which is not installed: pip install nanobind', name="nanobind"
        ) from e


def include_paths() -> list[str]:
    """The folders of the headers: gradwright's, nanobind's and Python's, in this order.

    In the first lies ``gradwright/extension.h``, and ``gradwright/runtime.cpp``, which other build systems compile
    together with the sources of an extension.
    """
    return [str(INCLUDE), nanobind().include_dir(), PYTHON]


def common_flags() -> list[str]:
    """What everything is compiled with. They leave results as they are: a NaN is a NaN, and nothing is reordered."""
    ours, *others = include_paths()
    return ["-std=c++17", "-O3", "-fPIC", "-fvisibility=hidden", "-fno-math-errno", "-fno-trapping-math",
            "-ffp-contract=off", f"-I{ours}", *(f"-isystem{path}" for path in others)]  # fmt: skip


def vector_flags(compiler: Compiler) -> list[str]:
    """What lets Clang use the C library's vector forms of exp and its kind; GCC finds them declared in our headers."""
    _, kind, number = version(compiler)
    here = sys.platform == "linux" and platform.machine() == "x86_64" and platform.libc_ver()[0] == "glibc"
    return ["-fveclib=libmvec"] if here and kind == "clang" and number >= (12,) else []


def runtime_flags() -> list[str]:
    """What nanobind's own sources need besides the common flags."""
    source = Path(nanobind().source_dir())
    version = f'-DGRADWRIGHT_VERSION="{gradwright.__version__}"'
    return [f"-isystem{source.parent / 'ext' / 'robin_map' / 'include'}", f"-isystem{source}", "-O2", "-DNDEBUG",
            "-fno-strict-aliasing", "-DNB_COMPACT_ASSERTIONS", version]  # fmt: skip


def link_flags(flags: Sequence[str]) -> list[str]:
    """What a shared library that Python loads is linked with; what debuggers want is kept if ``flags`` make it."""
    if sys.platform == "darwin":
        return ["-bundle", "-undefined", "dynamic_lookup"]
    debugged = any(flag.startswith("-g") and flag != "-g0" for flag in flags)
    return ["-shared", *([] if debugged else ["-Wl,-s"]), "-Wl,--gc-sections", "-pthread"]
