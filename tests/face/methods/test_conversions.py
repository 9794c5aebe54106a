"""Conversions named after dtypes, with PyTorch's dtypes."""

import pytest

import gradwright as gw

NAMES = ["float", "double", "half", "long", "int", "short", "char", "byte", "bool", "cfloat", "cdouble"]


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_pytorchs(name, torch):
    expected = getattr(torch.tensor([0.0, 1.0, 2.5]), name)()
    found = getattr(gw.tensor([0.0, 1.0, 2.5]), name)()
    assert str(found.dtype) == str(expected.dtype)
    assert found.tolist() == expected.tolist()


def test_history_and_memory_format():
    x = gw.ones(2, 3, 4, 5, requires_grad=True)
    y = x.double(memory_format=gw.channels_last)
    assert y.is_contiguous(memory_format=gw.channels_last)
    y.sum().backward()
    assert x.grad.dtype is gw.float32
    assert x.grad.tolist() == gw.ones(2, 3, 4, 5).tolist()
