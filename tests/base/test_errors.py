"""The project's own exceptions, and how messages write shapes and types."""

import numpy as np
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


@pytest.mark.parametrize(("call", "mend"), [
    (lambda: gradwright.exp(2.0), r"must be Tensor, not float: gradwright.tensor\(\) makes one of it$"),
    (lambda: gradwright.cos([1.0]), r"must be Tensor, not list: gradwright.tensor\(\) makes one of it$"),
    (lambda: gradwright.nn.Linear(1, 1)(np.ones(1)), r"not ndarray: gradwright.from_numpy\(\) makes one of it"),
    (lambda: gradwright.exp(None), r"must be Tensor, not NoneType$"),
    (lambda: gradwright.from_numpy([1.0]), r"\(got list\): tensor\(\) takes numbers and lists of them"),
    (lambda: gradwright.tensor([1], requires_grad=True), r"but got torch.int64: write 1.0 for 1, or dtype=float32"),
    (lambda: gradwright.arange(3).mean(), r"Got: torch.int64; convert it with .float\(\), or say dtype=float32"),
    (lambda: bool(gradwright.ones(2)), r"ask any\(\) or all\(\) of one of size \[2\], or use where\(\)"),
    (lambda: gradwright.ones(3).item(), r"tolist\(\) gives all of size \[3\], x\[i\].item\(\) one"),
    (lambda: gradwright.ones(2, dtype=gradwright.int64).add_(0.5), r"convert the tensor that is written into first"),
])  # fmt: skip
def test_errors_say_the_mend(call, mend):
    with pytest.raises((TypeError, RuntimeError), match=mend):
        call()
