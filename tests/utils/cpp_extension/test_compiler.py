"""Finding the compiler, and what is said where there is none, or too old a one."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import numpy as np
import pytest

import gradwright as gw
from gradwright.utils.cpp_extension import check_compiler, include_paths, load_inline


def program(path: Path, said: str) -> str:
    path.write_text(f"#!/bin/sh\necho '{said}'\n")
    path.chmod(0o755)
    return str(path)


def test_the_compiler_says_what_it_is(compiler: None) -> None:
    assert any(character.isdigit() for character in check_compiler())


def test_without_a_compiler_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CXX", raising=False)
    for call in (check_compiler, lambda: load_inline("a", "int a;")):
        with pytest.raises(RuntimeError, match=r"(?s)no C\+\+ compiler was found.*apt install g\+\+.*xcode-select"):
            call()
    monkeypatch.setenv("CXX", "mycc -m64")
    with pytest.raises(RuntimeError, match="that CXX names, 'mycc', is not there"):
        check_compiler()


@pytest.mark.parametrize("said", ["g++ (GCC) 7.5.0", "clang version 6.0.0-1ubuntu2"])
def test_an_old_compiler_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, said: str) -> None:
    monkeypatch.setenv("CXX", program(tmp_path / "old", said))
    with pytest.raises(RuntimeError, match=r"is too old for C\+\+17"):
        check_compiler()


CLANG = """
GRADWRIGHT_ELEMENTWISE(growth, exp(x) - 1, exp(x))
double plain(double x) noexcept { return 2 * x; }
"""


def test_clang_builds_the_same(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if shutil.which("clang++") is None:
        pytest.skip("there is no clang++: nothing built with it")
    monkeypatch.setenv("CXX", "clang++")
    ext = load_inline("by_clang", CLANG, functions="plain", build_directory=tmp_path)
    x = gw.tensor(np.linspace(-3, 3, 1001), requires_grad=True)
    ext.growth(x).sum().backward()
    np.testing.assert_allclose(ext.growth(x).numpy(force=True), np.expm1(x.numpy(force=True)), rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(x.grad.numpy(), np.exp(x.numpy(force=True)), rtol=1e-14)
    assert ext.plain(2.0) == 4.0


def test_without_nanobind_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanobind", None)
    with pytest.raises(ModuleNotFoundError, match="pip install nanobind"):
        include_paths()


def test_the_headers_are_where_include_paths_says(compiler: None) -> None:
    ours, nanobind, python = map(Path, include_paths())
    assert (ours / "gradwright" / "extension.h").is_file()
    assert (ours / "gradwright" / "runtime.cpp").is_file()
    assert (nanobind / "nanobind" / "nanobind.h").is_file()
    assert (python / "Python.h").is_file()
