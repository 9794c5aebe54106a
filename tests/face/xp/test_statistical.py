from typing import Any

import numpy as np
import pytest

import gradwright
from gradwright import xp
from gradwright.autograd import gradcheck, gradgradcheck
from tests.face.xp.agreement import always, arrays, of

AXES = [{"axis": axis, "keepdims": keep} for axis in (None, 0, -1, (0, 2), ()) for keep in (False, True)]
KINDS = {"sum": "numeric", "prod": "numeric", "max": "real", "min": "real", "all": "all", "any": "all"}
CUBE = (2, 3, 4)
ALL = ["sum", "prod", "max", "min", "mean", "var", "std"]
RUNNING = [{"axis": 1}, {"axis": -1, "include_initial": True}]


@pytest.mark.parametrize("options", AXES, ids=str)
@pytest.mark.parametrize("name", [*KINDS, "mean", "std", "var"])
def test_reductions(name: str, options: Any) -> None:
    always(name, arrays(KINDS.get(name, "float"), CUBE), **options)
    if name in ("std", "var") and options["axis"] != ():
        always(name, arrays("float", CUBE), correction=1.0, **options)


@pytest.mark.parametrize("name", ["sum", "prod", "cumulative_sum", "cumulative_prod"])
def test_dtypes(name: str) -> None:
    for short in ("int8", "uint8", "int64", "uint32"):
        always(name, of(short, (3,)))
    x = xp.ones(3, dtype=xp.int8)
    assert getattr(xp, name)(x, dtype=xp.float64).dtype is xp.float64
    assert xp.mean(x).dtype is xp.float32
    assert xp.sum(xp.ones(2, dtype=xp.bool)).dtype is xp.int64


@pytest.mark.parametrize("options", RUNNING, ids=str)
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_running(name: str, options: Any) -> None:
    always(name, arrays("numeric", CUBE), **options)


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"n": 2}, {"n": 0}], ids=str)
def test_diff(options: Any) -> None:
    always("diff", arrays("float", CUBE), **options)
    both = {"prepend": xp.zeros((2, 1)), "append": xp.ones((2, 2))}
    assert xp.diff(xp.asarray([[1.0, 3.0], [2.0, 5.0]]), **both).tolist() == [[1, 2, -2, 0], [2, 3, -4, 0]]


@pytest.mark.parametrize("f", [
    *(lambda x, name=name: getattr(xp, name)(x, axis=1) for name in ALL),
    lambda x: xp.cumulative_sum(x, axis=0, include_initial=True), lambda x: xp.cumulative_prod(x, axis=1),
    lambda x: xp.diff(x, n=2, prepend=x * x),
])  # fmt: skip
def test_gradients(f: Any) -> None:
    x = gradwright.tensor([[0.5, -1.5, 2.5], [1.0, 3.0, -2.0]], dtype=xp.float64, requires_grad=True)
    assert gradcheck(f, (x,))
    assert gradgradcheck(lambda x: f(x * x), (x,))


def test_what_it_refuses() -> None:
    x = xp.ones((2, 3))
    with pytest.raises(IndexError, match=r"sum\(\): axis -3 is out of range for an array of 2 dimensions"):
        xp.sum(x, axis=-3)
    with pytest.raises(ValueError, match="named twice"):
        xp.sum(x, axis=(0, -2))
    with pytest.raises(ValueError, match=r"cumulative_sum\(\): axis must be named"):
        xp.cumulative_sum(x)
    with pytest.raises(TypeError, match=r"mean\(\): expected a Tensor, but got list"):
        xp.mean([1.0])


@pytest.mark.parametrize(("name", "numpys"), [
    ("sum", np.sum), ("prod", np.prod), ("cumulative_sum", np.cumsum), ("cumulative_prod", np.cumprod),
])  # fmt: skip
@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "uint64", "float32"])
def test_a_named_dtype_is_that_of_the_result(name: str, numpys: Any, kind: str) -> None:
    found = getattr(xp, name)(xp.asarray([3, 100, 2]), dtype=getattr(xp, kind))
    assert found.dtype == getattr(xp, kind)
    assert found.tolist() == numpys([3, 100, 2], dtype=kind).tolist()
