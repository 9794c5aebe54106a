import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright

linalg = gradwright.linalg


@pytest.mark.parametrize("hermitian", [False, True])
def test_ldl(torch: Any, hermitian: bool) -> None:
    x = np.random.standard_normal((2, 4, 4)) + 1j * np.random.standard_normal((2, 4, 4))
    x = x + (x.conj() if hermitian else x).swapaxes(-1, -2)
    ours, theirs = (t.linalg.ldl_factor(t.tensor(x), hermitian=hermitian) for t in (gradwright, torch))
    np.testing.assert_allclose(ours.LD.numpy(), theirs.LD.numpy(), atol=1e-12)
    np.testing.assert_array_equal(ours.pivots.numpy(), theirs.pivots.numpy())
    with pytest.raises(NotImplementedError, match="no derivative"):
        linalg.ldl_factor(gradwright.tensor(x, requires_grad=True)).LD.real.sum().backward()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(-6, 6), min_size=4, max_size=4), st.booleans())
def test_pivots_that_no_factorisation_gives_are_refused_before_lapack_reads_them(row: list[int], many: bool) -> None:
    n, text, pivots = 4, "".join("+" if p > 0 else "-" for p in row), [[1, 2, 3, 4], row] if many else row
    pairs = [pair.span() for pair in re.finditer("--", text)]  # from the left, as LAPACK reads them
    valid = all(1 <= abs(p) <= n for p in row) and not re.sub("--", "", text).count("-")
    valid = valid and all(row[a] == row[a + 1] for a, _ in pairs)
    x, b = np.eye(n) + 0.1, np.ones((n, 1))
    factors = gradwright.tensor(np.stack([x, x]) if many else x)

    def solve() -> Any:
        return linalg.ldl_solve(factors, gradwright.tensor(pivots), gradwright.tensor(np.stack([b, b]) if many else b))

    if valid:
        assert solve().shape == (2, n, 1) if many else (n, 1)
    else:
        with pytest.raises(RuntimeError, match=r"pivots\[.*Did you properly pass the result of ldl_factor"):
            solve()


@pytest.mark.parametrize("hermitian", [False, True])
def test_pivots_of_every_factorisation_are_taken(torch: Any, hermitian: bool) -> None:
    x = np.random.standard_normal((60, 5, 5)) + 1j * np.random.standard_normal((60, 5, 5))
    x = (x + (x.conj() if hermitian else x).swapaxes(-1, -2)) * (np.random.random((60, 5, 1)) < 0.7)
    x[:, range(5), range(5)] *= np.random.random((60, 5)) < 0.5
    x = x + (x.conj() if hermitian else x).swapaxes(-1, -2) + 1e-3 * np.eye(5)[::-1]
    b = np.random.standard_normal((60, 5, 2)) + 0j
    ours, theirs = (
        t.linalg.ldl_solve(*t.linalg.ldl_factor_ex(t.tensor(x), hermitian=hermitian)[:2], t.tensor(b),
                           hermitian=hermitian) for t in (gradwright, torch)
    )  # fmt: skip
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-6, equal_nan=True)


@pytest.mark.parametrize("pivots", [[1.0, 2.0, 3.0], [1, 2], [[1, 2, 3]]])
def test_pivots_of_another_kind_or_shape(torch: Any, pivots: list[Any]) -> None:
    errors = []
    for t in (gradwright, torch):
        with pytest.raises(RuntimeError, match=r"torch.linalg.ldl_solve: Expected .*pivots") as e:
            t.linalg.ldl_solve(t.eye(3), t.tensor(pivots), t.ones(3, 1))
        errors.append(str(e.value)[:60])
    assert errors[0] == errors[1]
