"""Programs' C text compiled with the system's compiler, kept on disk, and loaded."""

from __future__ import annotations

import ctypes
import os
import platform
import threading
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from gradwright import native
from gradwright.base.compiler.cache import Made, digest, get_default_build_root, latest, obtain
from gradwright.base.compiler.find import CompileError, Compiler, cpu, find, native_flags, version
from gradwright.base.compiler.progress import Progress

FLAGS = ("-std=gnu11", "-O3", "-fPIC", "-shared", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math",
         "-ffp-contract=off", "-fno-strict-aliasing", "-fwrapv", "-pthread", "-w")  # fmt: skip
"""They leave results as they are: a NaN is a NaN, integers wrap, and nothing is reordered but where a pragma says so of
a sum, nor fused but where `fused` or `direct` does."""
_OLD = frozenset({"sin", "cos", "exp", "log", "pow"})
_NEW = _OLD | {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cosh", "erf", "erfc", "exp2", "expm1",
    "hypot", "log10", "log1p", "log2", "sinh", "tan", "tanh",
}  # fmt: skip
COMPILERS = ("cc", "gcc", "clang")
_loaded: dict[str, ctypes.CDLL] = {}
_lock = threading.Lock()


class CannotCompileError(RuntimeError):
    """There is no C compiler, or it fails: the program must be run in another way."""


@cache
def vector_functions() -> frozenset[str]:
    """The functions of math.h that the C library has for whole vectors: glibc's libmvec."""
    name, number = platform.libc_ver()
    if name != "glibc" or platform.machine() != "x86_64":
        return frozenset()
    found = tuple(map(int, number.split(".")[:2]))
    return _NEW if found >= (2, 35) else _OLD if found >= (2, 22) else frozenset()


def load(text: str) -> ctypes.CDLL:
    """The library that C text compiles to, built unless that was done before. Raises CannotCompileError."""
    flags = [*FLAGS, *native_flags()]
    libraries = ["-lmvec", "-lm"] if vector_functions() else ["-lm"]
    made_of = digest([text, *flags, *libraries, cpu()])
    with _lock:
        if made_of not in _loaded:
            try:
                _loaded[made_of] = ctypes.CDLL(str(_built(text, flags, libraries, made_of)))
            except (RuntimeError, OSError) as e:
                raise CannotCompileError(str(e)) from e
        return _loaded[made_of]


def _built(text: str, flags: Sequence[str], libraries: Sequence[str], made_of: str) -> Path:
    home = Path(get_default_build_root()) / "programs" / made_of[:2]  # not too many in a folder: each build looks there
    compiler = find("CC", COMPILERS)
    if compiler is None:
        files = latest(home, made_of)
        if files:
            return files[0]
        named = os.environ.get("CC")
        raise CannotCompileError(f"the C compiler that CC names, {named!r}, is not there" if named else
                            "no C compiler was found: install one (Debian, Ubuntu: sudo apt install gcc; macOS: "
                            "xcode-select --install), or name one: export CC=/path/to/cc")  # fmt: skip
    key = f"{made_of}-{digest([compiler.identity, *compiler.command])}"
    with Progress("compiling a program") as progress:
        def waiting() -> None:
            progress.what = "waiting for the process that compiles this program"

        return obtain(home, key, lambda folder: _make(compiler, text, [*flags], [*libraries], folder), waiting)[0]


def _make(compiler: Compiler, text: str, flags: list[str], libraries: list[str], folder: Path) -> Made:
    source, to = folder / "program.c", folder / "program.so"
    source.write_text(text, encoding="utf-8")
    if version(compiler)[1] == "clang" and vector_functions():
        flags.append("-fveclib=libmvec")
    command = [*flags, str(source), "-o", str(to), *libraries]
    compiler.run(command)
    if not to.exists():
        raise CompileError(f"{' '.join(compiler.command)} is no C compiler: it has made nothing")
    return Made([to.name])


@cache
def threads() -> Any:
    """The address of ``gradwright_parallel``: see threads.c."""
    if native.core is not None:
        library: Any = ctypes.CDLL(native.core.__file__)
    else:
        library = load(Path(native.__file__).with_name("threads.c").read_text(encoding="utf-8"))
    return ctypes.cast(library.gradwright_parallel, ctypes.c_void_p).value
