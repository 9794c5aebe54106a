import numpy as np
import pytest

from gradwright.engine.mode import PLAIN, switch
from gradwright.face.reading.require import known_within, require, within


def test_what_holds_everywhere_passes() -> None:
    require(True, "never said")
    require(np.array([True, True]), "never said")
    require(np.ones((0, 3), bool), "never said")


def test_what_does_not_raises() -> None:
    with pytest.raises(RuntimeError, match="too large"):
        require(np.array([True, False]), "too large")
    with pytest.raises(IndexError, match="out of range"):
        require(False, lambda: "out of range", IndexError)


def test_the_message_is_made_only_if_it_is_needed() -> None:
    def message() -> str:
        raise AssertionError

    require(np.array([True]), message)


def test_limits() -> None:
    within(np.array([0, 2]), 0, 2, lambda _: "never said")
    within(np.zeros((0, 3)), 1, 2, lambda _: "never said")
    for values, wrong in (([1, 5], "5"), ([-1, 5], "-1"), ([0.5, np.nan], "nan")):
        with pytest.raises(IndexError, match=f"^{wrong} is outside"):
            within(np.array(values), 0, 2, lambda number: f"{number} is outside", IndexError)


@pytest.mark.parametrize("shape", [(2, 1), (1, 2)])
def test_limits_of_what_is_expanded(shape: tuple[int, ...]) -> None:
    def expanded(*values: int) -> np.ndarray:
        return np.broadcast_to(np.array(values).reshape(shape), (2, 2))

    within(expanded(0, 2), 0, 2, lambda _: "never said")
    with pytest.raises(RuntimeError, match=r"^5 is outside"):
        within(expanded(1, 5), 0, 2, lambda number: f"{number} is outside")


def test_a_mode_may_defer_them() -> None:
    put_off = []

    class Later:
        def require(self, condition, message, error):
            put_off.append((condition, message, error))

    switch(PLAIN.but(interpreter=Later()))
    try:
        require(np.array([False]), "too large", IndexError)
    finally:
        switch(PLAIN)
    assert [(c.tolist(), m, e) for c, m, e in put_off] == [([False], "too large", IndexError)]


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float64])
def test_what_is_known_to_be_within(dtype: type) -> None:
    for low, high, known in ((0, 3, True), (0, 2, False), (1, 3, False)):
        assert known_within(np.array([[0, 3], [2, 1]], dtype), low, high) is known
    assert known_within(np.broadcast_to(dtype(2), (3, 4)), 0, 2)
    assert known_within(dtype(1), 0, 1)
    assert not known_within(dtype(2), 0, 1)


def test_a_negative_number_is_not_within() -> None:
    assert not known_within(np.array([0, -1]), 0, 5)
