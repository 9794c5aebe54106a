from __future__ import annotations

import ctypes
from typing import Any

import pytest

from gradwright.backends import memory


class Library:
    """A C library that has the named functions, which answer 1."""

    def __init__(self, *names: str) -> None:
        self.calls: list[tuple[int, int]] = []
        for name in names:
            setattr(self, name, lambda *a: self.calls.append(a) or 1)


def use(monkeypatch: pytest.MonkeyPatch, library: Any) -> None:
    monkeypatch.delenv("GRADWRIGHT_MALLOC", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)


def test_raises_both_thresholds_of_glibc(monkeypatch: pytest.MonkeyPatch) -> None:
    glibc = Library("gnu_get_libc_version", "mallopt")
    use(monkeypatch, glibc)
    assert memory.keep_large_buffers()
    assert glibc.calls == [(-3, 32 << 20), (-1, 256 << 20)]


def test_leaves_other_libraries_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    musl = Library("mallopt")
    use(monkeypatch, musl)
    assert not memory.keep_large_buffers()
    assert not musl.calls


def test_can_be_turned_off(monkeypatch: pytest.MonkeyPatch) -> None:
    glibc = Library("gnu_get_libc_version", "mallopt")
    use(monkeypatch, glibc)
    monkeypatch.setenv("GRADWRIGHT_MALLOC", "0")
    assert not memory.keep_large_buffers()
    assert not glibc.calls
