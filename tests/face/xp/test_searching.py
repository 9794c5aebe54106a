from typing import Any

import array_api_strict as strict
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gradwright
from gradwright import xp
from gradwright.autograd import gradcheck
from tests.face.xp.agreement import FEW, agree, always, arrays, of, pairs

REAL = arrays("real", (3, 4))
CASES: list[Any] = [
    *((name, REAL, {"axis": axis, "keepdims": keep}) for name in ("argmax", "argmin") for axis in (None, 0, -1)
      for keep in (False, True)),
    *((name, REAL, {"axis": axis, "descending": down}) for name in ("sort", "argsort") for axis in (0, -1)
      for down in (False, True)),
    *(("count_nonzero", arrays("all", (2, 3)), {"axis": axis, "keepdims": keep}) for axis in (None, 1, (0, 1))
      for keep in (False, True)),
    ("nonzero", arrays("all", least=1), {}),
    *((f"unique_{what}", arrays("integer"), {}) for what in ("all", "counts", "inverse", "values")),
    *(("searchsorted", strict.asarray([1.0, 2.0, 2.0, 3.0]), of("float64", (2, 3)), {"side": side})
      for side in ("left", "right")),
    ("searchsorted", strict.asarray([3.0, 1.0, 2.0]), of("float64", (2,)), {"sorter": strict.asarray([1, 2, 0])}),
    ("isin", of("int64", (2, 3)), of("int64", (4,)), {}), ("isin", of("int64", (2, 3)), 3, {}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-{c[-1]}")
def test_agrees(case: Any) -> None:
    name, *drawn, options = case
    always(name, *drawn, **options)


@FEW
@given(pairs("all"), st.data())
def test_where(xy: Any, data: Any) -> None:
    agree("where", data.draw(of("bool", xy[0].shape)), *xy)
    if "float" in str(xy[0].dtype):
        agree("where", data.draw(of("bool", xy[0].shape)), xy[0], 2.0)


def test_isin_inverted() -> None:
    assert xp.isin(xp.asarray([1, 2, 3]), xp.asarray([2, 5]), invert=True).tolist() == [True, False, True]


def test_gradients() -> None:
    x = gradwright.tensor([[0.5, -1.5, 2.5], [1.0, 3.0, -2.0]], dtype=xp.float64, requires_grad=True)
    assert gradcheck(lambda x: xp.sort(x, axis=0), (x,))
    assert gradcheck(lambda x: xp.where(x > 0, x * x, 0.0), (x,))
    assert gradcheck(xp.unique_values, (x,))


def test_what_it_refuses() -> None:
    with pytest.raises(ValueError, match="without dimensions"):
        xp.nonzero(xp.asarray(1))
    with pytest.raises(IndexError, match=r"argmax\(\): axis 2 is out of range"):
        xp.argmax(xp.ones((2, 3)), axis=2)
