"""Inputs, outputs and vectors as derivatives of functions take them."""

import pytest

import gradwright
from gradwright.transform import given_tensors


def test_inputs_with_a_history_keep_it_if_that_is_wanted():
    x = gradwright.ones(2, requires_grad=True)
    y = gradwright.ones(2)
    many, (held, fresh) = given_tensors.inputs_of((x * 2, y), "f", True)
    assert many
    assert held.grad_fn is not None
    assert fresh.is_leaf
    assert fresh.requires_grad
    many, (cut,) = given_tensors.inputs_of(x * 2, "f", False)
    assert not many
    assert cut.is_leaf
    assert not y.requires_grad


def test_an_inference_tensor_may_be_differentiated_by():
    with gradwright.inference_mode():
        x = gradwright.ones(2)
    _, (held,) = given_tensors.inputs_of(x, "f", False)
    assert held.requires_grad
    assert not held.is_inference()


def test_vectors_fit():
    x = gradwright.ones(2, 3)
    assert given_tensors.tangent(None, (gradwright.ones(1, 1),), False, "f", False) is None
    assert len(given_tensors.vector((x, x), (x, x), True, "f", False)) == 2
    with pytest.raises(RuntimeError, match=r"Entry 1 in v has invalid size: should be .*\[2, 3\]\) but got .*\[3\]\)"):
        given_tensors.vector((x, x[0]), (x, x), True, "f", False)
    with pytest.raises(RuntimeError, match="v is a tuple of invalid length: should be 2 but got 1"):
        given_tensors.vector(x, (x, x), True, "f", False)


def test_what_is_missing_is_zeros_of_that_dtype():
    x = gradwright.ones(2, dtype=gradwright.float64)
    (found,) = given_tensors.filled((None,), (x,), False, True, "back")
    assert (found.dtype, found.tolist()) == (gradwright.float64, [0, 0])


@pytest.mark.parametrize(("stage", "words"), [
    ("back", "The output of the user-provided function is independent of input 0"),
    ("back_trick", "entry 0 in the grad_outputs"),
    ("double_back", "The jacobian of the user-provided function is independent of input 0"),
    ("double_back_trick", "entry 0 in the grad_jacobian"),
])  # fmt: skip
def test_strict_says_what_is_missing(stage, words):
    x = gradwright.ones(2)
    with pytest.raises(RuntimeError, match=words):
        given_tensors.filled((None,), (x,), True, False, stage)
    what = "hessian" if "double" in stage else "jacobian"
    with pytest.raises(RuntimeError, match=f"The {what} of .* independent of input 0.* when create_graph=True"):
        given_tensors.filled((x,), (x,), True, True, stage)
