"""Entries that may differ from PyTorch, and why. A test fails if one of them in fact agrees."""

from __future__ import annotations

DRAWN = "drawn numbers have no derivative and say so; PyTorch gives them a gradient of zeros"

CTC = "PyTorch's gradient supposes that a log_softmax comes before; ours is that of the loss"
CHUNKED = "PyTorch gives the chunked form a second gradient of zeros"
UNREAD = "the triangle that is not read has gradient 0; PyTorch gives it one"
AT_ZERO = "at 0, orders above 2: the second gradient is NaN in the input; in PyTorch it is in the cotangent"
SIGNS = "the signs of singular vectors are arbitrary; tests/face/algebra/test_lapack.py compares what they make"

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
    "normal": DRAWN,
    "normal.number_mean": DRAWN,
    "pca_lowrank": SIGNS,
    "optim.LBFGS": "PyTorch's state holds scratch, too; in float32, once converged, both go by rounding errors",
    "svd_lowrank": SIGNS,
}
"""Entry name (variant included) -> the reason, in a line."""
