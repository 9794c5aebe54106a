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
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

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


class Made(NamedTuple):
    """What a build consists of, and what it was made of.

    Attributes:
        files: the names of the files that are wanted.
        sources: the paths of those that went into them. If one has changed, the build is stale.
    """

    files: Sequence[str]
    sources: Sequence[str] = ()


def held(entry: Path) -> list[Path]:
    """The files of an entry; none unless they are as they were built, and what they were built of is as it was."""
    try:
        manifest = json.loads((entry / MANIFEST).read_bytes())
        files, sources = dict(manifest["files"]), dict(manifest["sources"])
    except (OSError, ValueError, TypeError, KeyError):
        return []
    expected = {str(entry / name): value for name, value in files.items()} | sources
    whole = all(fingerprint(path) == value for path, value in expected.items())
    return [entry / name for name in files] if whole else []


def obtain(directory: Path, key: str, make: Callable[[Path], Made], waiting: Callable[[], Any] = lambda: None,
           ) -> list[Path]:  # fmt: skip
    """The files of a key's entry. Unless it is there and whole, ``make`` fills a new folder for it.

    ``waiting`` is called if another process, or thread, is at it. Raises what ``make`` raises; then nothing is left.
    """
    entry = directory / key
    files = held(entry)
    if files:
        return files
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _locked(directory / f".{key}.lock", waiting):
            return held(entry) or _filled(entry, make)
    except PermissionError as e:
        raise RuntimeError(f"extensions cannot be kept in {directory} ({e.strerror}: {e.filename}): name a folder that "
                           "can be written as build_directory, or in GRADWRIGHT_EXTENSIONS_DIR") from e  # fmt: skip


def _filled(entry: Path, make: Callable[[Path], Made]) -> list[Path]:
    for stale in entry.parent.glob(f".{entry.name}.*.tmp"):  # of a process that was killed
        shutil.rmtree(stale, ignore_errors=True)
    new = Path(tempfile.mkdtemp(prefix=f".{entry.name}.", suffix=".tmp", dir=entry.parent))
    try:
        made = make(new)
        manifest = {"files": {name: fingerprint(new / name) for name in made.files},
                    "sources": {path: fingerprint(path) for path in made.sources}}  # fmt: skip
        (new / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        shutil.rmtree(entry, ignore_errors=True)
        new.rename(entry)
        return [entry / name for name in made.files]
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
