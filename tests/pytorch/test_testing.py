"""Whether values are close: PyTorch's answer."""

import math

import numpy as np
import pytest

import gradwright as gw
from gradwright.pytorch import testing

CASES = {
    "equal": lambda t: (t.ones(2), t.ones(2)),
    "within float32": lambda t: (t.ones(2), t.ones(2) + 1e-6),
    "not within float32": lambda t: (t.ones(2), t.ones(2) + 1e-4),
    "not within float64": lambda t: (t.ones(2, dtype=t.float64), t.ones(2, dtype=t.float64) + 1e-6),
    "shapes": lambda t: (t.ones(2), t.ones(2, 1)),
    "dtypes": lambda t: (t.ones(2), t.ones(2, dtype=t.float64)),
    "numbers": lambda t: (1.0, 1.0 + 1e-9),
    "other numbers": lambda t: (1.0, 1.1),
    "whole numbers": lambda t: (t.tensor([1, 2]), t.tensor([1, 3])),
    "lists": lambda t: ([t.ones(1), 2], [t.ones(1), 2]),
    "lists of other lengths": lambda t: ([1], [1, 2]),
    "mappings": lambda t: ({"a": t.ones(1)}, {"a": t.zeros(1)}),
    "other keys": lambda t: ({"a": 1}, {"b": 1}),
    "nan": lambda t: (t.tensor(float("nan")), t.tensor(float("nan"))),
    "inf": lambda t: (t.tensor(float("inf")), t.tensor(float("inf"))),
    "complex": lambda t: (t.tensor([1j]), t.tensor([1j + 1e-7])),
    "bool": lambda t: (t.tensor([True]), t.tensor([False])),
    "empty": lambda t: (t.ones(0), t.ones(0)),
    "arrays": lambda t: (np.ones(2), np.ones(2)),
    "larger Python numbers": lambda t: (2**70, 2**70 + 1),
    "the ends of int64": lambda t: (t.tensor([-(2**63)]), t.tensor([2**63 - 1])),
    "a tensor and an array": lambda t: (t.ones(2, dtype=t.float64), np.ones(2)),
    "a tensor and a number": lambda t: (t.tensor(1.0), 1.0),
    "a tensor and a list": lambda t: (t.ones(1), [1.0]),
    "a mapping and a list": lambda t: ({"a": 1}, [1]),
    "strings": lambda t: ("a", "a"),
    "none": lambda t: ([None], [None]),
    "none and a number": lambda t: (None, 1),
    "numbers of other types": lambda t: (1, 1.0),
    "numbers of NumPy": lambda t: (np.float64(1.0), 1.0),
    "not a number": lambda t: (math.nan, math.nan),
    "infinite numbers": lambda t: (math.inf, -math.inf),
    "a parameter": lambda t: (t.nn.Parameter(t.ones(2)), t.ones(2)),
    "sparse": lambda t: (t.eye(2).to_sparse(), t.eye(2).to_sparse()),
    "sparse and dense": lambda t: (t.eye(2).to_sparse(), t.eye(2)),
}


def verdict(module, case, t, **options):
    try:
        module.assert_close(*case(t), **options)
    except (AssertionError, TypeError) as e:
        return type(e)
    return None


@pytest.mark.parametrize("options", [{}, {"rtol": 0.0, "atol": 1e-3}, {"equal_nan": True}, {"check_dtype": False},
                                     {"check_layout": False}, {"allow_subclasses": False}], ids=str)  # fmt: skip
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_verdict_is_pytorchs(torch, case, options):
    assert verdict(testing, case, gw, **options) is verdict(torch.testing, case, torch, **options)


def test_what_is_said():
    with pytest.raises(AssertionError, match=r"(?s)^Tensor-likes are not close!.*Mismatched elements: 1 / 2 \(50.0%\)"):
        testing.assert_close(gw.ones(2), gw.tensor([1.0, 2.0]))
    with pytest.raises(AssertionError, match=r"(?s)The failure occurred for item \['a'\]\[1\]"):
        testing.assert_close({"a": [1, 2]}, {"a": [1, 3]})
    with pytest.raises(AssertionError, match=r"^mine$"):
        testing.assert_close(1, 2, msg="mine")
    with pytest.raises(AssertionError, match=r"^mine: Scalars"):
        testing.assert_close(1, 2, msg=lambda wrong: f"mine: {wrong}")
    with pytest.raises(ValueError, match="rtol and atol must both be specified"):
        testing.assert_close(1, 1, rtol=1)
    with pytest.raises(AssertionError, match="stride"):
        testing.assert_close(gw.ones(2, 3), gw.ones(3, 2).t(), check_stride=True)
    testing.assert_allclose(gw.ones(1), gw.ones(1, dtype=gw.float64))


def test_the_difference_of_whole_numbers_is_theirs():
    for options in ({}, {"rtol": 0, "atol": 0.5}):
        with pytest.raises(AssertionError, match=r"Greatest absolute difference: 1 \("):
            testing.assert_close(gw.tensor([2**53]), gw.tensor([2**53 + 1]), **options)
    with pytest.raises(AssertionError, match=r"Greatest absolute difference: 18446744073709551615 \("):
        testing.assert_close(gw.tensor([2**63 - 1]), gw.tensor([-(2**63)]))
    with pytest.raises(AssertionError, match=r"Expected 9007199254740993 but got 9007199254740992\.\nAbs.*: 1 \("):
        testing.assert_close(2**53, 2**53 + 1)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool", "complex64"])
def test_made_tensors(dtype):
    x = testing.make_tensor((3, 4), dtype=getattr(gw, dtype), low=0, high=2)
    assert x.shape == (3, 4)
    assert x.dtype is getattr(gw, dtype)
    y = testing.make_tensor(2, 3, dtype=gw.float32, requires_grad=True, noncontiguous=True, exclude_zero=True)
    assert y.requires_grad
    assert not y.is_contiguous()
    assert (y != 0).all()


def test_it_is_where_pytorch_has_it():
    assert gw.testing.assert_close is testing.assert_close
    assert {"assert_close", "make_tensor", "check_derivatives"} <= set(dir(gw.testing))
