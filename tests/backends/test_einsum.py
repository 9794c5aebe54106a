import numpy as np
import pytest

from gradwright.backends.einsum import einsum


@pytest.mark.parametrize("equation", ["ij,jk->ik", "ij,jk->ki", "bij,bjk->bik", "ijb,kjb->kib", "ij,j->i", "ij,ij->ij",
                                      "ijk,kl->lij", "ij,kl->ilkj", "ij,kj->k", "abij,abjk->iabk"])  # fmt: skip
def test_two_arrays(equation: str) -> None:
    sizes = dict(zip("abijkl", (2, 3, 11, 12, 13, 4), strict=True))
    xs = [np.random.standard_normal([sizes[c] for c in t]) for t in equation.split("->", maxsplit=1)[0].split(",")]
    np.testing.assert_allclose(einsum(*xs, equation=equation), np.einsum(equation, *xs), rtol=1e-10)


def test_the_result_has_memory_of_its_own() -> None:
    x = np.ones((2, 3))
    assert not np.shares_memory(einsum(x, equation="ij->ji"), x)
