"""Formulas written down: what they call, in which dtype, and what cannot be noted."""

import numpy as np
import pytest

from gradwright.backends.notes import Notes, NotNoted


def noted(formula, dtype="float32"):
    """The calls of a formula of two arrays, and its result."""
    notes = Notes(np.dtype(dtype))
    out = formula(notes, notes.given("x"), notes.given("y"))
    return notes, out


def test_calls_in_order_with_constants():
    notes, out = noted(lambda xp, x, y: xp.where(x > 2, 1 - xp.exp(y), xp.zero(x) + 3))
    assert [(name, given) for _, name, given in notes.calls] == [
        ("greater", ["x", "c0"]), ("exp", ["y"]), ("subtract", ["c1", "v1"]), ("where", ["v0", "v2", "c4"]),
    ]  # fmt: skip
    assert notes.constants == {"c0": 2, "c1": 1, "c2": 0, "c3": 3, "c4": 3}
    assert type(notes.constants["c4"]) is np.float32
    assert (out.name, out.dtype) == ("v3", np.float32)
    assert notes.dtypes["v0"] == np.dtype("bool")


def test_numbers_are_noted_apart():
    notes = Notes()
    notes.note("multiply", 1 - notes.given("beta", False), notes.given("g"))
    assert notes.numbers == [("v0", "subtract", ["c0", "beta"])]
    assert notes.calls == [("v1", "multiply", ["v0", "g"])]
    assert list(notes.used) == ["v0"]


@pytest.mark.parametrize("name", ["expm1", "log1p", "tan"])
def test_what_float32_has_another_kernel_for_is_a_ufunc_in_float64(name):
    notes, _ = noted(lambda xp, x, y: getattr(xp, name)(x), "float64")
    assert [f for _, f, _ in notes.calls] == [name]
    with pytest.raises(NotNoted):
        noted(lambda xp, x, y: getattr(xp, name)(x))


@pytest.mark.parametrize("formula", [
    lambda xp, x, y: x if x > 0 else y,
    lambda xp, x, y: xp.sum(x),
    lambda xp, x, y: xp.astype(x, xp.float64),
    lambda xp, x, y: x & y,
    lambda xp, x, y: x * 1e39,
    lambda xp, x, y: x * np.float64(2),
    lambda xp, x, y: x * True,
    lambda xp, x, y: xp.clip(x, None, None),
    lambda xp, x, y: xp.where(x, x, y),
    lambda xp, x, y: xp.maximum(x > 0, y),
])  # fmt: skip
def test_what_cannot_be_noted(formula):
    with pytest.raises(NotNoted):
        noted(formula)


def test_arrays_alone_have_shapes():
    with pytest.raises(AttributeError):
        noted(lambda xp, x, y: x.shape)
