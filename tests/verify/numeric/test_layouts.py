"""Arrays of the same numbers that lie in other ways."""

import numpy as np
import pytest

from gradwright.verify.numeric.layouts import LAYOUTS, expanded


@pytest.mark.parametrize("dtype", ["float64", "complex64", "int32"])
@pytest.mark.parametrize("shape", [(5,), (2, 3), (3, 1), (2, 3, 4)])
@pytest.mark.parametrize("name", LAYOUTS)
def test_the_numbers_are_the_same_and_lie_elsewhere(name, shape, dtype):
    array = (10 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)
    odd = LAYOUTS[name](array)
    assert odd.dtype == array.dtype
    np.testing.assert_array_equal(odd, array)
    assert not np.shares_memory(odd, array)
    steps = [s // odd.itemsize for s, n in zip(odd.strides, shape, strict=True) if n > 1]
    assert {
        "negative-stride": all(s < 0 for s in steps), "strided": min(steps) == 2,
        "transposed": odd.flags.f_contiguous, "read-only": odd.flags.c_contiguous,
    }[name]  # fmt: skip


def test_an_entry_at_every_place():
    odd = expanded(np.array([[3.0, 1.0], [2.0, 4.0]]))
    assert odd.tolist() == [[3, 3], [3, 3]]
    assert odd.strides == (0, 0)
    assert not odd.flags.writeable


@pytest.mark.parametrize("lay", [LAYOUTS["negative-stride"], LAYOUTS["strided"], expanded])
def test_whoever_takes_it_to_be_contiguous_reads_other_numbers_of_its_memory(lay):
    array = np.arange(10.0, 16.0).reshape(2, 3)
    odd = lay(array)
    whole = odd.base
    while whole.base is not None:
        whole = whole.base
    first = (odd.__array_interface__["data"][0] - whole.__array_interface__["data"][0]) // 8
    read = whole.reshape(-1)[first : first + array.size]
    assert read.size == array.size
    assert not np.array_equal(read, odd.reshape(-1))
