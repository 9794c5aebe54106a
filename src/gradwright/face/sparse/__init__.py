"""Sparse tensors in coordinate form, under the names of `torch.sparse`: products, sums, softmax, with derivatives."""

from gradwright.base.lazy import lazy
from gradwright.face.sparse.functions import addmm, log_softmax, mm, softmax, sum  # noqa: A004 - PyTorch's names
from gradwright.face.sparse.tensor import SparseTensor, sparse_coo_tensor

__all__ = ["SparseTensor", "addmm", "log_softmax", "mm", "softmax", "sparse_coo_tensor", "sum"]

lazy(__name__)
