"""``torch.save``: a file that PyTorch reads."""

from __future__ import annotations

import os
from typing import IO, Any

from gradwright.serialization import public
from gradwright.serialization.checkpoint.writing import Content


def save(obj: object, f: str | bytes | os.PathLike[Any] | IO[bytes], pickle_module: Any = None,
         pickle_protocol: int = 2, _use_new_zipfile_serialization: bool = True) -> None:  # fmt: skip
    """Save nested data as PyTorch does, in a file that it reads with ``weights_only=True``; safetensors by that suffix.

    Args:
        obj: dicts, lists, tuples and sets of tensors, parameters, numbers, texts, bytes, True, False, None, Sizes,
            dtypes and devices.
        f: a path, or a file open for writing bytes. A path that ends in ``.safetensors`` is written by
            `gradwright.save`.
        pickle_module, pickle_protocol, _use_new_zipfile_serialization: accepted; they make no difference.

    Tensors that share memory share it in the file, and have the strides that they have here. A path is written
    atomically.

    Raises TypeError for anything else (a module, a function, an object of a class of yours), naming its place.
    """
    path = os.fsdecode(f) if isinstance(f, (str, bytes, os.PathLike)) else ""
    root, suffix = os.path.splitext(os.path.basename(path))
    if suffix == ".safetensors":
        public.save(obj, f)
        return
    content = Content(obj)
    with public.written_to(f) as file:
        content.to_file(file, root or "archive")
