"""Operations by namespace."""

import pytest

import gradwright as gw
from gradwright.pytorch import library, ops


def test_operations_are_found_by_namespace():
    @library.custom_op("ops_test::double", mutates_args=())
    def double(x: gw.Tensor) -> gw.Tensor:
        return 2 * x

    assert ops.ops_test.double(gw.ones(2)).tolist() == [2.0, 2.0]


def test_the_rest_says_that_it_is_not_here():
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.ops\.torchvision\.nms yet"):
        ops.torchvision.nms(1)
    with pytest.raises(AttributeError, match=r"^gradwright has no torch\.ops\.load_library yet: it is a library of"):
        ops.load_library("x.so")
    assert not hasattr(ops, "__wrapped__")
