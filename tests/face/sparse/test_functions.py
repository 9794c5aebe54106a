"""The functions of `torch.sparse`: PyTorch's values and gradients."""

from typing import Any

import numpy as np
import pytest

import gradwright as gw

AT = [[0, 1, 1, 0, 1], [2, 0, 2, 2, 1]]
FORMS: dict[str, Any] = {
    "addmm": lambda T, a, b: T.sparse.addmm(b[:2] * 2, a, b, beta=0.5, alpha=3.0),
    "sum": lambda T, a, b: T.sparse.sum(a), "sum 0": lambda T, a, b: T.sparse.sum(a, 0),
    "sum 1": lambda T, a, b: T.sparse.sum(a, [1]), "sum both": lambda T, a, b: T.sparse.sum(a, (0, 1)),
    "softmax 0": lambda T, a, b: T.sparse.softmax(a, 0), "softmax 1": lambda T, a, b: T.sparse.softmax(a, 1),
    "log_softmax": lambda T, a, b: T.sparse.log_softmax(a, 1),
    "sum of dense dims": lambda T, a, b: T.sparse.sum(T.sparse_coo_tensor(T.tensor([[0, 2]]), b[:2]), 1),
    "softmax of dense dims": lambda T, a, b: T.sparse.softmax(T.sparse_coo_tensor(T.tensor([[0, 2]]), b[:2]), 1),
    "softmax beside dense dims": lambda T, a, b: T.sparse.softmax(T.sparse_coo_tensor(T.tensor([[0, 2]]), b[:2]), 0),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.filterwarnings("ignore:Sparse:UserWarning")  # PyTorch's
def test_pytorchs_values_and_gradients(form: str, torch: Any) -> None:
    found = []
    for T in (torch, gw):
        values = T.tensor([3.0, 4.0, 5.0, -1.0, 0.5], dtype=T.float64, requires_grad=True)
        dense = T.tensor([[0.5, -1.0], [2.0, 0.3], [1.0, 0.7]], dtype=T.float64, requires_grad=True)
        out = FORMS[form](T, T.sparse_coo_tensor(T.tensor(AT), values, (2, 3)), dense)
        out = out.coalesce().values() if out.is_sparse else out
        weights = T.arange(1.0, out.numel() + 1, dtype=T.float64).reshape(out.shape)
        slopes = T.autograd.grad((out * weights).sum(), [values, dense], allow_unused=True)
        found.append([out.detach(), *slopes])
    for theirs, mine in zip(*found, strict=True):
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-12, atol=1e-14)


def test_what_is_refused() -> None:
    for call in (lambda: gw.sparse.mm(gw.eye(2), gw.eye(2)), lambda: gw.sparse.sum(gw.eye(2)),
                 lambda: gw.sparse.softmax(gw.eye(2), 0)):  # fmt: skip
        with pytest.raises(TypeError, match=r"expected a sparse tensor, but got Tensor: to_sparse\(\) makes one"):
            call()
