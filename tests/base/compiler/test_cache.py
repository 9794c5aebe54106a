"""Builds are there whole or not at all, whoever asks for them at once, and however a builder ends."""

import errno
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from gradwright.base.compiler import cache
from gradwright.utils.cpp_extension import get_default_build_root


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


@pytest.mark.parametrize("code", [errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS])
def test_a_folder_without_locks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(*args: object) -> None:
        raise OSError(code, "No locks available")

    monkeypatch.setattr(cache.fcntl, "flock", refuse)
    with pytest.raises(RuntimeError, match=rf"kept in {tmp_path} \(No locks available\): name another folder"):
        cache.obtain(tmp_path, "key", maker(tmp_path, []))


def test_others_of_the_group_can_read_what_the_umask_lets_them(tmp_path: Path, header: Path) -> None:
    before = os.umask(0o027)
    try:
        (file,) = cache.obtain(tmp_path / "root", "key", maker(header, []))
    finally:
        os.umask(before)
    assert [path.stat().st_mode & 0o777 for path in (file.parent, file)] == [0o750, 0o640]


def test_what_is_in_use_and_cannot_be_removed_is_no_hindrance(
    tmp_path: Path, header: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = maker(header, [])
    (used,) = cache.obtain(tmp_path / "root", "key", make)
    rmtree = shutil.rmtree

    def as_on_nfs(path: Path, ignore_errors: bool) -> None:
        assert ignore_errors
        if not (path / "out").exists():
            rmtree(path, ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", as_on_nfs)
    header.write_text("2")
    assert cache.obtain(tmp_path / "root", "key", make) == [used]
    assert len(cache.held(used.parent)) == 1
    monkeypatch.undo()
    header.write_text("3")
    cache.obtain(tmp_path / "root", "key", make)
    assert {p.name for p in (tmp_path / "root").iterdir()} == {"key", ".key.lock"}


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.ENOSPC])
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    def refuse(self: Path, *args: object, **kwargs: object) -> None:
        raise OSError(code, "not so", str(self))

    monkeypatch.setattr(Path, "mkdir", refuse)
    monkeypatch.setenv("GRADWRIGHT_EXTENSIONS_DIR", str(tmp_path / "ours"))
    for folder, where in (("ours/name", "in GRADWRIGHT_EXTENSIONS_DIR"), ("theirs", "as build_directory")):
        with pytest.raises(RuntimeError, match=rf"kept in .*/{folder} \(not so\): name another folder {where}"):
            cache.obtain(tmp_path / folder, "key", maker(tmp_path, []))


@pytest.mark.parametrize("code", [errno.EACCES, errno.ENOENT])
def test_a_folder_above_that_cannot_be_made_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    mkdir = os.mkdir

    def refuse(path: Path, *args: object) -> None:
        if path == tmp_path / "no":
            raise OSError(code, "not so", str(path))
        mkdir(path)

    monkeypatch.setattr(os, "mkdir", refuse)
    with pytest.raises(RuntimeError, match=r"kept in .*/no/a/b \(not so\): name another folder"):
        cache.obtain(tmp_path / "no" / "a" / "b", "key", maker(tmp_path, []))


def test_the_entry_used_last_is_found_by_how_its_key_starts(tmp_path: Path, header: Path) -> None:
    assert cache.latest(tmp_path / "root", "a-") == []
    for age, key in enumerate(("a-1", "a-2", "a-3", "b-1")):
        (file,) = cache.obtain(tmp_path / "root", key, maker(header, []))
        os.utime(file.with_name(cache.MANIFEST), (time.time() - age,) * 2)
    (tmp_path / "root" / "a-1" / "out").write_text("damaged")
    assert cache.latest(tmp_path / "root", "a-") == [tmp_path / "root" / "a-2" / "out"]


def test_a_folder_that_can_only_be_read_is_used(tmp_path: Path, header: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built = cache.obtain(tmp_path / "root", "key", maker(header, []))

    def refuse(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "utime", refuse)
    monkeypatch.setattr(os, "open", refuse)
    assert cache.held(tmp_path / "root" / "key") == built


@pytest.mark.parametrize("ahead", [0, 60])  # of the clock of whoever keeps the files
def test_a_source_that_changes_while_it_is_compiled_is_compiled_again(
    tmp_path: Path, header: Path, monkeypatch: pytest.MonkeyPatch, ahead: float
) -> None:
    clock = time.time
    monkeypatch.setattr(time, "time", lambda: clock() + ahead)

    def make(folder: Path) -> cache.Made:
        (folder / "out").write_text(header.read_text())
        if header.read_text() == "1":
            time.sleep(0.02)
            header.write_text("2")
        return cache.Made(["out"], [str(header)])

    assert [cache.obtain(tmp_path, "key", make)[0].read_text() for _ in range(2)] == ["1", "2"]


def test_what_would_come_first_if_it_were_there_makes_a_build_stale(tmp_path: Path) -> None:
    made: list[Path] = []
    make = maker(tmp_path / "not there", made)
    for _ in range(2):
        cache.obtain(tmp_path, "key", make)
    assert len(made) == 1
    (tmp_path / "not there").write_text("")
    cache.obtain(tmp_path, "key", make)
    assert len(made) == 2


def keys(count: int) -> list[str]:
    return [cache.digest([str(k)]) + ("-" + cache.digest(["by"])) * (k % 2) for k in range(count)]


def aged(path: Path) -> None:
    old = time.time() - cache.UNUSED - 10
    os.utime(path, (old, old))


def test_what_is_not_used_for_long_is_removed(tmp_path: Path, header: Path) -> None:
    names = keys(cache.KEPT + 5)
    for name in names:
        cache.obtain(tmp_path, name, maker(header, []))
    assert {p.name for p in tmp_path.iterdir() if p.is_dir()} == set(names)  # all have been used just now
    for name in names:
        aged(tmp_path / name / cache.MANIFEST)
    (tmp_path / f".{names[1]}.abc.tmp").mkdir()
    (tmp_path / f".{cache.digest(['failed'])}.lock").touch()
    (tmp_path / ".mine.lock").touch()
    (tmp_path / "mine").mkdir()
    cache.obtain(tmp_path, names[0], maker(header, []))  # used
    cache.obtain(tmp_path, cache.digest(["new"]), maker(header, []))
    kept = {names[0], cache.digest(["new"]), *names[-cache.KEPT + 2 :]}
    assert {p.name for p in tmp_path.iterdir() if p.is_dir()} == {*kept, "mine"}
    assert {p.name for p in tmp_path.glob(".*")} == {f".{name}.lock" for name in (*kept, "mine")}


def test_what_another_is_at_is_not_removed(tmp_path: Path, header: Path) -> None:
    names = keys(cache.KEPT + 1)
    for name in names:
        cache.obtain(tmp_path, name, maker(header, []))
    for name in names:
        aged(tmp_path / name / cache.MANIFEST)
    with ExitStack() as locks:
        for name in names:
            locks.enter_context(cache._locked(tmp_path / f".{name}.lock"))
        cache.obtain(tmp_path, cache.digest(["new"]), maker(header, []))
        assert all((tmp_path / name).is_dir() for name in names)
    cache.obtain(tmp_path, cache.digest(["newer"]), maker(header, []))
    assert len([p for p in tmp_path.iterdir() if p.is_dir()]) == cache.KEPT


PRUNING = """
import random, sys, time
from pathlib import Path
from gradwright.base.compiler import cache

cache.KEPT, cache.UNUSED = 2, 0.0  # removed at once: the hardest for others
def make(folder):
    (folder / "out").write_text("built")
    return cache.Made(["out"], [])

random.seed(sys.argv[2])
end = time.monotonic() + 1
while time.monotonic() < end:
    cache.obtain(Path(sys.argv[1]), cache.digest([str(random.randrange(5))]), make)
"""


def test_processes_that_build_and_remove_do_not_disturb_each_other(tmp_path: Path) -> None:
    crowd = [subprocess.Popen([sys.executable, "-c", PRUNING, str(tmp_path), str(k)], stderr=subprocess.PIPE, text=True)
             for k in range(4)]  # fmt: skip
    assert [child.communicate()[1] for child in crowd] == [""] * 4
    for key in keys(5):
        files = cache.held(tmp_path / key)
        assert not (tmp_path / key).exists() or files[0].read_text() == "built"
    assert not list(tmp_path.glob(".*.tmp"))


def test_without_a_home_a_folder_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GRADWRIGHT_EXTENSIONS_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    with pytest.raises(RuntimeError, match=r"no home .* in GRADWRIGHT_EXTENSIONS_DIR"):
        get_default_build_root()


def test_where_builds_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("GRADWRIGHT_EXTENSIONS_DIR", str(tmp_path / "here"))
    assert get_default_build_root() == str(tmp_path / "here")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GRADWRIGHT_EXTENSIONS_DIR", "~/here")
    assert get_default_build_root() == str(tmp_path / "home" / "here")
    monkeypatch.delenv("GRADWRIGHT_EXTENSIONS_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert get_default_build_root() == str(tmp_path / "gradwright_extensions")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert get_default_build_root() == str(tmp_path / "home" / ".cache" / "gradwright_extensions")


def test_different_things_have_different_names() -> None:
    assert len({cache.digest(parts) for parts in (["ab"], ["a", "b"], ["", "ab"], [b"ab", ""])}) == 4
