"""Building an extension: the compiler and its flags; sources and runtime compiled side by side, linked, and kept."""

from __future__ import annotations

import os
import platform
import re
import shlex
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache, partial
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from itertools import zip_longest
from pathlib import Path
from types import ModuleType
from typing import Any

import gradwright
from gradwright.base.compiler.cache import Made, digest, fingerprint, get_default_build_root, latest, obtain
from gradwright.base.compiler.find import CompileError, Compiler, cpu, find, native_flags, version
from gradwright.base.compiler.progress import Progress
from gradwright.base.cpython.forks import cached_property
from gradwright.utils.cpp_extension.messages import Place, placed, shortened

INCLUDE = Path(__file__).parent / "include"
RUNTIME = INCLUDE / "gradwright" / "runtime.cpp"
"""The libraries every extension is linked with, besides nanobind."""
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


OBJECTS = ("nanobind.o", "runtime.o")
"""What the runtime is."""
SEARCHED = ("CPATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH")
"""Folders in which compilers look besides those that flags name."""
_RELATIVE = re.compile(r"(-(I|L|B|isystem|iquote|idirafter|include))?[^-/]")
"""An argument that may be a path from where the process is."""
_SYSTEM = re.compile(r"/usr/(include|lib)|.*(/include/c\+\+/|/lib/gcc/|/lib/clang/|/sysroot/|\.sdk/)")
"""Headers of the system and the compiler, of which there are hundreds."""


@dataclass(frozen=True)
class Source:
    """A file to compile, or a text.

    Attributes:
        path: of the file; of a text, the name that it gets.
        text: None for a file.
        places: of a text's parts, the file and line where each begins, by what it calls them in ``#line``.
    """

    path: Path
    text: str | None = None
    places: Mapping[str, Place] = field(default_factory=dict)


@dataclass(frozen=True)
class Extension:
    """What is to be built.

    Attributes:
        name: of the module, or of the library.
        sources: what it is compiled from.
        flags, libraries: for the compiler and the linker, besides those that all have.
        native: whether it is made for the CPU of this machine alone.
        module: whether it is a module for Python, and not just a shared library.
        keep: whether sources and objects are kept.
        verbose: whether each command is printed.
    """

    name: str
    sources: Sequence[Source]
    flags: Sequence[str] = ()
    libraries: Sequence[str] = ()
    native: bool = True
    module: bool = True
    keep: bool = True
    verbose: bool = False

    @cached_property
    def compiler(self) -> Compiler:
        """The compiler that builds it; RuntimeError if there is none."""
        return find_compiler()

    @property
    def suffix(self) -> str:
        """The suffix of the built file."""
        return EXTENSION_SUFFIXES[0] if self.module else ".so"

    @property
    def arguments(self) -> list[str]:
        """The flags of each source."""
        native = native_flags() if self.native else []
        own = [f"-DGRADWRIGHT_EXTENSION_NAME={self.name}"] if self.module else ["-fvisibility=default"]
        return [*common_flags(), "-Werror=return-type", *native, *own, *self.flags]  # else it would crash

    @property
    def linked(self) -> list[str]:
        """What its objects are linked with, besides the runtime."""
        return [*link_flags(self.flags), *self.libraries]

    @property
    def made_of(self) -> str:
        """A name for all that it is made of; but not for headers and libraries, which the entry knows."""
        texts = [s.path.read_bytes() if s.text is None else s.text for s in self.sources]
        names = [str(s.path) for s in self.sources]  # they are in messages
        about = [*self.arguments, "|", *self.linked, str(self.keep), cpu() if self.native else ""]
        paths = [*self.flags, *self.libraries, *(str(s.path) for s in self.sources if s.text is None), *_searched()]
        here = os.getcwd() if any(map(_RELATIVE.match, paths)) else ""
        return digest([self.name, self.suffix, here, *about, *_around(), *names, *texts])

    @property
    def key(self) -> str:
        """That, and a name for the compiler."""
        return f"{self.made_of}-{digest([self.compiler.identity, *self.compiler.command])}"


def build(extension: Extension, directory: str | os.PathLike[str] | None = None) -> Path:
    """The file of an extension, built unless that is there; ``directory`` is where, if not in the default place.

    Where there is no compiler, what any has built is taken. Raises RuntimeError with what the compiler says if the code
    cannot be compiled.
    """
    home = Path(directory or Path(get_default_build_root()) / extension.name).absolute()
    name = f"extension {extension.name!r}"
    with Progress(f"looking for {name}") as progress:
        waiting = partial(setattr, progress, "what", f"waiting for the process that builds {name}")
        try:
            key = extension.key
        except RuntimeError:
            files = latest(home, extension.made_of)
            if not files:
                raise
        else:
            files = obtain(home, key, partial(_make, extension, progress), waiting)
    return files[0]


@cache
def _headers() -> str:
    """A name for what gradwright's own headers and runtime contain."""
    return digest(fingerprint(path) or "" for path in sorted((INCLUDE / "gradwright").iterdir()))


def _around() -> list[str]:
    """What all extensions depend on."""
    return [nanobind().__version__, sys.version, EXTENSION_SUFFIXES[0], _headers(),
            *(os.environ.get(variable, "") for variable in SEARCHED)]  # fmt: skip


def _runtime(compiler: Compiler, verbose: bool, progress: Progress) -> list[Path]:
    """The objects that every extension is linked with, compiled once on a machine."""
    flags = [*common_flags(), *runtime_flags()]
    key = digest([compiler.identity, *compiler.command, *_around(), *flags])

    def make(folder: Path) -> Made:
        progress.what += ", and nanobind, once on this machine"
        check_compiler()
        sources = (Path(nanobind().source_dir()) / "nb_combined.cpp", RUNTIME)
        _each([
            partial(_run, compiler, [*flags, "-c", str(source), "-o", str(folder / to)], verbose)
            for source, to in zip(sources, OBJECTS, strict=True)
        ])  # fmt: skip
        return Made(OBJECTS)

    return obtain(Path(get_default_build_root()) / "runtime", key, make)


def _make(extension: Extension, progress: Progress, folder: Path) -> Made:
    """Build into a folder. What is built has a name of its own: the system loads only one file of a name."""
    compiler, count = extension.compiler, len(extension.sources)
    progress.what = f"building extension {extension.name!r} of {count} source{'s' * (count > 1)}"
    objects = [folder / f"{k}_{source.path.stem}.o" for k, source in enumerate(extension.sources)]
    compiling: list[Callable[[], Any]] = [
        partial(_compile, extension, source, to) for source, to in zip(extension.sources, objects, strict=True)
    ]
    if extension.module:
        compiling.append(partial(_runtime, compiler, extension.verbose, progress))
    try:
        results = _each(compiling)
        runtime = results.pop() if extension.module else []
        whole = [*map(str, objects), *map(str, runtime), *extension.linked]
        linked = folder / f"{extension.name}{extension.suffix}"
        _run(compiler, [*whole, "-o", str(linked)], extension.verbose)
    except CompileError as e:
        raise RuntimeError(f"Error building extension {extension.name!r}: {e}") from None
    file = linked.rename(folder / f"{extension.name}-{fingerprint(linked)}{extension.suffix}")
    if not extension.keep:
        for path in folder.iterdir():
            if path != file:
                path.unlink()
    return Made([file.name], sorted({path for used in (*results, _libraries(extension.libraries)) for path in used}))


def _compile(extension: Extension, source: Source, to: Path) -> list[str]:
    """Compile a source; the files that it is made of, as far as they are files."""
    listed = to.with_suffix(".d")
    path = source.path
    if source.text is not None:
        path = to.parent / path.name
        path.write_text(source.text, encoding="utf-8")
    whole = "-ftemplate-backtrace-limit=0"  # of a message, since the user's place is at its end
    flags = [*vector_flags(extension.compiler), *extension.arguments, whole]
    command = [*flags, "-MD", "-MT", "it", "-MF", str(listed), "-c", str(path), "-o", str(to)]
    try:
        _run(extension.compiler, command, extension.verbose)
    except CompileError as e:
        said = shortened(str(e), include_paths(), source.text or "", _mathematics())
        raise CompileError(placed(said, source.places)) from None
    rule = listed.read_text(encoding="utf-8").replace("\\\n", " ").removeprefix("it:")
    names = re.findall(r"(?:[^\s\\]|\\.)+", rule)
    used = [os.path.abspath(re.sub(r"\\(.)", r"\1", name).replace("$$", "$")) for name in names]
    known = tuple(os.path.join(folder, "") for folder in (str(to.parent), *include_paths()))
    theirs = [name for name in used if not (name.startswith(known) or _SYSTEM.match(name))]
    return [*theirs, *_earlier(theirs, extension.flags)]


def _earlier(used: Sequence[str], flags: Sequence[str]) -> set[str]:
    """Where headers, were they there, would be found before those of the same names that are used."""
    given = [*_given(flags, "-I"), *_searched(), *_given(flags, "-isystem")]
    folders = [*map(os.path.abspath, given)]
    beside = {os.path.dirname(name) for name in used}
    found = set()
    for name in used:
        within = [k for k, folder in enumerate(folders) if name.startswith(folder + os.sep)]
        for k in within[:1]:
            rest = os.path.relpath(name, folders[k])
            found |= {os.path.join(folder, rest) for folder in (*beside, *folders[:k])}
    return {path for path in found if not os.path.exists(path)}


def _libraries(flags: Sequence[str]) -> set[str]:
    """The files that are linked in, and libraries that would be if they were there. Shared ones are not."""
    files = {os.path.abspath(flag) for flag in flags if os.path.isfile(flag)}
    folders = [*_given(flags, "-L"), *_searched()]
    for name in _given(flags, "-l"):
        names = [name[1:]] if name.startswith(":") else [f"lib{name}{end}" for end in (".a", ".so", ".dylib")]
        files |= {os.path.abspath(os.path.join(folder, n)) for folder in folders for n in names}
    return {path for path in files if not (path.endswith((".so", ".dylib")) and os.path.exists(path))}


def _given(flags: Sequence[str], option: str) -> Iterator[str]:
    """The values of an option, which are in the same argument or the next."""
    for flag, after in zip_longest(flags, flags[1:], fillvalue=""):
        if flag.startswith(option):
            yield flag.removeprefix(option) or after


def _searched() -> list[str]:
    folders = [folder for variable in SEARCHED for folder in os.environ.get(variable, "").split(os.pathsep)]
    return list(filter(None, folders))


def _mathematics() -> list[str]:
    """The functions that elementwise expressions may use."""
    header = (INCLUDE / "gradwright" / "elementwise.h").read_text(encoding="utf-8")
    return re.findall(r"(?:GRADWRIGHT_MATH2?\(|friend (?:Real|bool) )(?!fn|operator)(\w+)", header)


def _run(compiler: Compiler, arguments: Sequence[str], verbose: bool) -> None:
    if verbose:
        sys.stderr.write(shlex.join([*compiler.command, *arguments]) + "\n")
    said = ""
    try:
        said = compiler.run(arguments)
    except CompileError as e:
        said = str(e)
        raise
    finally:
        if verbose and said:
            sys.stderr.write(said + "\n")
    if not os.path.exists(arguments[-1]):
        raise CompileError(f"{shlex.join(compiler.command)} is no C++ compiler: it has made nothing")


def _each(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """What each call returns, made side by side. Raises one CompileError with what all those have said that failed."""
    jobs = os.environ.get("MAX_JOBS") or str(os.cpu_count() or 1)
    if not jobs.isdecimal():
        raise ValueError(f"MAX_JOBS says how many files are compiled at once, but is {jobs!r}")
    with ThreadPoolExecutor(max(1, min(int(jobs), len(calls)))) as pool:
        futures = [pool.submit(call) for call in calls]
        errors = [future.exception() for future in futures]
    said = dict.fromkeys(str(e) for e in errors if isinstance(e, CompileError))
    for error in errors:
        if error is not None and not isinstance(error, CompileError):
            raise error
    if said:
        raise CompileError("\n".join(said))
    return [future.result() for future in futures]
