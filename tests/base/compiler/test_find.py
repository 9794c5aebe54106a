"""Finding a compiler, and telling one from another."""

from pathlib import Path

import pytest

from gradwright.base.compiler.find import CompileError, Compiler, cpu, find, version


def program(path: Path, said: str) -> str:
    path.write_text(f"#!/bin/sh\necho '{said}'\n")
    path.chmod(0o755)
    return str(path)


def found() -> Compiler:
    compiler = find("CXX", ("c++",))
    assert compiler is not None
    return compiler


def test_the_first_that_there_is_unless_one_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert find("CC", ("cc", "gcc")) is None
    gcc = program(tmp_path / "gcc", "gcc (GCC) 12.2.0")
    compiler = find("CC", ("cc", "gcc"))
    assert compiler is not None
    assert compiler.command == (gcc,)
    assert version(compiler) == ("gcc (GCC) 12.2.0", "gcc", (12, 2, 0))
    program(tmp_path / "mine", "clang version 17.0.1")
    monkeypatch.setenv("CC", "mine -m64")
    compiler = find("CC", ("cc", "gcc"))
    assert compiler is not None
    assert compiler.command == (str(tmp_path / "mine"), "-m64")
    assert version(compiler)[1:] == ("clang", (17, 0, 1))
    monkeypatch.setenv("CC", "absent")
    assert find("CC", ("cc", "gcc")) is None


def test_a_compiler_that_fails_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "cc").write_text("#!/bin/sh\necho 'no such thing' >&2\nexit 3\n")
    (tmp_path / "cc").chmod(0o755)
    with pytest.raises(CompileError, match="no such thing"):
        Compiler((str(tmp_path / "cc"),), "").run(["a.c"])


def test_the_cpu_has_a_name() -> None:
    assert cpu() == cpu() != ""


def test_a_compiler_in_the_place_of_another_is_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CXX", program(tmp_path / "cc", "g++ (GCC) 12.2.0"))
    first = found()
    program(tmp_path / "cc", "g++ (GCC) 13.2.0, newer")
    assert found() != first
    assert version(found())[0].endswith("newer")


def test_a_compiler_behind_another_is_another(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for folder in ("first", "second"):
        (tmp_path / folder).mkdir()
    program(tmp_path / "first" / "ccache", "g++ (GCC) 12.2.0")
    (tmp_path / "first" / "g++").symlink_to("ccache")
    monkeypatch.setenv("PATH", f"{tmp_path / 'first'}:{tmp_path / 'second'}")
    for command in ("ccache g++", "g++"):
        monkeypatch.setenv("CXX", command)
        identities = set()
        for said in ("g++ (GCC) 12.2.0", "g++ (GCC) 13.2.0, newer"):
            program(tmp_path / "second" / "g++", said)
            identities.add(found().identity)
        assert len(identities) == 2
