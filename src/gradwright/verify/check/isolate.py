"""Checking in processes of their own, under a time limit, so that nothing a subject does stops the rest."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gradwright
from gradwright.face.interop.ipython import counter
from gradwright.verify.check.discover import files_in
from gradwright.verify.check.records import Checked, Finding, Outcome, Report, checked_from

LIMIT = 60.0
"""Seconds that importing a target may take, and each subject."""
START = 60.0
"""Seconds that a process has for itself to start."""


class Gone(Exception):  # noqa: N818 - it is no error here
    """A process that ended or was ended before it answered; says how."""


class Worker:
    """A process that has imported a target.

    Raises Gone, while it is made or asked, if the process ends or takes longer than it may.
    """

    def __init__(self, target: str, limit: float) -> None:
        self.errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - lives as long as the process
        command = [sys.executable, "-m", "gradwright.verify.check.worker", target]
        one = {"OMP_NUM_THREADS": "1", **os.environ}  # several threads each would only be in each other's way
        self.process = subprocess.Popen(command, env=one, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.errors, text=True)
        self.limit, self.doing = limit, "it"
        try:
            self._read(START)
            self.found = self._read(limit)
        except Gone:
            self.close()
            raise

    def ask(self, name: str, fast: bool, compiled: bool = False) -> Checked:
        """What it finds out about the subject of this name."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"name": name, "fast": fast, "compiled": compiled}) + "\n")
        self.process.stdin.flush()
        while isinstance(answer := self._read(self.limit), str):
            self.doing = answer
        return checked_from(answer)

    def _read(self, limit: float) -> Any:
        assert self.process.stdout is not None
        late = threading.Event()

        def stop() -> None:
            late.set()
            self.process.kill()

        timer = threading.Timer(limit, stop)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        if line.endswith("\n"):
            return json.loads(line)
        status = self.process.wait()
        if late.is_set():
            raise Gone(f"does not return within {limit:g} s")
        if status < 0:
            raise Gone(f"crashes the interpreter ({signal.Signals(-status).name}){self._last()}")
        raise Gone(f"exits the interpreter (status {status}){self._last()}")

    def _last(self) -> str:
        self.errors.seek(0)
        lines = self.errors.read().strip().splitlines()
        return f": {lines[-1]}" if lines else ""

    def close(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.communicate()
        self.errors.close()


class Pool:
    """The workers of one target; a subject gets one that is idle, or a new one."""

    def __init__(self, target: str, limit: float) -> None:
        self.target, self.limit = target, limit
        self.idle: list[Worker] = []

    def close(self) -> None:
        """End all its processes."""
        for worker in self.idle:
            worker.close()

    def list(self) -> Any:
        """What there is to check; or why that cannot be known."""
        try:
            worker = Worker(self.target, self.limit)
        except Gone as gone:
            return {"problem": f"importing it {gone}"}
        self.idle.append(worker)
        return worker.found

    def check(self, subject: dict[str, Any], fast: bool, compiled: bool = False) -> Checked:
        """One subject."""
        start, worker = time.perf_counter(), None
        try:
            worker = self.idle.pop() if self.idle else Worker(self.target, self.limit)
            checked = worker.ask(subject["name"], fast, compiled)
        except (Gone, BrokenPipeError) as gone:
            what = "it"
            if worker is not None:
                worker.close()
                what = worker.doing
            cause = str(gone).partition(" (")[0] if what == "it" else what
            finding = Finding("runs", Outcome.ERROR, f"{what} {gone}", "", cause)
            return Checked(**subject, findings=(finding,), seconds=time.perf_counter() - start)
        self.idle.append(worker)
        return checked


def check(targets: str | Sequence[str], *, only: str | Sequence[str] = (), jobs: int = 2, limit: float = LIMIT,
          fast: bool = False, compiled: bool = False,
          progress: Callable[[int, int, Checked | None], None] | None = None) -> Report:
    """Check everything with a derivative in some files and modules.

    Args:
        targets: files, folders, modules, or a file or module with ``:Name``; one, or several in a list. Of a folder,
            those files are imported, one by one, that write a derivative.
        only: names to check, one or several; by default all.
        jobs: how many processes work at a time.
        limit: seconds that importing a target may take, and each subject.
        fast: whether to check each subject with its first sample only.
        compiled: whether to check, too, that each gives compiled what it gives eagerly.
        progress: called with how many subjects are done, of how many, and the last one; by default a notebook
            has a line that tells.
    """
    start, progress = time.perf_counter(), progress or counter("checking")
    targets, only = ([given] if isinstance(given, str) else given for given in (targets, only))
    found: list[tuple[str, dict[str, Any]]] = []
    problems: list[tuple[str, str]] = []
    pools: dict[str, Pool] = {}
    results: dict[int, Checked] = {}
    try:
        notes: dict[str, None] = {}
        for target in dict.fromkeys(_files(targets, problems)):
            pools[target] = Pool(target, limit)
            listed = pools[target].list()
            if "problem" in listed:
                problems.append((target, listed["problem"]))
            notes.update(dict.fromkeys(listed.get("notes", ())))
            found += [(target, s) for s in listed.get("subjects", ()) if not only or s["name"] in only]
        progress(0, len(found), None)

        def one(k: int) -> None:
            target, subject = found[k]
            results[k] = pools[target].check(subject, fast, compiled)
            progress(len(results), len(found), results[k])

        with ThreadPoolExecutor(max(1, jobs)) as threads:
            list(threads.map(one, range(len(found))))
    finally:
        for pool in pools.values():
            pool.close()
    unknown = [n for n in only if not any(s["name"] == n for _, s in found)]
    problems += [(n, "there is nothing of this name in what was given") for n in unknown]
    seconds = time.perf_counter() - start
    return Report(tuple(targets), tuple(results[k] for k in sorted(results)), tuple(problems), seconds,
                  gradwright.__version__, notes=tuple(notes))


def _files(targets: Sequence[str], problems: list[tuple[str, str]]) -> Iterator[str]:
    """The targets, with the files of a folder in its place."""
    for target in targets:
        if not Path(target).is_dir():
            yield target
        elif found := files_in(target):
            yield from found
        else:
            problems.append((target, "no Python file in this folder defines a Function, custom_op or Op"))
