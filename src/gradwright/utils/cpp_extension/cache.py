"""Where builds are kept: by what they are built of, whole or not at all, one builder at a time.

An entry is a folder ``<build directory>/<key>``, made beside its place and renamed into it when it is complete. With it
lies ``manifest.json``, which says what each file must contain: a damaged one is noticed and built again. Who builds
holds the lock of the entry, which the system releases if the process dies; what that has left is removed by the next.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # no extensions are built there: see `compiler.find_compiler`
    fcntl = None  # type: ignore[assignment]

MANIFEST = "manifest.json"


def get_default_build_root() -> str:
    """The folder where `load` and `load_inline` keep builds: one folder for each extension, and that of the runtime.

    ``GRADWRIGHT_EXTENSIONS_DIR``, or else ``gradwright_extensions`` in the user's cache folder (``XDG_CACHE_HOME``, or
    ``~/.cache``). It may be removed at any time: what is missing is built again.
    """
    named = os.environ.get("GRADWRIGHT_EXTENSIONS_DIR")
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.realpath(named or os.path.join(home, "gradwright_extensions"))


def digest(parts: Iterable[str | bytes]) -> str:
    """A name for what something is made of."""
    whole = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        whole.update(b"%d:" % len(data) + data)
    return whole.hexdigest()[:20]


def fingerprint(path: str | Path) -> str | None:
    """A name for what a file contains; None if it cannot be read."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()[:20]
    except OSError:
        return None


def holds(entry: Path) -> bool:
    """Whether an entry is there, its files are as they were built, and those that they were built of as they were."""
    try:
        manifest = json.loads((entry / MANIFEST).read_bytes())
        files, sources = dict(manifest["files"]), dict(manifest["sources"])
    except (OSError, ValueError, TypeError, KeyError):
        return False
    expected = {str(entry / name): value for name, value in files.items()} | sources
    return bool(files) and all(fingerprint(path) == value for path, value in expected.items())


def obtain(directory: Path, key: str, make: Callable[[Path], Iterable[str]], files: Iterable[str],
           waiting: Callable[[], Any] = lambda: None) -> Path:  # fmt: skip
    """The entry of a key. Unless it is there and whole, ``make`` fills a new folder with ``files`` for it.

    ``make`` returns the paths of what else they were made of: headers. If one has changed, they are made again.
    ``waiting`` is called if another process, or thread, is at it. Raises what ``make`` raises; then nothing is left.
    """
    entry = directory / key
    if holds(entry):
        return entry
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _locked(directory / f".{key}.lock", waiting):
            if not holds(entry):
                _fill(entry, make, files)
    except PermissionError as e:
        raise RuntimeError(f"extensions cannot be kept in {directory} ({e.strerror}: {e.filename}): name a folder that "
                           "can be written as build_directory, or in GRADWRIGHT_EXTENSIONS_DIR") from e  # fmt: skip
    return entry


def _fill(entry: Path, make: Callable[[Path], Iterable[str]], files: Iterable[str]) -> None:
    for stale in entry.parent.glob(f".{entry.name}.*.tmp"):  # of a process that was killed
        shutil.rmtree(stale, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix=f".{entry.name}.", suffix=".tmp", dir=entry.parent))
    try:
        sources = [*make(new)]
        manifest = {"files": {name: fingerprint(new / name) for name in files},
                    "sources": {path: fingerprint(path) for path in sources}}  # fmt: skip
        (new / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        shutil.rmtree(entry, ignore_errors=True)
        new.rename(entry)
    finally:
        shutil.rmtree(new, ignore_errors=True)


@contextmanager
def _locked(path: Path, waiting: Callable[[], Any]) -> Iterator[None]:
    """Hold a lock that others, of whatever process or thread, wait for."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            waiting()
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        fcntl.flock(handle, fcntl.LOCK_UN)  # a child forked meanwhile may hold the file open
        os.close(handle)
