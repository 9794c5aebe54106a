"""Entries that may differ from PyTorch, and why. A test fails if one of them in fact agrees."""

from __future__ import annotations

DRAWN = "drawn numbers have no derivative and say so; PyTorch gives them a gradient of zeros"

CTC = "PyTorch's gradient supposes that a log_softmax comes before; ours is that of the loss"
CHUNKED = "PyTorch gives the chunked form a second gradient of zeros"
UNREAD = "the triangle that is not read has gradient 0; PyTorch gives it one"
AT_ZERO = "at 0, orders above 2: the second gradient is NaN in the input; in PyTorch it is in the cotangent"
SIGNS = "signs of singular vectors are arbitrary; tests/face/functions/algebra/test_lapack.py compares what they make"

SPARSE = "sparse tensors are no Tensors, and print differently; tests/face/sparse compares them"

KNOWN: dict[str, str] = {
    "as_strided.partial_views": "it reads memory outside the tensor, which is lost on the way from PyTorch to NumPy",
    "as_strided_scatter": "PyTorch hands the entries that are overwritten a gradient, and those that stay none",
    "bernoulli": DRAWN,
    "max_pool2d_with_indices_backward": "PyTorch's result requires grad for the input's sake, whose gradient is 0",
    "nn.functional.ctc_loss": CTC,
    "nn.CTCLoss": CTC,
    "nn.functional.linear_cross_entropy.chunked": CHUNKED,
    "nn.LinearCrossEntropyLoss": CHUNKED,
    "cholesky_inverse": UNREAD,
    "cholesky_solve": UNREAD,
    "linalg.norm": AT_ZERO,
    "linalg.norm.subgradients_at_zero": AT_ZERO,
    "masked.logaddexp": "at -inf, where both are masked out, PyTorch's second gradient is NaN; ours is 0",
    "normal": DRAWN,
    "normal.number_mean": DRAWN,
    "pca_lowrank": SIGNS,
    "optim.LBFGS": "PyTorch's state holds scratch, too; in float32, once converged, both go by rounding errors",
    "optim.SparseAdam": "it takes sparse gradients alone; tests/optim/test_adam.py compares its steps",
    "svd_lowrank": SIGNS,
    "to_sparse": SPARSE,
}
"""Entry name (variant included) -> the reason, in a line."""

SQUARE = "PyTorch's tangent reads the triangle, or the part of a Hermitian matrix, that is not read"
PHASES = "the signs, or phases, of vectors are arbitrary, and so are those of their tangents"
ROUNDED = "the tangents are rounded to the dtype it converts to"
DRAWS = "PyTorch draws other numbers"
MOVED = "which of the entries sent to one place stays is not promised by PyTorch"

_ROUNDING = {
    "bfloat16": ROUNDED, "cfloat": ROUNDED, "float": ROUNDED, "half": ROUNDED,
    "as_strided.partial_views": "an offset in memory of which the tensor shows the end alone is refused",
    "cov": "weights of float32 meet values of float64, and are rounded",
}  # fmt: skip

PHASED = "random weights make a loss that depends on the phases of complex vectors: it has no derivative"
_VECTORS = ("linalg.eig", "linalg.eigh", "linalg.svd", "pca_lowrank", "svd", "svd_lowrank")
_PHASED = dict.fromkeys(_VECTORS, PHASED)

_NORMS = ("_batch_norm_with_update", "_native_batch_norm_legit", "native_batch_norm", "nn.functional.batch_norm",
          "nn.functional.instance_norm")  # fmt: skip
_BATCHED = dict.fromkeys(_NORMS, "one running mean for all examples cannot be written from a batch, as in PyTorch")
PLACES = "places in memory, and a row of a batch has others than a tensor of its own"
_BATCHED |= {"as_strided.partial_views": PLACES}

TRANSFORMED: dict[str, dict[str, str]] = {
    "vmap": _BATCHED,
    "vmap of jvp": _BATCHED,
    "jvp of vmap": _BATCHED,
    "jvp": _ROUNDING | _PHASED,
    "jvp of vjp": _ROUNDING | _PHASED,
    "torch jvp": {
        "cholesky_inverse": UNREAD,
        "cholesky_solve": UNREAD,
        "linalg.cholesky": SQUARE,
        "linalg.cholesky_ex": SQUARE,
        "linalg.eig": PHASES,
        "linalg.eigh": SQUARE,
        "linalg.svd": PHASES,
        "logcumsumexp": "PyTorch's complex tangent is NaN",
        "nn.functional.dropout2d": DRAWS,
        "nn.functional.dropout3d": DRAWS,
        "nn.functional.max_unpool2d": MOVED,
        "nn.functional.max_unpool3d": MOVED,
        "nn.functional.multi_head_attention_forward": DRAWS,
        "nn.functional.rrelu": DRAWS,
        "pca_lowrank": SIGNS,
        "svd": PHASES,
        "svd_lowrank": SIGNS,
        "triangular_solve": UNREAD,
    },
}
"""For each check of the transforms (`python -m oracle --transforms`) the entries that may fail it, and why."""

COMPILED: dict[str, str] = {
    "max_pool2d_with_indices_backward": "what the oracle calls imports a module at every call",
    "optim.LBFGS": "its line search is Python code that goes by numbers",
}
"""The entries that may run eagerly though they are compiled (`python -m oracle --compiled`), and why."""
COARSE: dict[str, str] = {
    "cov": "weights of float32 meet values of float64, and are rounded",
    "optim.Muon": "its iteration runs in float32",
}
"""The entries whose float64 numbers may differ as those of float32 do when they are compiled; with --exact none do."""
