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


CALLS = []


class Other:
    """A C library that is not glibc, though it may have ``mallopt``."""

    mallopt = staticmethod(lambda parameter, value: CALLS.append((parameter, value)) or 1)


class Glibc(Other):
    gnu_get_libc_version = None


class Refuses(Glibc):
    mallopt = staticmethod(lambda parameter, value: 0)


def broken(name):
    raise OSError("no C library")


@pytest.mark.parametrize(("setting", "library", "done"), [
    ("1", lambda name: Glibc(), True), ("0", lambda name: Glibc(), False), ("1", lambda name: Refuses(), False),
    ("1", lambda name: Other(), False), ("1", lambda name: object(), False), ("1", broken, False),
], ids=["glibc", "switched off", "refuses", "another library", "none such", "broken"])  # fmt: skip
def test_both_thresholds_are_raised_or_none(monkeypatch, setting, library, done):
    monkeypatch.setenv("GRADWRIGHT_MALLOC", setting)
    monkeypatch.setattr(ctypes, "CDLL", library)
    CALLS.clear()
    assert memory.keep_large_buffers() is done
    assert sorted(CALLS) == [(-3, 32 << 20), (-1, 256 << 20)] * done


@pytest.mark.parametrize("setting", ["0", "1", ""])
def test_the_package_works_either_way(setting):
    code = "import gradwright as g; x = g.ones(9, requires_grad=True); (x * x).sum().backward(); print(x.grad.sum())"
    environment = os.environ | {"GRADWRIGHT_MALLOC": setting}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "tensor(18.)\n"), done.stderr
