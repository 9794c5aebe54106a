"""Builds are there whole or not at all, whoever asks for them at once, and however a builder ends."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gradwright.utils.cpp_extension import cache, get_default_build_root


def maker(header: Path, made: list[Path], content: str = "built") -> Callable[[Path], cache.Made]:
    def make(folder: Path) -> cache.Made:
        made.append(folder)
        time.sleep(0.01)  # others come meanwhile
        (folder / "out").write_text(content)
        return cache.Made(["out"], [str(header)])

    return make


@pytest.fixture
def header(tmp_path: Path) -> Path:
    path = tmp_path / "header.h"
    path.write_text("1")
    return path


DAMAGE: list[Callable[[Path], Any]] = [
    lambda entry: (entry / "out").write_text("bui"),
    lambda entry: (entry / "out").unlink(),
    lambda entry: (entry / "manifest.json").unlink(),
    lambda entry: (entry / "manifest.json").write_text("{"),
    lambda entry: (entry / "manifest.json").write_text("[]"),
    lambda entry: (entry / "manifest.json").write_text('{"files": {}, "sources": {}}'),
    lambda entry: (entry.parent.parent / "header.h").write_text("2"),
    lambda entry: [p.unlink() for p in entry.iterdir()],
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_what_is_damaged_or_stale_is_made_again(tmp_path: Path, header: Path, damage: Callable[[Path], Any]) -> None:
    made: list[Path] = []
    make = maker(header, made)
    (file,) = cache.obtain(tmp_path / "root", "key", make)
    assert cache.obtain(tmp_path / "root", "key", make) == [file]
    assert len(made) == 1
    damage(file.parent)
    assert cache.obtain(tmp_path / "root", "key", make) == [file]
    assert len(made) == 2
    assert file.read_text() == "built"


def test_a_build_that_fails_leaves_nothing(tmp_path: Path, header: Path) -> None:
    def fail(folder: Path) -> cache.Made:
        (folder / "half").write_text("")
        raise RuntimeError("no")

    for _ in range(2):
        with pytest.raises(RuntimeError, match="no"):
            cache.obtain(tmp_path / "root", "key", fail)
        assert [p.name for p in (tmp_path / "root").iterdir()] == [".key.lock"]


def test_what_a_killed_builder_has_left_is_removed(tmp_path: Path, header: Path) -> None:
    left = tmp_path / "root" / ".key.abc.tmp"
    left.mkdir(parents=True)
    (left / "half").write_text("")
    cache.obtain(tmp_path / "root", "key", maker(header, []))
    assert not left.exists()


def test_many_threads_build_once(tmp_path: Path, header: Path) -> None:
    made: list[Path] = []
    waited: list[int] = []
    threads = [
        threading.Thread(
            target=cache.obtain, args=(tmp_path / "root", "key", maker(header, made), lambda: waited.append(1))
        )
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied", str(tmp_path / "root"))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(RuntimeError, match=r"Permission denied.*GRADWRIGHT_EXTENSIONS_DIR"):
        cache.obtain(tmp_path / "root", "key", maker(tmp_path, []))


def test_where_builds_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRADWRIGHT_EXTENSIONS_DIR", str(tmp_path / "here"))
    assert get_default_build_root() == str(tmp_path / "here")
    monkeypatch.delenv("GRADWRIGHT_EXTENSIONS_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert get_default_build_root() == str(tmp_path / "gradwright_extensions")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert get_default_build_root() == str(tmp_path / "home" / ".cache" / "gradwright_extensions")


def test_different_things_have_different_names() -> None:
    assert len({cache.digest(parts) for parts in (["ab"], ["a", "b"], ["", "ab"], [b"ab", ""])}) == 4
