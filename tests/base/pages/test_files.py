"""Files are written whole or not at all."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from gradwright.base.pages.files import write


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path: Path, monkeypatch: Any) -> None:
    path = tmp_path / "page.html"
    path.write_text("before")
    path.chmod(0o640)

    def full(*_: Any) -> None:
        assert path.read_text() == "before"
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as m:
        m.setattr(os, "replace", full)
        with pytest.raises(OSError, match="No space left on device"):
            write("after", path)
    assert path.read_text() == "before"
    assert os.listdir(tmp_path) == ["page.html"]
    assert write("after é\n", str(path)) == path
    assert path.read_bytes() == b"after \xc3\xa9\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("kind", ["missing folder", "folder", "file as folder"])
def test_a_path_that_cannot_be_written_is_named(tmp_path: Path, kind: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    path, error = {
        "missing folder": ("none/page.html", FileNotFoundError),
        "folder": ("folder", IsADirectoryError),
        "file as folder": ("file/page.html", NotADirectoryError),
    }[kind]
    with pytest.raises(error) as caught:
        write("", tmp_path / path)
    assert caught.value.filename == str(tmp_path / path)
    assert sorted(os.listdir(tmp_path)) == ["file", "folder"]


def test_a_file_can_be_read_by_whom_the_umask_allows(tmp_path: Path) -> None:
    now = os.umask(0)
    os.umask(now)
    assert stat.S_IMODE(write("", tmp_path / "file").stat().st_mode) == 0o666 & ~now
