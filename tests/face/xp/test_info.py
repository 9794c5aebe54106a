import array_api_strict as strict
import pytest

import gradwright
from gradwright import xp


def test_info() -> None:
    info = xp.__array_namespace_info__()
    assert info.capabilities()["boolean indexing"]
    assert info.default_device() in info.devices()
    assert info.default_dtypes()["real floating"] is gradwright.get_default_dtype()
    assert info.default_dtypes()["integral"] is info.default_dtypes()["indexing"] is xp.int64
    assert info.default_dtypes()["complex floating"] is xp.complex64


@pytest.mark.parametrize("kind", [None, "bool", "integral", "real floating", ("complex floating", "unsigned integer")])
def test_dtypes(kind: object) -> None:
    ours, theirs = (space.__array_namespace_info__().dtypes(kind=kind) for space in (xp, strict))
    assert set(ours) == set(theirs)
    assert all(getattr(xp, name) is d for name, d in ours.items())
