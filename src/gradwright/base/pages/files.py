"""Texts written to files: all of one, or what was there before."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path


def write(text: str, path: str | os.PathLike[str]) -> Path:
    """Write a text as UTF-8; what was at ``path`` before stays there until all of it is written.

    Returns:
        The path.

    Raises:
        OSError: the file cannot be written; it names this path, and no temporary one.
    """
    target = Path(path)
    try:
        if target.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text.encode())
            mode = target.stat().st_mode if target.exists() else 0o666 & ~_umask()
            os.chmod(temporary, mode & 0o777)
            os.replace(temporary, target)
        except OSError:
            os.unlink(temporary)
            raise
    except OSError as e:
        raise OSError(e.errno, e.strerror, str(target)) from None
    return target


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
