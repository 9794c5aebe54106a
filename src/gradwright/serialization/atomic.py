"""Writing a file that takes the place of an old one only when it is complete."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any


@contextmanager
def replacing(path: Any) -> Iterator[IO[bytes]]:
    """A file to write to that becomes ``path`` at the end of the ``with`` block, unless that raises.

    It is written beside it, as ``.NAME.xxxxxxxx.tmp``, to the disk, and renamed: whoever opens ``path``, at whatever
    moment and after whatever crash, finds the old file or the new one, whole. The temporary file is removed when the
    block raises; a process killed in the middle leaves it behind. An existing file's permissions are kept, a symbolic
    link is followed, and what is no regular file (a pipe, ``/dev/null``) is written to as it is.
    """
    target = os.path.realpath(os.fsdecode(path))
    if os.path.lexists(target) and not os.path.isfile(target):
        with open(target, "wb") as file:
            yield file
        return
    folder, name = os.path.split(target)
    if not os.path.isdir(folder):
        raise RuntimeError(f"Parent directory {folder} does not exist.")
    temporary = os.path.join(folder, f".{name[:100]}.{os.urandom(4).hex()}.tmp")
    try:
        with open(temporary, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if os.path.lexists(target):
            os.chmod(temporary, os.stat(target).st_mode & 0o7777)
        os.replace(temporary, target)
    finally:
        with suppress(FileNotFoundError):  # the usual case: it has its final name
            os.unlink(temporary)
