"""Extensions built with a package: `CppExtension` and `BuildExtension` in a ``setup.py``."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("setuptools")

from gradwright.utils.cpp_extension import BuildExtension, CppExtension, include_paths

SETUP = """
from setuptools import setup
from gradwright.utils.cpp_extension import BuildExtension, CppExtension

setup(
    name="fused", packages=["fused"],
    ext_modules=[CppExtension("fused._C", ["a.cpp", "b.cpp"], define_macros=[("ANSWER", "42")],
                              include_dirs=["headers"], depends=["headers/answer.h"])],
    cmdclass={"build_ext": BuildExtension.with_options(use_ninja=False)},
)
"""


def test_a_setup_builds_it(compiler: None, tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text(SETUP)
    (tmp_path / "fused").mkdir()
    (tmp_path / "fused" / "__init__.py").write_text("")
    (tmp_path / "headers").mkdir()
    (tmp_path / "headers" / "answer.h").write_text("inline int answer() { return ANSWER; }\n")
    (tmp_path / "a.cpp").write_text("#include <gradwright/extension.h>\nGRADWRIGHT_ELEMENTWISE(square, x * x, 2 * x)\n")
    (tmp_path / "b.cpp").write_text("#include <answer.h>\n#include <gradwright/extension.h>\nGRADWRIGHT_DEF(answer)\n")
    done = subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=tmp_path,
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "fused").glob("_C*.so")
    subprocess.run([sys.executable, "setup.py", "-q", "sdist"], cwd=tmp_path, capture_output=True, check=True)
    (archive,) = (tmp_path / "dist").iterdir()
    with tarfile.open(archive) as files:
        assert {"a.cpp", "headers"} <= {Path(name).name for name in files.getnames()}
    program = (
        "import gradwright as gw, fused._C as C; x = gw.ones(2, requires_grad=True); C.square(x).sum().backward(); "
        "print(C.answer(), x.grad.tolist(), C.square(x).grad_fn.name(), C.square.__module__)"
    )
    out = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert out.stdout.split() == ["42", "[2.0,", "2.0]", "squareBackward", "fused._C"]


def build_ext(folder: Path, arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Build a.cpp of a project with a setup.py that has these arguments for CppExtension; what was said."""
    (folder / "setup.py").write_text(
        "from setuptools import setup\n"
        "from gradwright.utils.cpp_extension import BuildExtension, CppExtension\n"
        f"setup(name='asked', ext_modules=[CppExtension('_asked', ['a.cpp'], {arguments})],\n"
        "      cmdclass={'build_ext': BuildExtension})\n"
    )
    return subprocess.run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], cwd=folder, text=True,
                          env={**os.environ, **environment}, capture_output=True)  # fmt: skip


def test_flags_by_compiler_and_from_the_environment(compiler: None, tmp_path: Path) -> None:
    code = ["ASKED_A != 1", "ASKED_B != 2", "ASKED_C != 3", "ASKED_D != 4", "!defined NDEBUG"]
    (tmp_path / "a.cpp").write_text(
        "#include <gradwright/extension.h>\n" + "".join(f"#if {c}\n#error {c}\n#endif\n" for c in code)
    )
    done = build_ext(tmp_path, "extra_compile_args={'cxx': ['-DASKED_A=1', '-DASKED_D=4'], 'nvcc': ['--nothing']}",
                     CPPFLAGS="-DASKED_B=2", CXXFLAGS="-DASKED_C=3 -DASKED_D=0 -w",
                     LDFLAGS="-Wl,-rpath,/of/the/environment")  # fmt: skip
    assert done.returncode == 0, done.stderr
    (path,) = tmp_path.glob("_asked*.so")
    assert b"/of/the/environment" in path.read_bytes()
    done = build_ext(tmp_path, "undef_macros=['NDEBUG'], extra_compile_args=['-DASKED_A=1']")
    assert done.returncode
    assert "error: ASKED_B != 2" in done.stderr.replace("#error", "error:")


def test_without_a_cache_all_is_built_in_the_project(compiler: None, tmp_path: Path) -> None:
    (tmp_path / "a.cpp").write_text("#include <gradwright/extension.h>\nGRADWRIGHT_ELEMENTWISE(square, x * x, 2 * x)\n")
    nowhere = {"HOME": "/dev/null", "XDG_CACHE_HOME": "", "GRADWRIGHT_EXTENSIONS_DIR": ""}
    done = build_ext(tmp_path, "", **nowhere)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("_asked*.so"))
    assert {path.name for path in tmp_path.glob("build/*/*") if path.is_dir()} == {"_asked", "runtime"}


def test_what_an_extension_is_made_of() -> None:
    extension = CppExtension("fused._C", ["a.cpp"], include_dirs=["headers"], extra_compile_args=["-g"])
    assert extension.include_dirs == ["headers", *include_paths()]
    assert extension.language == "c++"
    assert extension.extra_compile_args == ["-g"]
    assert issubclass(BuildExtension.with_options(use_ninja=True), BuildExtension)


def test_the_headers_are_in_the_wheel(our_wheel: Path) -> None:
    names = zipfile.ZipFile(our_wheel).namelist()
    for name in ("array.h", "elementwise.h", "extension.h", "runtime.cpp", "threads.h"):
        assert f"gradwright/utils/cpp_extension/include/gradwright/{name}" in names
