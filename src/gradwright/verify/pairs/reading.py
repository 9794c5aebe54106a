"""What a function of a pair returned, as an array; and a derivative as a matrix of one layout.

All matrices have a row for each entry of x and a column for each entry of the value: a gradient is one column, and the
Jacobian of other books is their transpose.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


def dense(returned: Any) -> Any:
    """Numbers of whatever form as a new array: lists, sparse matrices, LinearOperators, what NumPy can read.

    Raises TypeError or ValueError for what holds no numbers.
    """
    if hasattr(returned, "toarray"):
        returned = returned.toarray()
    elif hasattr(returned, "matmat") and hasattr(returned, "rmatvec"):
        returned = returned.matmat(np.eye(returned.shape[1]))
    elif hasattr(returned, "detach"):
        returned = returned.detach().cpu()
    array = np.array(returned)
    if array.dtype.kind not in "fciub":
        array = array.astype(np.complex128 if array.dtype.kind == "O" and _is_complex(array) else np.float64)
    return array


def _is_complex(array: Any) -> bool:
    return any(isinstance(v, complex) for v in array.reshape(-1))


class Read(NamedTuple):
    """A derivative: its matrix; or None, with what is wrong with its shape.

    Attributes:
        matrix: a row for each entry of x, a column for each of the value.
        shape: what is wrong with the shape, ``""`` if nothing is. turned: whether it is that of the transpose.
        dtype: as it was returned.
    """

    matrix: Any
    shape: str
    turned: bool
    dtype: Any


def read(returned: Any, x: tuple[int, ...], out: tuple[int, ...], transposed: bool = False) -> Read:
    """The derivative of a value of shape ``out`` by an x of this shape, with axes of length 1 where they do no harm."""
    array = dense(returned)
    n, m = int(np.prod(x)), int(np.prod(out))
    expected = (*x, *out) if transposed else (*out, *x)
    if array.size != n * m:
        return Read(None, f"it returns shape {array.shape} where {_told(expected)} belongs", False, array.dtype)
    alike = _core(array.shape) == _core(expected)
    turned = not alike and _core(array.shape) == _core((*out, *x) if transposed else (*x, *out))
    wide = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    matrix = wide.reshape(n, m) if transposed != turned else wide.reshape(m, n).T
    wrong = not alike or (out == () and array.shape != x and n > 1)
    shape = f"it returns shape {array.shape} where {_told(expected)} belongs" if wrong else ""
    return Read(matrix, shape, turned, array.dtype)


def _core(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(k for k in shape if k != 1)


def _told(shape: tuple[int, ...]) -> str:
    return f"({', '.join(map(str, shape))}{',' if len(shape) == 1 else ''})"


def single(array: Any) -> bool:
    """Whether every number is one of float32, and not all have few digits: it was computed so."""
    entries = np.real(array[np.isfinite(array)])
    with np.errstate(all="ignore"):
        short = (entries == entries.astype(np.float32)).all()
        return bool(entries.size and short and (np.frexp(entries)[0] * 4096 % 1).any())
