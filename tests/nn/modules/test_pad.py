"""Padding as modules."""

import pytest

import gradwright as gw
from tests.nn.module_cases import same


@pytest.mark.parametrize("kind", ["Reflection", "Replication", "Circular", "Zero", "Constant"])
def test_each_side(torch, kind):
    more = (7.5,) if kind == "Constant" else ()
    same(torch, f"{kind}Pad2d", ((1, 2, 0, 3), *more), {}, torch.randn(3, 4, 5, requires_grad=True))


def test_one_number_is_for_all_sides(lib):
    assert lib.nn.ZeroPad3d(2).padding == (2,) * 6


def test_errors(lib):
    with pytest.raises(ValueError, match=r"expected 2D or 3D input \(got 1D input\)"):
        lib.nn.CircularPad1d(1)(lib.ones(3))
    with pytest.raises(RuntimeError, match="Padding size should be less than the corresponding input dimension"):
        lib.nn.ReflectionPad1d(3)(lib.ones(1, 3))


def test_a_wrong_number_of_pads():
    with pytest.raises(RuntimeError, match="expected padding to be a single integer value or a list of 4 values"):
        gw.nn.ZeroPad2d((1, 2))
