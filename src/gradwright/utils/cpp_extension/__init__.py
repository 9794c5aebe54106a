"""Operations in C++, under the names of `torch.utils.cpp_extension`: built when they are asked for, or packaged.

`load` and `load_inline` compile and import; `CppExtension` and `BuildExtension` are for a ``setup.py``. What C++ sees
is ``gradwright/extension.h``, on nanobind: arrays without copies, Functions with their derivatives, elementwise
operations as one expression. Needs a C++17 compiler, and nanobind: ``pip install nanobind``.
"""

from typing import TYPE_CHECKING

from gradwright.base.compiler.cache import get_default_build_root
from gradwright.base.lazy import lazy
from gradwright.utils.cpp_extension.build import check_compiler, include_paths
from gradwright.utils.cpp_extension.load import load, load_inline

__all__ = [
    "BuildExtension", "CppExtension", "check_compiler", "get_default_build_root", "include_paths", "load",
    "load_inline",
]  # fmt: skip

if TYPE_CHECKING:  # they need setuptools
    from gradwright.utils.cpp_extension.packaging import BuildExtension as BuildExtension
    from gradwright.utils.cpp_extension.packaging import CppExtension as CppExtension

lazy(__name__, {"gradwright.utils.cpp_extension.packaging": "BuildExtension CppExtension"})
