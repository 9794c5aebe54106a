import numpy as np

from gradwright.backends.steps import places, read
from gradwright.ops.complex import imag
from gradwright.ops.index import index
from gradwright.ops.shape import split

ROWS = ((), (index, {"key": (slice(1, None), ...)}))


def test_a_chain_is_read_in_order() -> None:
    x = np.arange(12.0).reshape(3, 4)
    assert read(x, ()) is x
    np.testing.assert_array_equal(read(x, (ROWS, (index, {"key": (..., 0)}))), [4, 8])


def test_one_of_several_results() -> None:
    x = np.arange(4.0)
    np.testing.assert_array_equal(read(x, ((), (split, {"sizes": (1, 3), "axis": 0}, 1))), [1, 2, 3])


def test_places() -> None:
    np.testing.assert_array_equal(places((2, 3), False, ROWS), [3, 4, 5])
    np.testing.assert_array_equal(places((2, 2), True, ROWS), [4, 5, 6, 7])
    np.testing.assert_array_equal(places((2, 2), True, (ROWS, (imag, {}))), [5, 7])
