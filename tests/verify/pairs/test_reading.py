"""What functions return, as matrices of one layout."""

import numpy as np
import pytest

from gradwright.verify.pairs.reading import dense, read, single

J = np.arange(6.0).reshape(2, 3)


def test_all_forms_are_read_and_copied() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    linalg = pytest.importorskip("scipy.sparse.linalg")
    for form in (J, J.tolist(), sparse.csr_array(J), sparse.csr_matrix(J), linalg.aslinearoperator(J),
                 J.astype(object)):  # fmt: skip
        assert (dense(form) == J).all()
    assert dense(J) is not J
    assert dense([1j]).dtype == np.complex128


@pytest.mark.parametrize(("returned", "x", "out", "transposed", "turned"), [
    (J, (3,), (2,), False, False), (J.T, (3,), (2,), True, False), (J.T, (3,), (2,), False, True),
    (J.reshape(2, 1, 3), (3,), (2,), False, False),
])  # fmt: skip
def test_a_row_belongs_to_each_entry_of_x(returned: object, x: tuple[int, ...], out: tuple[int, ...], transposed: bool,
                                          turned: bool) -> None:  # fmt: skip
    found = read(returned, x, out, transposed)
    assert (found.matrix == J.T).all()
    assert found.turned is turned
    assert bool(found.shape) is turned


def test_a_gradient_has_the_shape_of_x() -> None:
    assert read(np.ones(3), (3,), ()).shape == ""
    assert read([2.0], (), ()).shape == ""
    assert read(np.ones((3, 1)), (3,), ()).shape == "it returns shape (3, 1) where (3,) belongs"
    assert read(np.ones(2), (3,), ()).matrix is None


def test_numbers_that_were_computed_in_float32_are_known() -> None:
    numbers = np.array([0.1, 1e4 / 3, -7.0])
    assert single(numbers.astype(np.float32).astype(np.float64))
    assert not single(numbers)
    assert not single(np.array([1.0, 0.5, 12.0]))


def test_what_holds_no_numbers_is_refused() -> None:
    with pytest.raises((TypeError, ValueError)):
        dense(object())
