"""Programs are built once, whoever asks, and again if that is damaged; without a compiler the error says so."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from gradwright.compilation.by_c import build
from gradwright.compilation.by_c.build import CannotCompileError, load
from gradwright.compilation.by_c.runner import C
from gradwright.compilation.trace.traced import traced


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRADWRIGHT_EXTENSIONS_DIR", str(tmp_path / "kept"))
    monkeypatch.setattr(build, "_loaded", {})


def built(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "kept" / "programs").glob("*/*/program.so"))


def test_one_text_is_built_once(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load("int f(void) { return 3; }").f() == 3
    (file,) = built(tmp_path)
    made = file.stat().st_mtime_ns
    monkeypatch.setattr(build, "_loaded", {})
    assert load("int f(void) { return 3; }").f() == 3
    assert file.stat().st_mtime_ns == made
    assert load("int f(void) { return 4; }").f() == 4
    assert len(built(tmp_path)) == 2


def test_a_damaged_file_is_built_again(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load("int g(void) { return 5; }")
    (file,) = built(tmp_path)
    file.unlink()
    file.write_bytes(b"no library")
    monkeypatch.setattr(build, "_loaded", {})
    assert load("int g(void) { return 5; }").g() == 5


PROGRAM = """
import numpy as np
from gradwright.compilation.by_c import C
from gradwright.compilation.trace.traced import space, traced
x = np.arange(5.0)
print(C(traced(lambda x: space.exp(x) + 1.0, x))([x])[0].sum())
"""


def slow_compiler(tmp_path: Path, seconds: float) -> str:
    path = tmp_path / "slow"
    path.write_text(f'#!/bin/sh\necho run >> {tmp_path}/runs\nsleep $(cat {tmp_path}/wait)\nexec cc "$@"\n')
    (tmp_path / "wait").write_text(str(seconds))
    path.chmod(0o755)
    return str(path)


def test_several_processes_build_once(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", slow_compiler(tmp_path, 1))
    several = [subprocess.Popen([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE) for _ in range(6)]
    said = {p.communicate(timeout=300)[0] for p in several}
    assert said == {f"{np.exp(np.arange(5.0)).sum() + 5}\n".encode()}
    assert len(built(tmp_path)) == 1
    assert (tmp_path / "runs").read_text().count("run") == 2  # that, and asking for the version
    assert not list((tmp_path / "kept" / "programs").glob("*/.*.tmp"))


def test_a_build_that_was_killed_is_made_anew(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", slow_compiler(tmp_path, 60))
    process = subprocess.Popen([sys.executable, "-c", PROGRAM], start_new_session=True)
    until = time.monotonic() + 60
    while not (tmp_path / "runs").exists() and time.monotonic() < until:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not built(tmp_path)
    (tmp_path / "wait").write_text("0")
    subprocess.run([sys.executable, "-c", PROGRAM], check=True, timeout=120)
    assert len(built(tmp_path)) == 1
    assert not list((tmp_path / "kept" / "programs").glob("*/.*.tmp"))


def test_without_a_compiler(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load("int h(void) { return 6; }")
    monkeypatch.setattr(build, "_loaded", {})
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert load("int h(void) { return 6; }").h() == 6
    with pytest.raises(CannotCompileError, match=r"no C compiler was found: install one"):
        C(traced(lambda x: x + 1.0, np.ones(3)))
    monkeypatch.setenv("CC", "mine")
    with pytest.raises(CannotCompileError, match=r"CC names, 'mine', is not there"):
        load("int i;")


def test_a_compiler_that_fails_is_quoted(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CannotCompileError, match="error"):
        load("int f(void) { return")
    (tmp_path / "fails").write_text("#!/bin/sh\necho 'disk on fire' >&2\nexit 1\n")
    (tmp_path / "fails").chmod(0o755)
    monkeypatch.setenv("CC", str(tmp_path / "fails"))
    with pytest.raises(CannotCompileError, match="disk on fire"):
        load("int f(void) { return 1; }")
    assert not built(tmp_path)


def test_a_folder_that_cannot_be_written(compiler: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("GRADWRIGHT_EXTENSIONS_DIR", str(tmp_path / "file"))
    with pytest.raises(CannotCompileError, match="cannot be kept"):
        load("int f(void) { return 1; }")
