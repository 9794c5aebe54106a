"""The project's own exceptions, and how messages write shapes and types."""

import pytest

import gradwright
from gradwright import errors


def test_the_tree():
    assert issubclass(gradwright.GradcheckError, RuntimeError)
    assert issubclass(gradwright.GradientWarning, UserWarning)
    assert gradwright.autograd.GradcheckError is gradwright.GradcheckError


def test_out_of_memory_can_be_named():
    assert gradwright.cuda.OutOfMemoryError is gradwright.OutOfMemoryError
    assert issubclass(gradwright.OutOfMemoryError, RuntimeError)

    def careful():
        try:
            raise ValueError("mine")
        except gradwright.cuda.OutOfMemoryError:
            return

    with pytest.raises(ValueError, match="mine"):
        careful()


@pytest.mark.parametrize(("shape", "text"), [((), "[]"), ((3,), "[3]"), ((2, 3), "[2, 3]"), ((0, 1), "[0, 1]")])
def test_shapes(shape, text):
    assert errors.size(shape) == text
    assert errors.size(gradwright.Size(shape)) == text


def test_kinds():
    assert errors.kind(1) == "int"
    assert errors.kind(None) == "NoneType"
    assert errors.kind(gradwright.ones(1)) == "Tensor"
