import array_api_strict as strict
import numpy as np
import pytest

import gradwright
from gradwright import xp
from tests.face.xp.agreement import DTYPES

ALL = DTYPES["all"]
KINDS = ["bool", "signed integer", "unsigned integer", "integral", "real floating", "complex floating", "numeric"]


@pytest.mark.parametrize("name", ALL)
def test_dtypes(name: str) -> None:
    d = getattr(xp, name)
    assert np.dtype(d) == np.dtype(name)
    for kind in KINDS:
        assert xp.isdtype(d, kind) == strict.isdtype(getattr(strict, name), kind)
    assert xp.isdtype(d, d)
    assert xp.isdtype(d, ("bool", "numeric"))
    with pytest.raises(ValueError, match="isdtype"):
        xp.isdtype(d, "whole")


@pytest.mark.parametrize("a", ALL)
def test_promotion(a: str) -> None:
    for b in ALL:
        try:
            wanted = strict.result_type(getattr(strict, a), getattr(strict, b))
        except TypeError:
            continue  # kinds that do not mix in the standard
        assert xp.result_type(getattr(xp, a), getattr(xp, b)).name == wanted._np_dtype.name
        assert xp.can_cast(getattr(xp, a), getattr(xp, b)) == (wanted == getattr(strict, b))


def test_numbers_raise_only_the_kind() -> None:
    assert xp.result_type(xp.int8, 3) is xp.int8
    assert xp.result_type(xp.ones(1, dtype=xp.float64), 3, 1j) is xp.complex128
    assert xp.result_type(xp.int8, 1.5) is xp.float32


@pytest.mark.parametrize("name", DTYPES["floating"])
def test_finfo(name: str) -> None:
    ours, theirs = xp.finfo(getattr(xp, name)), np.finfo(name)
    for what in ("bits", "eps", "max", "min", "smallest_normal"):
        assert getattr(ours, what) == getattr(theirs, what)
    assert ours.dtype is xp.finfo(xp.ones(1, dtype=getattr(xp, name))).dtype
    assert ours.dtype.name == theirs.dtype.name


@pytest.mark.parametrize("name", DTYPES["integer"])
def test_iinfo(name: str) -> None:
    ours, theirs = xp.iinfo(getattr(xp, name)), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max, ours.dtype.name) == (theirs.bits, theirs.min, theirs.max, name)


def test_astype() -> None:
    x = gradwright.ones(2, requires_grad=True)
    assert xp.astype(x, xp.float64).requires_grad
    assert not xp.astype(x, xp.int64).requires_grad
    assert not xp.astype(x, xp.bool).requires_grad
    assert xp.astype(x, xp.float32, copy=False) is x
    assert xp.astype(x, xp.float32) is not x
