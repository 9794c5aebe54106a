"""A slow build is told of, a quick one is not."""

import io
import time

import pytest

from gradwright.base.compiler import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "said"), [
    (io.StringIO(), "gradwright: building it ...\n"),
    (Terminal(), "\r\x1b[Kgradwright: building it ... 0 s"),
])  # fmt: skip
def test_what_is_told(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO, said: str) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.01)
    monkeypatch.setattr("sys.stderr", stream)
    with progress.Progress("looking for it") as telling:
        telling.what = "building it"
        time.sleep(0.4)
    assert stream.getvalue().startswith(said)
    assert not stream.isatty() or stream.getvalue().endswith("\r\x1b[K")


def test_a_quick_one_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.Progress("building it"):
        time.sleep(0.01)
    assert capsys.readouterr().err == ""
