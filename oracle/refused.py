"""Entries that do not work yet over the arrays of other libraries, and why. The tables must shrink."""

from __future__ import annotations

_PARTS = "reads memory outside the tensor, which arrays without views do not have"
_SPARSE = "sparse tensors are no Tensors; tests/face/sparse compares them"

REFUSED: dict[str, dict[str, str]] = {
    "array-api-strict": {
        "as_strided.partial_views": _PARTS,
        "bfloat16": "array-api-strict has no bfloat16",
        "grid_sampler_3d": "the generic scatter compares each place with each index: a terabyte for this sample",
        "half": "array-api-strict has no float16",
        "to_sparse": _SPARSE,
    },
    "jax": {
        "as_strided.partial_views": _PARTS,
        "to_sparse": _SPARSE,
    },
}
