"""Where builds are kept: by what they are built of, whole or not at all, one builder at a time.

An entry is a folder ``<build directory>/<key>``, made beside its place and renamed into it when it is complete. With it
lies ``manifest.json``, which says what each file must contain: a damaged one is noticed and built again. Who builds
holds the lock of the entry, which the system releases if the process dies; what that has left is removed by the next.
A new entry is the occasion to remove old ones that are not used any more.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

try:
    import fcntl
except ImportError:  # no extensions are built there: see `compiler.find_compiler`
    fcntl = None  # type: ignore[assignment]

MANIFEST = "manifest.json"
KEPT, UNUSED = 10, 24 * 3600
"""An entry is removed if so many others have been used since, and it has not been for so many seconds."""
_LOCK = re.compile(r"\.[0-9a-f]{20}(-[0-9a-f]{20})?\.lock")
_UNWRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR, errno.EEXIST,
               errno.ENOENT, errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS)  # fmt: skip


def get_default_build_root() -> str:
    """The folder where `load` and `load_inline` keep builds: one folder for each extension, and that of the runtime.

    ``GRADWRIGHT_EXTENSIONS_DIR``, or else ``gradwright_extensions`` in the user's cache folder (``XDG_CACHE_HOME``, or
    ``~/.cache``). It may be removed at any time: what is missing is built again. RuntimeError if there is no home.
    """
    named = os.environ.get("GRADWRIGHT_EXTENSIONS_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.join("~", ".cache")
    root = os.path.expanduser(named or os.path.join(cache, "gradwright_extensions"))
    if root.startswith("~"):
        raise RuntimeError("this user has no home for a cache: name a folder for builds in GRADWRIGHT_EXTENSIONS_DIR")
    return os.path.realpath(root)


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
        sources: the paths of those that went into them; and of such as are not there, but would have gone into them if
            they had been. If one has changed, the build is stale.
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
    if not all(fingerprint(path) == value for path, value in expected.items()):
        return []
    with suppress(OSError):  # a folder that is only to be read
        os.utime(entry / MANIFEST)  # it is used now: see `_prune`
    return [entry / name for name in files]


def latest(directory: Path, start: str) -> list[Path]:
    """The files of the entry used last, of those that are whole and whose keys start so; none if there is none."""
    entries = sorted(directory.glob(f"{start}*"), key=lambda entry: _changed(entry / MANIFEST), reverse=True)
    return next(filter(None, map(held, entries)), [])


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
        with _locked(_lock(entry), waiting):
            files = held(entry) or _filled(entry, make)
    except OSError as e:
        place = Path(str(e.filename or directory))
        if e.errno not in _UNWRITABLE or not (place.is_relative_to(directory) or directory.is_relative_to(place)):
            raise
        ours = str(directory).startswith(get_default_build_root())
        where = "in GRADWRIGHT_EXTENSIONS_DIR" if ours else "as build_directory"
        raise RuntimeError(
            f"extensions cannot be kept in {directory} ({e.strerror}): name another folder {where}"
        ) from e
    _prune(directory)
    return files


def _filled(entry: Path, make: Callable[[Path], Made]) -> list[Path]:
    _remove_unfinished(entry)
    new = _aside(entry)
    new.mkdir()
    try:
        begin = min(time.time(), _changed(new))  # by the clock of whoever keeps the files
        made = make(new)
        manifest = {"files": {name: fingerprint(new / name) for name in made.files},
                    "sources": {path: _as_built(path, begin) for path in made.sources}}  # fmt: skip
        (new / MANIFEST).write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        if entry.exists():
            entry.rename(_aside(entry))
        new.rename(entry)
        _remove_unfinished(entry)
        return [entry / name for name in made.files]
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _aside(entry: Path) -> Path:
    """A name for a folder that is not the entry yet, or no longer: on NFS, files in use cannot be removed."""
    return entry.with_name(f".{entry.name}.{uuid.uuid4().hex}.tmp")


def _as_built(path: str, begin: float) -> str | None:
    """The fingerprint of a source, unless it has changed while it was compiled, and nobody knows which was read."""
    return fingerprint(path) if _changed(Path(path)) <= begin else "changed"


def _changed(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _remove_unfinished(entry: Path) -> None:
    """Remove what builders have left that were killed. The lock of the entry is held."""
    for stale in entry.parent.glob(f".{entry.name}.*.tmp"):
        shutil.rmtree(stale, ignore_errors=True)


def _prune(directory: Path) -> None:
    """Remove the entries that have not been used for `UNUSED` seconds, but for the last `KEPT` that have.

    So nothing goes that a process is about to load; what it has loaded stays with it anyway.
    """
    entries = [directory / lock.name[1:-5] for lock in directory.glob(".*.lock") if _LOCK.fullmatch(lock.name)]
    used = {entry: _changed(entry / MANIFEST) for entry in entries}  # 0 if it failed
    for entry in sorted(entries, key=used.__getitem__, reverse=True)[KEPT:]:
        if time.time() - used[entry] < UNUSED:
            continue
        with suppress(OSError), _locked(_lock(entry)):  # OSError: others are at it, or it is theirs
            if _changed(entry / MANIFEST) > used[entry]:
                continue
            if entry.exists():
                entry.rename(_aside(entry))
            _remove_unfinished(entry)
            _lock(entry).unlink()


def _lock(entry: Path) -> Path:
    return entry.with_name(f".{entry.name}.lock")


@contextmanager
def _locked(path: Path, waiting: Callable[[], Any] | None = None) -> Iterator[None]:
    """Hold a lock that others, of whatever process or thread, wait for; BlockingIOError for those who do not wait."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if waiting is None:
                    raise
                waiting()
                fcntl.flock(handle, fcntl.LOCK_EX)
            if _is(path, handle):  # else who held it has removed it
                yield
                return
        finally:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_UN)  # a child forked meanwhile may hold the file open
            os.close(handle)


def _is(path: Path, handle: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(handle))
    except FileNotFoundError:
        return False
