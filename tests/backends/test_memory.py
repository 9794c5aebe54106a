"""Keeping large buffers: done once on import, only where it can be, and never in the way."""

import ctypes
import os
import platform
import subprocess
import sys

import pytest

from gradwright.backends import memory

GLIBC = platform.libc_ver()[0] == "glibc"


@pytest.mark.skipif(not GLIBC, reason="the C library is not glibc")
def test_glibc_accepts_it(monkeypatch):
    monkeypatch.delenv("GRADWRIGHT_MALLOC", raising=False)
    assert memory.keep_large_buffers() is True


def test_it_can_be_switched_off(monkeypatch):
    monkeypatch.setenv("GRADWRIGHT_MALLOC", "0")
    monkeypatch.setattr(ctypes, "CDLL", lambda name: pytest.fail("the allocator was touched"))
    assert memory.keep_large_buffers() is False


class Other:
    """A C library that is not glibc, though it may have ``mallopt``."""

    mallopt = staticmethod(lambda parameter, value: pytest.fail("the allocator was touched"))


def broken(name):
    raise OSError("no C library")


@pytest.mark.parametrize("library", [lambda name: Other(), lambda name: object(), broken])
def test_elsewhere_nothing_is_done(monkeypatch, library):
    monkeypatch.delenv("GRADWRIGHT_MALLOC", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", library)
    assert memory.keep_large_buffers() is False


def test_a_refusal_is_reported(monkeypatch):
    class Refuses:
        gnu_get_libc_version = None
        mallopt = staticmethod(lambda parameter, value: 0)

    monkeypatch.delenv("GRADWRIGHT_MALLOC", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Refuses())
    assert memory.keep_large_buffers() is False


def test_both_thresholds_are_raised(monkeypatch):
    calls = []

    class Glibc:
        gnu_get_libc_version = None
        mallopt = staticmethod(lambda parameter, value: calls.append((parameter, value)) or 1)

    monkeypatch.delenv("GRADWRIGHT_MALLOC", raising=False)
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Glibc())
    assert memory.keep_large_buffers() is True
    assert sorted(calls) == [(-3, 32 << 20), (-1, 256 << 20)]


@pytest.mark.parametrize("setting", ["0", "1", ""])
def test_the_package_works_either_way(setting):
    code = "import gradwright as g; x = g.ones(9, requires_grad=True); (x * x).sum().backward(); print(x.grad.sum())"
    environment = os.environ | {"GRADWRIGHT_MALLOC": setting}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "tensor(18.)\n"), done.stderr
