"""Many processes that build the same at once, and a builder that is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from gradwright.utils.cpp_extension.build import Extension, Source, build

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
        Extension("a", [text], compiler=plain.compiler._replace(identity="another")),
    ]  # fmt: skip
    assert len({e.key for e in (plain, *others)}) == 1 + len(others)
    assert plain.key == Extension("a", [Source(Path("a.cpp"), "int a;", "int a; // shown")], verbose=True).key
