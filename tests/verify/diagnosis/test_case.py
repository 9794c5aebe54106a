"""What is known of a function besides its numbers."""

import warnings

import numpy as np
import pytest

import gradwright
from gradwright.errors import GradientWarning
from gradwright.verify.diagnosis.case import Case
from tests.corpus.wrong import Scale, Writes, function, t


def test_names_of_a_function_class_and_its_ctx():
    for f in (Scale, Scale.apply):
        case = Case(f, (t(3), 2.5))
        assert (case.name, case.function, case.names, case.arguments) == ("Scale", Scale, ["x"], ["x", "constant"])
        assert case.node.constant == 2.5


def test_a_function_around_one_function_class():
    case = Case(lambda x: Scale.apply(x, 3.0).exp(), t(3))
    assert (case.name, case.function, case.node.constant) == ("Scale", Scale, 3.0)
    two = Case(lambda x: function(lambda x: x * 1, lambda g, x: g).apply(Scale.apply(x, 3.0)), t(3))
    assert two.function is None


def test_the_same_tensor_twice_is_one_input():
    x = t(3)
    case = Case(lambda a, b: a * b, (x, x))
    assert case.names == ["a"]


def test_elsewhere_has_tensors_of_its_own():
    x, d = t(3), {"k": [t(2)]}
    case = Case(lambda x, d: x.sum() * d["k"][0], (x, d))
    there = case.elsewhere([np.zeros(3), np.ones(2)])
    assert there.outputs[0].tolist() == [0.0, 0.0]
    assert there.inputs[1]["k"][0].tolist() == [1.0, 1.0]
    assert there.varied[0] is there.inputs[0]
    assert x.array.all()


def test_what_forward_changes_is_put_back():
    x = t(3)
    before = x.array.copy()
    case = Case(Writes, x)
    assert np.array_equal(x.array, before)
    case.values()
    assert case.restored() == ("x",)
    assert np.array_equal(x.array, before)
    assert case.restored() == ()


def test_only_warnings_about_gradients_are_kept():
    def f(x):
        warnings.warn("of the gradient", GradientWarning, stacklevel=1)
        warnings.warn("mine", UserWarning, stacklevel=1)
        return x * 2

    with pytest.warns(UserWarning, match="mine"):
        case = Case(f, t(3))
    assert [*map(str, case.warnings)] == ["of the gradient"]


def test_rows_and_columns_of_complex_numbers():
    case = Case(lambda z: (z * 2, z.abs()), t(2, dtype=gradwright.complex128))
    assert [p.size for p in case.rows] == [4]
    assert [(p.name, p.start, p.size) for p in case.columns] == [("out[0]", 0, 4), ("out[1]", 4, 2)]
    assert case.columns[0].at(3) == ("imaginary", (1,))
    assert case.columns[1].at(5) == ("", (1,))
