"""A file takes the old one's place when it is complete, and only then."""

from __future__ import annotations

import os
import stat

import pytest

from gradwright.serialization.atomic import replacing


def test_the_old_file_is_there_until_the_block_ends(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    with replacing(path) as file:
        file.write(b"new")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_exception_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "x"
    path.write_text("old")
    def write() -> None:
        with replacing(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        write()
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["x"]


def test_the_disk_has_the_data_before_the_name(tmp_path, monkeypatch):
    done = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (done.append(os.fstat(fd).st_size), fsync(fd)))
    monkeypatch.setattr(os, "replace", lambda *paths: (done.append("replace"), replace(*paths)))
    with replacing(tmp_path / "x") as file:
        file.write(b"abc")
    assert done == [3, "replace"]


@pytest.mark.skipif(os.name != "posix", reason="permissions are POSIX's")
def test_permissions_are_kept_or_as_the_umask_says(tmp_path):
    path = tmp_path / "x"
    mask = os.umask(0o027)
    try:
        for mode in (0o640, 0o604):
            with replacing(path) as file:
                file.write(b"x")
            assert stat.S_IMODE(path.stat().st_mode) == mode
            path.chmod(0o604)
    finally:
        os.umask(mask)


def test_links_are_followed(tmp_path):
    (tmp_path / "folder").mkdir()
    target = tmp_path / "folder" / "x"
    target.write_text("old")
    link = tmp_path / "link"
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_what_is_no_file_is_written_to(tmp_path):
    with replacing(os.devnull) as file:
        file.write(b"x")
    assert not os.path.isfile(os.devnull)
    with pytest.raises(IsADirectoryError), replacing(tmp_path):
        raise AssertionError
    with pytest.raises(RuntimeError, match=r"Parent .*nowhere does not exist"), replacing(tmp_path / "nowhere" / "x"):
        raise AssertionError


def test_a_name_as_long_as_can_be(tmp_path):
    path = tmp_path / ("n" * 255)
    with replacing(os.fsencode(path)) as file:
        file.write(b"x")
    assert path.read_bytes() == b"x"
