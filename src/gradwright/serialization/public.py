"""`save` and `load`. A file takes the place of an old one only when it is complete."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import IO, TYPE_CHECKING, Any

from gradwright.backends.devices import device, place
from gradwright.base.errors import FileError
from gradwright.engine.base import wrap
from gradwright.face.methods.subclasses import RESERVED
from gradwright.serialization.checkpoint import reading as checkpoint
from gradwright.serialization.container import json_of, read, write
from gradwright.serialization.memory import restore
from gradwright.serialization.plain import Writer, data_of

if TYPE_CHECKING:
    from gradwright.face.typing import DeviceLike


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


def written_to(f: Any) -> AbstractContextManager[IO[bytes]]:
    """The file that `save` writes to where it was given ``f``: the new one of a path, or ``f``, which is open."""
    if isinstance(f, (str, bytes, os.PathLike)):
        return replacing(f)
    if hasattr(f, "write"):
        return nullcontext(f)
    raise AttributeError("expected 'f' to be string, path, or a file-like object with a 'write' attribute")


_VERSION = 1


def save(obj: object, f: str | bytes | os.PathLike[Any] | IO[bytes]) -> None:
    """Save nested data in a safetensors file, for `load`.

    Args:
        obj: dicts (OrderedDict and Counter too), lists, tuples and sets, nested up to 100 deep, of tensors, parameters,
            NumPy arrays and numbers, texts, bytes, numbers of any size, True, False, None, Sizes, dtypes and devices:
            the ``state_dict()`` of a module, of an optimiser, of a scheduler, or all of them in one dict.
        f: a path, or a file open for writing bytes.

    A path is written atomically: the data go into a file beside it, to the disk, and that is renamed. An exception or a
    crash while saving leaves the old file as it was.

    Tensors that share memory are stored once and share it again when loaded; the same tensor in two places is one
    tensor. Apart from that they come back contiguous, as leaves, with ``requires_grad`` and what was set on them, but
    without ``.grad``. A list or dict in two places is two of them when loaded.

    Each tensor lies in the file under its path in ``obj``: a plain state_dict can be read with
    ``safetensors.torch.load_file``, which finds the same keys (of tensors that share memory, the first one; of
    complex128, which the format has not, pairs of float64). Checksums (CRC-32) of the header and of the data, about
    0.3 ms per MB when saving and again when loading, find every flipped bit that would change what is loaded.

    Raises TypeError for anything else (a function, a module, an object of a class of yours), naming its place in
    ``obj``; ValueError for data that contain themselves.

    >>> import io
    >>> file = io.BytesIO()
    >>> gw.save({"weight": gw.ones(2), "steps": (1, 10)}, file)
    >>> _ = file.seek(0)
    >>> gw.load(file)
    {'weight': tensor([1., 1.]), 'steps': (1, 10)}
    """
    writer = Writer()
    node = writer.node(obj)
    arrays, records = writer.store.lay_out()
    structure = json.dumps({"version": _VERSION, "data": node, "tensors": records}, separators=(",", ":"))
    with written_to(f) as file:
        write(file, arrays, structure)


def load(f: str | bytes | os.PathLike[Any] | IO[bytes], map_location: DeviceLike | Callable[..., Any] | Mapping[str,
         str] = None, *,
         weights_only: bool | None = None, mmap: bool | None = None) -> Any:  # fmt: skip
    """The data that `save` or PyTorch saved, or a dict of the tensors in a safetensors file of another program.

    A ``.pt`` file of PyTorch's is a pickle. A closed subset of it is read, tensors, containers, numbers and texts, by a
    reader that runs nothing of the file; a name outside that subset is refused unless `add_safe_globals` has it.

    Args:
        f: a path, or a file open for reading bytes, with ``read``, ``readinto``, ``seek`` and ``tell``.
        map_location: the device the tensors shall be on, if not the CPU. A function or dict is accepted; it has no
            choice.
        weights_only: False reads NumPy's arrays and numbers in PyTorch's files, too. Code is not run even then.
        mmap: leave the tensors of a file, given by its path, on the disk until they are used. They may be written to,
            which changes memory and not the file. Damage to the data is then not looked for.

    Raises FileError, a RuntimeError, for a file that is damaged, cut short, or of another kind, UnsafeGlobalError (a
    FileError and a ``pickle.UnpicklingError``) for one that names a class or function outside the subset.

    >>> import io
    >>> file = io.BytesIO()
    >>> gw.save({"x": gw.tensor([1.0, 2.0])}, file)
    >>> _ = file.seek(0)
    >>> gw.load(file)
    {'x': tensor([1., 2.])}
    """
    to = place(map_location if isinstance(map_location, (str, device)) else None)
    if isinstance(f, (str, bytes, os.PathLike)):
        with open(f, "rb") as file:
            return _loaded(file, os.fsdecode(f), bool(mmap), to, weights_only)
    if mmap:
        raise ValueError("f must be a string or path to use the mmap argument: there is nothing to map in a stream")
    if not all(hasattr(f, name) for name in ("read", "readinto", "seek", "tell")):
        raise AttributeError("expected 'f' to be string, path, or a file open for reading bytes that is seekable: with "
                             "the attributes 'read', 'readinto', 'seek' and 'tell'")  # fmt: skip
    return _loaded(f, str(getattr(f, "name", type(f).__name__)), False, to, weights_only)


def _loaded(file: Any, name: str, mapped: bool, to: device, weights_only: bool | None) -> Any:
    try:
        first = file.read(8)
        file.seek(-len(first), os.SEEK_CUR)
        if checkpoint.is_checkpoint(first):
            return checkpoint.load(file, mapped, to, weights_only is False)
        arrays, structure = read(file, mapped)
        if structure is None:
            return {key: wrap(to.hold(array)) for key, array in arrays.items()}
        return _data(structure, arrays, to)
    except FileError as e:
        raise type(e)(f"load(): cannot load {name!r}: {e}") from None


def _data(structure: str, arrays: dict[str, Any], to: device) -> Any:
    try:
        content = json_of(structure)
        version = content["version"]
        if version == _VERSION:
            tensors = restore(content["tensors"], arrays, to)
            for record, tensor in zip(content["tensors"], tensors, strict=True):
                if "attributes" in record:
                    its = data_of(record["attributes"], tensors)
                    vars(tensor).update({name: value for name, value in its.items() if name not in RESERVED})
            return data_of(content["data"], tensors)
    except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as e:
        raise FileError(f"its structure is not one that save() writes: {type(e).__name__}: {e}") from None
    raise FileError(f"it is of version {version!r:.20} of the format; this gradwright knows version {_VERSION}")


def get_unsafe_globals_in_checkpoint(f: str | bytes | os.PathLike[Any] | IO[bytes]) -> list[str]:
    """The classes and functions that a PyTorch file names and `load` refuses, as texts: what `add_safe_globals` wants.

    Nothing of the file is run. Raises FileError for a file that is none of PyTorch's since 1.6.
    """
    with open(f, "rb") if isinstance(f, (str, bytes, os.PathLike)) else nullcontext(f) as file:
        return checkpoint.unsafe_globals(file)
