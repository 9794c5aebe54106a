"""`CppExtension` and `BuildExtension`: extensions that a ``setup.py`` builds, to be installed with a package.

    from setuptools import setup
    from gradwright.utils.cpp_extension import BuildExtension, CppExtension

    setup(
        name="fused",
        ext_modules=[CppExtension("fused._C", ["fused/activation.cpp"])],
        cmdclass={"build_ext": BuildExtension},
    )

with ``requires = ["setuptools", "gradwright[cpp]"]`` under ``[build-system]`` in ``pyproject.toml``. The code is made
for any CPU of the kind, as packages must be; ``extra_compile_args=["-march=native"]`` makes it for this machine alone.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

try:
    from setuptools import Extension
    from setuptools.command.build_ext import build_ext
except ModuleNotFoundError as e:
    raise ModuleNotFoundError(
        "CppExtension and BuildExtension need setuptools, which is not installed: pip install setuptools",
        name="setuptools",
    ) from e

from gradwright.base.compiler.cache import get_default_build_root
from gradwright.utils.cpp_extension import build
from gradwright.utils.cpp_extension.build import include_paths


def CppExtension(name: str, sources: Sequence[str], *args: Any, **kwargs: Any) -> Any:
    """A `setuptools.Extension` of C++ files that include ``gradwright/extension.h``, for `BuildExtension`.

    Args:
        name: of the module, with its packages: ``fused._C``.
        sources: the files, relative to ``setup.py``.
        args, kwargs: those of `setuptools.Extension`: ``extra_compile_args``, of which those for ``cxx`` count if they
            are given by compiler, ``extra_link_args``, ``include_dirs``,
            ``define_macros``, ``libraries``, ``library_dirs``; ``depends`` for headers of your own, so that the sdist
            contains them.
    """
    kwargs["include_dirs"] = [*kwargs.get("include_dirs", ()), *include_paths()]
    kwargs["language"] = "c++"
    return Extension(name, sources, *args, **kwargs)


class BuildExtension(build_ext):
    """The ``build_ext`` command that builds a `CppExtension`; other extensions it builds as setuptools does.

    It compiles as `load` does, but for any CPU, without asserts, and in the folder of the build; nanobind once on this
    machine, or there too if the usual place for builds cannot be written. From the environment it takes ``CPPFLAGS``,
    ``CXXFLAGS`` and ``LDFLAGS``.
    """

    @classmethod
    def with_options(cls, **options: Any) -> Any:
        """The class: PyTorch's way of giving options, such as ``use_ninja=False``, none of which is needed here."""
        return cls

    def build_extension(self, ext: Any) -> None:
        """Build one extension. Raises RuntimeError with what the compiler says if it does not compile."""
        if not set(include_paths()) <= set(ext.include_dirs):
            super().build_extension(ext)
            return
        own = [folder for folder in ext.include_dirs if folder not in include_paths()]
        sources = [Path(source) for source in ext.sources]  # so messages name them as they lie in the package,
        if self.inplace or self.editable_mode:
            sources = [source.absolute() for source in sources]  # or where they are, if they stay there
        defined = [f"-D{name}" if value is None else f"-D{name}={value}" for name, value in ext.define_macros]
        flags = ext.extra_compile_args
        home = Path(self.build_temp).absolute()
        if not _writable():
            os.environ["GRADWRIGHT_EXTENSIONS_DIR"] = str(home)
        path = build.build(build.Extension(
            ext.name.rpartition(".")[2],
            [build.Source(source) for source in sources],
            ["-DNDEBUG", *_environ("CPPFLAGS"), *_environ("CXXFLAGS"),
             *(f"-I{Path(folder).absolute()}" for folder in own), *defined, *(f"-U{name}" for name in ext.undef_macros),
             *(flags.get("cxx", ()) if isinstance(flags, Mapping) else flags)],
            [*_environ("LDFLAGS"), *ext.extra_objects, *(f"-L{folder}" for folder in ext.library_dirs),
             *(f"-Wl,-rpath,{folder}" for folder in ext.runtime_library_dirs),
             *(f"-l{library}" for library in ext.libraries), *ext.extra_link_args],
            native=False, verbose=bool(self.verbose and self.verbose > 1),
        ), home / ext.name)  # fmt: skip
        target = Path(self.get_ext_fullpath(ext.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)


def _environ(variable: str) -> list[str]:
    return shlex.split(os.environ.get(variable, ""))


def _writable() -> bool:
    """Whether builds can be kept where they are by default."""
    try:
        os.makedirs(get_default_build_root(), exist_ok=True)
    except (OSError, RuntimeError):
        return False
    return os.access(get_default_build_root(), os.W_OK)
