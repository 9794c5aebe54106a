"""What `make wild` fetches: source releases are unpacked, and what is missing or older than asked for is told."""

import os
import shutil
from pathlib import Path

import pytest

from wild import __main__ as wild
from wild import suites


@pytest.mark.parametrize("kind", ["gztar", "zip"])
def test_source_releases_are_unpacked(tmp_path, kind):
    held = tmp_path / "held/nflows-0.14"
    held.mkdir(parents=True)
    (held / "test_it.py").write_text("")
    archive = shutil.make_archive(str(tmp_path / "nflows-0.14"), kind, tmp_path / "held")
    suites.unpack(Path(archive), tmp_path / "sources")
    assert suites.source("nflows", tmp_path) == tmp_path / "sources/nflows-0.14"
    assert (tmp_path / "sources/nflows-0.14/test_it.py").exists()


def test_a_source_release_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no source release of nflows in .*sources: make .wild/.ready"):
        suites.compare("nflows", tmp_path, tmp_path)


def test_each_suite_is_of_a_release_that_is_fetched():
    asked = {line.split("==")[0] for line in (suites.HERE / "suites.txt").read_text().splitlines() if "==" in line}
    assert set(suites.SUITES) == asked


def test_packages_are_stale_until_all_is_installed(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(wild, "PACKAGES", tmp_path)
    monkeypatch.setattr("sys.argv", ["wild", "--tests"])
    with pytest.raises(SystemExit):
        wild.main()
    assert "is not installed: make .wild/.ready" in capsys.readouterr().err
    (tmp_path / ".ready").touch()
    assert not wild.stale()
    os.utime(tmp_path / ".ready", (0, 0))
    assert wild.stale()
