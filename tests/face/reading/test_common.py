from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwright
from gradwright import dtypes, xp
from gradwright.backends import strict as _strict  # noqa: F401 - its arrays are known then
from gradwright.engine.base import wrap
from gradwright.face.reading import common


def test_an_axis_in_the_words_of_a_face() -> None:
    one = common.axis_reader("way", "{function} has {n} ways, up to {last}, and {argument} was {index}", 1)
    assert one("f", -1, 3) == 2
    assert one("f", np.int64(0), 0) == 0
    with pytest.raises(IndexError, match="f has 2 ways, up to 1, and way was -3"):
        one("f", -3, 2)
    with pytest.raises(TypeError, match=r"f\(\): argument 'path' must be int, not float"):
        one("f", 1.5, 2, "path")


def test_0d_tensors_count_as_numbers_only_where_they_are_weak() -> None:
    x, whole = gradwright.ones(2), gradwright.tensor(1.0, dtype=gradwright.float64)
    assert common.common_dtype((x, whole), weak=True) is dtypes.float32
    assert common.common_dtype((x, whole), weak=False) is dtypes.float64
    assert common.common_dtype((x, 2j), weak=False) is dtypes.complex64
    assert common.common_dtype((dtypes.int8, 3), weak=False) is dtypes.int8
    assert common.common_dtype((2, True), weak=True) is dtypes.int64
    assert common.common_dtype((2, True), weak=True, floating=True) is dtypes.float32


@pytest.mark.parametrize("name", ["CPU_DEVICE", "device1"])
def test_numbers_join_the_library_and_the_device_of_the_arrays(name: str) -> None:
    device = strict.Device(name)
    x = wrap(strict.asarray([1.0, 2.0], dtype=strict.float32, device=device))
    calls: list[Any] = [lambda: x + 1, lambda: 2.5 * x, lambda: xp.add(x, 1.5), lambda: gradwright.maximum(x, x) > 1]
    for call in calls:
        out = call().array
        assert isinstance(out, type(x.array))
        assert out.device == device
    y = common.beside(x.array, 3, dtypes.float64).array
    assert (float(y), y.dtype, y.device) == (3.0, strict.float64, device)


def test_casts() -> None:
    x = gradwright.ones(2, requires_grad=True)
    assert common.as_dtype(x, "float32") is x
    assert common.cast(x, "float32") is not x
    assert common.as_dtype(x, "float64").grad_fn.name() == "ToCopyBackward0"
    assert not common.as_dtype(x, "int64").requires_grad
