"""The system's compiler: which one, for what CPU, and what it says when it fails."""

from __future__ import annotations

import os
import platform
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Compiler(NamedTuple):
    """A compiler of C or C++.

    Attributes:
        command: the program, with arguments if ``CXX`` gives any.
        identity: changes when another program is installed in its place, or in that of one that it stands for.
    """

    command: tuple[str, ...]
    identity: str

    def run(self, arguments: Sequence[str]) -> str:
        """Run it and return its output, such as warnings. Raises CompileError with that if it fails."""
        # in English, whatever the user's locale: messages are read
        done = subprocess.run(
            [*self.command, *arguments], check=False, capture_output=True, text=True, errors="replace",
            env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
        said = (done.stderr + done.stdout).strip()
        if done.returncode:
            raise CompileError(said or f"it ended with status {done.returncode}")
        return said


class CompileError(RuntimeError):
    """What the compiler says of code that it does not compile."""


def find(variable: str, names: Sequence[str]) -> Compiler | None:
    """The compiler that an environment variable names, or else the first of ``names`` that there is; or None."""
    named = shlex.split(os.environ.get(variable, ""))
    for command in [named] if named else [[name] for name in names]:
        path = shutil.which(command[0])
        if path is not None:
            return Compiler((path, *command[1:]), " ".join(dict.fromkeys(_programs([path, *command]))))
    return None


def _programs(command: Sequence[str]) -> Iterator[str]:
    """The programs that a command names, each with what tells it from another in its place.

    Of ``ccache g++`` these are both, and of each name all on the PATH: a ``g++`` that is ccache's looks for the next.
    """
    for path in dict.fromkeys(os.path.join(folder, word) for word in command for folder in os.get_exec_path()):
        if os.path.isfile(path):
            status = os.stat(path)
            yield f"{os.path.realpath(path)} {status.st_size} {status.st_mtime_ns}"


@cache
def version(compiler: Compiler) -> tuple[str, str, tuple[int, ...]]:
    """The first line of what a compiler says of itself, its kind, and its version."""
    command = [*compiler.command, "--version"]
    said = subprocess.run(command, check=False, capture_output=True, text=True, errors="replace").stdout
    line = said.partition("\n")[0].strip()
    found = re.search(r"\b(\d+)\.(\d+)(?:\.(\d+))?", line)
    version = tuple(int(n) for n in found.groups(default="0")) if found else ()
    return line, "clang" if "clang" in said.lower() else "gcc", version


def native_flags() -> list[str]:
    """What makes code for the CPU of this machine, as JIT-built extensions are."""
    arm = platform.machine() in ("arm64", "aarch64")
    return ["-mcpu=native" if arm else "-march=native"]


@cache
def cpu() -> str:
    """The CPU of this machine, as far as code made for it is not for others."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    told = ("vendor_id", "cpu family", "model", "flags", "CPU implementer", "CPU part", "Features")
    return " ".join(line for line in lines if line.partition("\t")[0].partition(":")[0].strip() in told)
