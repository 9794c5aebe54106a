from typing import Any

import numpy as np

import gradwright


def test_has_pytorchs_names(torch: Any) -> None:
    theirs = {n for n in dir(torch.linalg) if n[0] != "_" and callable(getattr(torch.linalg, n))} - {"common_notes"}
    assert theirs - {*gradwright.linalg.__all__, "Tensor"} == set()


def test_diagonal() -> None:
    x = np.random.standard_normal((2, 3, 4))
    t = gradwright.tensor(x)
    np.testing.assert_array_equal(gradwright.linalg.diagonal(t, offset=1).numpy(), np.diagonal(x, 1, -2, -1))
    np.testing.assert_array_equal(gradwright.linalg.diagonal(t, dim1=0, dim2=2).numpy(), np.diagonal(x, 0, 0, 2))
