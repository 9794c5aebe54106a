"""The matrix products of the BLAS that NumPy is linked with, to be called from C."""

from __future__ import annotations

import ctypes
from functools import cache
from importlib import import_module
from typing import NamedTuple

_FORMS = (
    ("scipy_cblas_{}64_", "long long"), ("cblas_{}64_", "long long"), ("scipy_cblas_{}", "int"), ("cblas_{}", "int"),
)  # fmt: skip
NAMES = ("sgemm", "dgemm", "sgemv", "dgemv")


class Blas(NamedTuple):
    """Where the functions of `NAMES` lie, and C's type of their sizes."""

    addresses: tuple[int, ...]
    size: str


@cache
def find_blas() -> Blas | None:
    """NumPy's own, threads and all; None where it cannot be found, and NumPy must be asked for products."""
    try:
        core = import_module("numpy._core._multiarray_umath").__file__
        library = ctypes.CDLL(core)  # its symbols, and those of what it is linked with
    except (ImportError, OSError):
        return None
    for form, size in _FORMS:
        try:
            found = [getattr(library, form.format(name)) for name in NAMES]
        except AttributeError:
            continue
        return Blas(tuple(ctypes.cast(f, ctypes.c_void_p).value or 0 for f in found), size)
    return None
