"""Functions that NumPy computes for other libraries: their arrays, dtypes and devices come back."""

from typing import Any

import array_api_strict
import numpy as np
import pytest

from gradwright.backends import linalg, to_host
from gradwright.backends.host import LINEAR_ALGEBRA, Hosted, on_host
from gradwright.backends.strict import namespace as strict

DEVICES = [array_api_strict.Device(name) for name in ("CPU_DEVICE", "device1")]


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_values_come_to_the_host(device: Any) -> None:
    assert to_host(strict.asarray([1.0, 2.0], device=device)).tolist() == [1.0, 2.0]
    assert to_host(np.float32(2.0)).dtype == np.float32


@pytest.mark.parametrize("device", DEVICES, ids=str)
def test_results_go_back(device: Any) -> None:
    x = strict.asarray([[2.0, 1.0], [1.0, 3.0]], dtype=strict.float32, device=device)
    out = strict.linalg.lu_factor(x)
    assert [o.dtype for o in out] == [strict.float32, strict.int32, strict.int64]
    assert {o.device for o in (*out, strict.linalg.eigvals(x), strict.special.erf(x))} == {device}
    np.testing.assert_array_equal(to_host(out[0]), linalg.lu_factor(to_host(x))[0])


def test_numbers_stay_numbers() -> None:
    assert float(Hosted(strict, np).multiply(2.0, strict.asarray(3.0))) == 6.0


def test_what_goes_through_the_host_is_what_the_standard_lacks() -> None:
    assert not set(LINEAR_ALGEBRA) & set(array_api_strict.linalg.__all__)
    for name in LINEAR_ALGEBRA:
        assert getattr(strict.linalg, name).__code__ is on_host(strict, np.abs).__code__
