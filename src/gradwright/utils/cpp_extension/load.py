"""`load` and `load_inline`: an extension built when a program asks for it, and imported."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import json
import linecache
import os
import re
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

from gradwright.base.compiler.cache import fingerprint
from gradwright.base.cpython.forks import in_child
from gradwright.base.source_line import here
from gradwright.utils.cpp_extension import bind
from gradwright.utils.cpp_extension.build import Extension, Source, build
from gradwright.utils.cpp_extension.messages import REGISTERED, of_loading

"""The place of what registers a function whose definition is not found."""


def label(k: int) -> str:
    """What a text is called: its place in the user's file does not matter to what is built."""
    return f"cpp_sources[{k}]"


def joined(texts: Sequence[str]) -> str:
    """All texts, each under its label."""
    return "".join(f'#line 1 "{label(k)}"\n{text}\n' for k, text in enumerate(texts))


def source(texts: Sequence[str], functions: Mapping[str, str]) -> str:
    """One source with all texts, each under its label, and the registration of the functions."""
    parts = ["#include <gradwright/extension.h>", joined(texts)]
    codes = [_without_comments(text) for text in texts]
    for name, doc in functions.items():
        last = name.rpartition("::")[2]
        if not any(re.search(rf"\b{re.escape(last)}\b", code) for code in codes):
            raise ValueError(f"functions names {name!r}, which is nowhere in cpp_sources")
        at, arguments = (REGISTERED, 1), list[str]()
        for k, code in enumerate(codes):
            if found := definition(code, last):
                at, arguments = (label(k), 1 + code.count("\n", 0, found[0])), found[1]
                break
        parts += [f'#line {at[1]} "{at[0]}"',
                  f"GRADWRIGHT_DEF_DOC({name}, {json.dumps(doc)}, {', '.join(arguments)})"]  # fmt: skip
    return "\n".join([*parts, ""])


def found(texts: Sequence[str], depth: int) -> dict[str, tuple[str, int]]:
    """Where each text is written, by its label, in the file of the user's that runs now, if it is there."""
    place = here(depth + 1)
    file = place[0].co_filename if place else ""
    program = "".join(linecache.getlines(file))
    starts = [program.find(text) if text.strip() else -1 for text in texts]
    return {label(k): (file, program.count("\n", 0, start) + 1) for k, start in enumerate(starts) if start >= 0}


def definition(code: str, function: str) -> tuple[int, list[str]] | None:
    """Where a function is defined or declared, and the names of its parameters; None if that is not to be found."""
    for match in re.finditer(rf"[\w>&*\]]\s+[&*]*({re.escape(function)})\s*\(", code):
        inside = _balanced(code[match.end() :])
        if inside is None:
            continue
        names = [re.search(r"(\w+)\s*(?:\[\w*\]\s*)*$", part.partition("=")[0]) for part in _split(inside)]
        typed = [" " in part.strip() or ">" in part or "&" in part for part in _split(inside)]
        if all(names) and all(typed):
            return match.start(1), [name[1] for name in names if name]
    return None


def _without_comments(code: str) -> str:
    """The code, of as many lines."""
    blank = lambda match: match[1] or re.sub(r"[^\n]", " ", match[0])
    return re.sub(r'("(?:\\.|[^"\\\n])*")|//[^\n]*|/\*.*?\*/', blank, code, flags=re.DOTALL)


def _balanced(code: str) -> str | None:
    """The text before the closing parenthesis."""
    depth = 1
    for k, c in enumerate(code):
        depth += (c == "(") - (c == ")")
        if not depth:
            return code[:k]
    return None


def _split(code: str) -> list[str]:
    """The pieces between commas outside of brackets."""
    parts, depth = [""], 0
    for c in code:
        depth += (c in "(<[{") - (c in ")>]}")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [part for part in parts if part.strip()]


_loaded: dict[tuple[str, str | None], ModuleType] = {}
_locks: dict[str, threading.Lock] = defaultdict(threading.Lock)
in_child(_locks.clear)
Path_ = str | os.PathLike[str]


def load(
    name: str,
    sources: Path_ | Sequence[Path_],
    extra_cflags: Sequence[str] | None = None,
    *,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Path_ | Sequence[Path_] | None = None,
    build_directory: Path_ | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    is_python_module: bool = True,
    keep_intermediates: bool = True,
) -> Any:
    """Build an extension from C++ files, unless that has been done, and import it.

    What is built is kept by the contents of the sources and of the headers that they include, by the flags and the
    compiler, and used again by every later call, of any process; where there is no compiler, that of any compiler is.
    When several ask for the same at once, one builds. Code is made for the CPU of this machine (``-march=native``);
    what was built for another one is not used.

    Args:
        name: of the module, an identifier.
        sources: the files; each includes ``gradwright/extension.h`` and registers what Python is to see.
        extra_cflags: further arguments for the compiler. They come last: ``-O0 -g`` makes what a debugger wants, and
            ``-DNDEBUG`` turns asserts off.
        extra_ldflags: further arguments for the linker: ``-lblas``.
        extra_include_paths: folders of headers.
        build_directory: where the build is kept, if not below `get_default_build_root`.
        verbose: print the commands, and all that the compiler says: warnings, and errors at full length.
        with_cuda: may be False or None, for the sake of programs for PyTorch.
        is_python_module: if False, a shared library is built of the sources, which need no header of ours; returned is
            its path, for `ctypes.CDLL`.
        keep_intermediates: keep objects and generated sources beside what is built.

    Returns:
        The module. It is the same one if the same is loaded again. If the code has changed it is another, and both may
        be used, each with its own classes.

    Raises:
        RuntimeError: if the code does not compile, with what the compiler says; if there is no compiler, with what to
            install; if the folder for builds cannot be written.
        ImportError: if what is built cannot be loaded, as when a function is used that no source or library defines,
            or if it registers nothing.
        ModuleNotFoundError: if nanobind is not installed.
        FileNotFoundError: if a source is not there.
        ValueError: if the name is no identifier, or there is no source.
        TypeError: if code is no string, or flags are one.
        NotImplementedError: if CUDA is asked for.
    """
    paths = [Path(os.fspath(p)).absolute() for p in ([sources] if isinstance(sources, (str, os.PathLike)) else sources)]
    if not paths:
        raise ValueError(f"load: there are no sources for {name!r}")
    if with_cuda or any(path.suffix == ".cu" for path in paths):
        _no_cuda("load")
    for path in paths:
        if not path.is_file():
            raise FileNotFoundError(f"load: there is no source {path}")
    extension = _extension(name, [Source(path) for path in paths], extra_cflags, extra_ldflags, extra_include_paths,
                           verbose, is_python_module, keep_intermediates)  # fmt: skip
    return _import(extension, build_directory, {})


def load_inline(
    name: str,
    cpp_sources: str | Sequence[str],
    functions: str | Sequence[str] | Mapping[str, str] | None = None,
    *,
    cuda_sources: str | Sequence[str] | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Path_ | Sequence[Path_] | None = None,
    build_directory: Path_ | None = None,
    verbose: bool = False,
    with_cuda: bool | None = None,
    is_python_module: bool = True,
    keep_intermediates: bool = True,
) -> Any:
    """`load` of C++ in strings, before which ``gradwright/extension.h`` is included.

    Args:
        name: of the module, an identifier.
        cpp_sources: the code; several are put together, in order.
        functions: the names of functions in it to register, or names with docstrings. What the code registers by
            itself, with ``GRADWRIGHT_DEF`` and its kind, need not be named.
        cuda_sources: may be empty or None, for the sake of programs for PyTorch.
        extra_cflags, extra_ldflags, extra_include_paths, build_directory, verbose, with_cuda, is_python_module,
            keep_intermediates: as in `load`.

    Returns and raises what `load` does. An error of the compiler names the line of your own file.

    Example:
        >>> from gradwright.utils.cpp_extension import load_inline
        >>> code = '''
        ... gw::Tensor running_sum(gw::Array<double, 1> x) {
        ...     auto y = gw::empty_like(x);
        ...     double total = 0;
        ...     for (int64_t i = 0; i < x.size(); ++i) y[i] = total += x[i];
        ...     return y;
        ... }
        ... '''
        >>> ext = load_inline("running", code, functions=["running_sum"])                     # doctest: +SKIP
        >>> ext.running_sum(gw.tensor([1.0, 2.0, 3.0], dtype=gw.float64))                     # doctest: +SKIP
        tensor([1., 3., 6.], dtype=torch.float64)
    """
    if with_cuda or cuda_sources:
        _no_cuda("load_inline")
    texts = [cpp_sources] if isinstance(cpp_sources, str) else cpp_sources
    if not isinstance(texts, Sequence) or not all(isinstance(text, str) for text in texts):
        raise TypeError(f"load_inline: cpp_sources must be C++ in a string, or several, but got {cpp_sources!r}")
    if isinstance(functions, str):
        functions = [functions]
    documented = functions if isinstance(functions, Mapping) else dict.fromkeys(functions or (), "")
    text = source(texts, documented) if is_python_module else joined(texts)
    places = found(texts, 1)
    extension = _extension(name, [Source(Path("main.cpp"), text, places)], extra_cflags, extra_ldflags,
                           extra_include_paths, verbose, is_python_module, keep_intermediates)  # fmt: skip
    return _import(extension, build_directory, places)


def _no_cuda(whose: str) -> NoReturn:
    raise NotImplementedError(f"{whose}: there is no CUDA here, extensions are C++ for the CPU: leave with_cuda and "
                              "cuda_sources out, and give C++ files alone")  # fmt: skip


def _extension(name: str, sources: Sequence[Source], cflags: Sequence[str] | None, ldflags: Sequence[str] | None,
               folders: Path_ | Sequence[Path_] | None, verbose: bool, module: bool,
               keep: bool) -> Extension:  # fmt: skip
    if not (name.isidentifier() and name.isascii()):
        raise ValueError(f"the name of an extension must be an identifier in ASCII, but got {name!r}")
    for flags, argument in ((cflags, "extra_cflags"), (ldflags, "extra_ldflags")):
        if isinstance(flags, str):
            raise TypeError(f'{argument} must be a list of strings, one an argument: ["-O2", "-g"]; but got {flags!r}')
    many = [folders] if isinstance(folders, (str, os.PathLike)) else folders or ()
    include = [f"-I{Path(os.fspath(folder)).absolute()}" for folder in many]
    return Extension(name, sources, [*include, *(cflags or ())], [*(ldflags or ())], module=module, keep=keep,
                     verbose=verbose)  # fmt: skip


def _import(extension: Extension, directory: Path_ | None, places: Mapping[str, tuple[str, int]]) -> Any:
    """The module of an extension, or the path of the library."""
    try:
        path = build(extension, directory)
    except RuntimeError as e:
        raise e.with_traceback(None) from None  # what led to it in here tells the user nothing
    if not extension.module:
        return str(path)
    try:
        module = _module(extension.name, path, places)
    except ImportError as e:
        if path.exists():
            said = of_loading(str(e))
            raise ImportError(f"Error loading extension {extension.name!r}: {said}", name=extension.name) from None
        module = _module(extension.name, build(extension, directory), places)  # it has been removed meanwhile
    if all(name.startswith("__") for name in vars(module)):
        raise ImportError(f"extension {extension.name!r} registers nothing that Python could see: name its functions, "
                          "as load_inline(..., functions=['f']), or write GRADWRIGHT_DEF(f, x) and its kind in the C++",
                          name=extension.name)  # fmt: skip
    return module


def _module(name: str, path: Path, places: Mapping[str, tuple[str, int]]) -> ModuleType:
    key = str(path), fingerprint(path)
    with _locks["loading"]:
        if key not in _loaded:
            loader = importlib.machinery.ExtensionFileLoader(name, str(path))
            spec = importlib.util.spec_from_file_location(name, path, loader=loader)
            assert spec is not None
            with bind.places(places):
                module = importlib.util.module_from_spec(spec)
                loader.exec_module(module)
            _loaded[key] = module
        return _loaded[key]
