"""Building: the compiler, what is built anew, and what is kept."""

import ctypes
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import gradwright as gw
from gradwright.utils.cpp_extension import check_compiler, include_paths, load_inline
from gradwright.utils.cpp_extension.build import Extension, Source, _libraries, build, find_compiler


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


CROWD = """
import os, sys
from gradwright.utils.cpp_extension import load_inline

children = []
for _ in range(20):
    child = os.fork()
    if not child:
        ext = load_inline("crowded", "int64_t answer() { return 42; }", functions=["answer"],
                          build_directory=sys.argv[1], verbose=True)
        os._exit(ext.answer() != 42)
    children.append(child)
sys.exit(sum(os.waitpid(child, 0)[1] != 0 for child in children))
"""


def test_twenty_processes_build_once_and_all_load(compiler: None, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", CROWD, str(tmp_path)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sum(line.endswith("main.o") and " -c " in line for line in done.stderr.splitlines()) == 1
    assert len([p for p in tmp_path.iterdir() if p.is_dir()]) == 1


SLOW = """#!/bin/sh
if [ "$1" != --version ] && [ -e {flag} ]; then touch {started}; sleep 60; fi
exec c++ "$@"
"""


def test_a_builder_that_is_killed_does_not_stop_the_next(
    compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flag, started, slow = tmp_path / "flag", tmp_path / "started", tmp_path / "slow"
    slow.write_text(SLOW.format(flag=flag, started=started))
    slow.chmod(0o755)
    flag.touch()
    monkeypatch.setenv("CXX", str(slow))
    source = tmp_path / "one.cpp"
    source.write_text('extern "C" int one() { return 1; }\n')
    program = f"""
        from gradwright.utils.cpp_extension import load
        load("one", {str(source)!r}, build_directory={str(tmp_path / "build")!r}, is_python_module=False)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program)], start_new_session=True)
    deadline = time.monotonic() + 60
    while not started.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    child.kill()  # alone: what it has started goes on
    child.wait()
    flag.unlink()
    assert [p.name for p in (tmp_path / "build").iterdir() if p.name.endswith(".tmp")]
    built = build(Extension("one", [Source(source)], module=False), tmp_path / "build")
    os.killpg(child.pid, signal.SIGKILL)
    assert built.is_file()
    assert not [p.name for p in (tmp_path / "build").iterdir() if p.name.endswith(".tmp")]


def test_a_header_that_appears_before_another_is_noticed(compiler: None, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second / "inside"):
        folder.mkdir(parents=True)
    (second / "inside" / "given.h").write_text("int given() { return 1; }\n")
    source = tmp_path / "one.cpp"
    source.write_text('#include "inside/given.h"\n')
    extension = Extension("one", [Source(source)], [f"-I{first}", "-I", str(second)], module=False)
    before = build(extension, tmp_path / "build")
    assert build(extension, tmp_path / "build") == before
    (first / "inside").mkdir()
    (first / "inside" / "given.h").write_text("int given() { return 2; }\n")
    after = build(extension, tmp_path / "build")
    assert after != before
    (tmp_path / "inside").mkdir()
    (tmp_path / "inside" / "given.h").write_text("int given() { return 3; }\n")
    assert build(extension, tmp_path / "build") not in (before, after)


def test_an_object_that_is_linked_and_changes_is_noticed(compiler: None, tmp_path: Path) -> None:
    source = tmp_path / "one.cpp"
    source.write_text("int two();\nint one() { return two(); }\n")
    extension = Extension("one", [Source(source)], libraries=[str(tmp_path / "two.o")], module=False)
    built = []
    for k in (1, 2, 2):
        code = f"int two() {{ return {k}; }}"
        subprocess.run([*extension.compiler.command, "-fPIC", "-x", "c++", "-c", "-", "-o", "two.o"], input=code,
                       text=True, cwd=tmp_path, check=True)  # fmt: skip
        built.append(build(extension, tmp_path / "build"))
    assert built[0] != built[1] == built[2]


def test_a_number_of_jobs_that_is_none_is_refused(
    compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MAX_JOBS", "many")
    with pytest.raises(ValueError, match="MAX_JOBS says how many files are compiled at once, but is 'many'"):
        build(Extension("one", [Source(Path("one.cpp"), "int one;")], module=False), tmp_path)


def test_the_key_knows_what_a_build_is_made_of(compiler: None, tmp_path: Path) -> None:
    text = Source(Path("a.cpp"), "int a;")
    plain = Extension("a", [text])
    others = [
        Extension("b", [text]), Extension("a", [Source(Path("b.cpp"), "int a;")]),
        Extension("a", [Source(Path("a.cpp"), "int b;")]), Extension("a", [text], ["-g"]),
        Extension("a", [text], [], ["-g"]), Extension("a", [text], native=False), Extension("a", [text], module=False),
        Extension("a", [text], keep=False),
    ]  # fmt: skip
    assert len({e.made_of for e in (plain, *others)}) == 1 + len(others)
    others.append(Extension("a", [text]))
    vars(others[-1])["compiler"] = plain.compiler._replace(identity="another")
    assert others[-1].made_of == plain.made_of
    assert len({e.key for e in (plain, *others)}) == 1 + len(others)
    placed = Source(Path("a.cpp"), "int a;", {"cpp_sources[0]": ("user.py", 7)})
    assert plain.key == Extension("a", [placed], verbose=True).key


def test_what_is_built_needs_no_compiler(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "given.h").write_text("int given;\n")

    def built(text: str) -> Path:
        return build(Extension("a", [Source(Path("a.cpp"), text)], [f"-I{tmp_path}"], module=False), tmp_path / "build")

    before = built("#include <given.h>")
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.delenv("CXX", raising=False)
    assert built("#include <given.h>") == before
    with pytest.raises(RuntimeError, match=r"no C\+\+ compiler was found"):
        built("int other;")
    (tmp_path / "given.h").write_text("int changed;\n")
    with pytest.raises(RuntimeError, match=r"no C\+\+ compiler was found"):
        built("#include <given.h>")


def test_what_makes_nothing_is_no_compiler(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CXX", "true -m64")
    with pytest.raises(RuntimeError, match=r"extension 'a': \S+/true -m64 is no C\+\+ compiler: it has made nothing"):
        build(Extension("a", [Source(Path("a.cpp"), "int a;")], module=False), tmp_path)


def answers(tmp_path: Path, code: str, flags: list[str], libraries: list[str]) -> int:
    """What ask() in the code returns, built with flags in which {} is a folder."""
    extension = Extension("asked", [Source(Path("main.cpp"), code)], [f.format(tmp_path) for f in flags],
                          [f.format(tmp_path) for f in libraries], module=False)  # fmt: skip
    return int(ctypes.CDLL(str(build(extension, tmp_path / "build"))).ask())


@pytest.mark.parametrize("flags", [["-isystem", "{}"], ["-isystem{}"], ["-I{}"], ["-idirafter", "{}"],
                                   ["-include", "{}/given.h"]])  # fmt: skip
def test_a_header_that_changes_is_noticed(compiler: None, tmp_path: Path, flags: list[str]) -> None:
    for answer in (41, 42):
        (tmp_path / "given.h").write_text(f"#pragma once\n#define ANSWER {answer}\n")
        code = "#include <given.h>\n" * ("-include" not in flags) + 'extern "C" int ask() { return ANSWER; }\n'
        assert answers(tmp_path, code, flags, []) == answer


@pytest.mark.parametrize("variable", ["CPATH", "CPLUS_INCLUDE_PATH"])
def test_folders_of_headers_in_the_environment(
    compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    for folder, answer in (("a", 41), ("b", 42), ("b", 43)):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / "given.h").write_text(f"#define ANSWER {answer}\n")
        monkeypatch.setenv(variable, str(tmp_path / folder))
        code = '#include <given.h>\nextern "C" int ask() { return ANSWER; }\n'
        assert answers(tmp_path, code, [], []) == answer


@pytest.mark.parametrize("libraries", [["-L{}", "-lgiven"], ["-L", "{}", "-l", "given"], ["-L{}", "-l:libgiven.a"],
                                       ["{}/libgiven.a"], ["-lgiven"]])  # fmt: skip
def test_a_static_library_that_changes_is_noticed(
    compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, libraries: list[str]
) -> None:
    if len(libraries) == 1:
        monkeypatch.setenv("LIBRARY_PATH", str(tmp_path))
    for answer in (41, 42):
        code = f"int given() {{ return {answer}; }}"
        subprocess.run([*find_compiler().command, "-fPIC", "-x", "c++", "-c", "-", "-o", "given.o"], input=code,
                       text=True, cwd=tmp_path, check=True)  # fmt: skip
        subprocess.run(["ar", "rcs", "libgiven.a", "given.o"], cwd=tmp_path, check=True)
        assert answers(tmp_path, 'int given();\nextern "C" int ask() { return given(); }', [], libraries) == answer


def test_a_library_that_appears_before_another_is_noticed(compiler: None, tmp_path: Path) -> None:
    before = {str(tmp_path / folder / name) for folder in "ab" for name in ("libq.a", "libq.so", "libq.dylib")}
    assert _libraries([f"-L{tmp_path}/a", f"-L{tmp_path}/b", "-lq"]) == before
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "libq.so").touch()  # which is loaded when the extension is
    assert _libraries([f"-L{tmp_path}/a", f"-L{tmp_path}/b", "-lq"]) == before - {str(tmp_path / "b" / "libq.so")}


@pytest.mark.parametrize("flags", [["-I."], ["-I", "."], ["-isystem", "."], ["-include", "given.h"], ["-Igiven"]])
def test_where_the_process_is_counts_if_a_flag_is_relative(
    compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str]
) -> None:
    text = Source(Path("main.cpp"), "")
    keys = set()
    for folder in "ab":
        (tmp_path / folder).mkdir()
        monkeypatch.chdir(tmp_path / folder)
        keys |= {Extension("a", [text], flags).key, Extension("a", [text], ["-O0", "-DX", "-I/a"], ["-lblas"]).key}
    assert len(keys) == 3


def test_what_debuggers_want_is_kept_if_it_is_made(compiler: None, tmp_path: Path) -> None:
    sizes = [build(Extension("a", [Source(Path("main.cpp"), "int a() { return 1; }")], flags, module=False),
                   tmp_path).stat().st_size for flags in (["-g0"], ["-O0", "-g"], ["-ggdb3"])]  # fmt: skip
    assert sizes[0] < min(sizes[1:])
    assert b".debug_info" in max(tmp_path.glob("*/a-*.so"), key=os.path.getsize).read_bytes()
