"""Making tensors: from data, filled, evenly spaced."""

from gradwright.face.creation.data import as_tensor, asarray, from_numpy, tensor
from gradwright.face.creation.data import finish as finish
from gradwright.face.creation.data import new as new
from gradwright.face.creation.data import to as to
from gradwright.face.creation.data import warn_of_copy as warn_of_copy
from gradwright.face.creation.filled import alike as alike
from gradwright.face.creation.filled import (
    arange,
    empty,
    empty_like,
    empty_permuted,
    empty_strided,
    eye,
    full,
    full_like,
    linspace,
    logspace,
    ones,
    ones_like,
    scalar_tensor,
    zeros,
    zeros_like,
)
from gradwright.face.creation.filled import size_of as size_of

__all__ = [
    "arange", "as_tensor", "asarray", "empty", "empty_like", "empty_permuted", "empty_strided", "eye", "from_numpy",
    "full", "full_like", "linspace", "logspace", "ones", "ones_like", "scalar_tensor", "tensor", "zeros",
    "zeros_like",
]  # fmt: skip
