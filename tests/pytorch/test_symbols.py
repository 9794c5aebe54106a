"""Sizes are numbers, and what PyTorch's compiler asks of them."""

import pytest

import gradwright as gw


def test_no_number_is_unknown():
    for kind in (gw.SymInt, gw.SymFloat, gw.SymBool):
        assert not isinstance(gw.ones(2).shape[0], kind)
        with pytest.raises(TypeError, match="gradwright's sizes are numbers"):
            kind(1)


def test_arithmetic_of_sizes(torch):
    for library in (gw, torch):
        assert library.sym_max(2, 3) == 3
        assert library.sym_min(2, 3) == 2
        assert library.sym_int(2.5) == 2
        assert library.sym_float(2) == 2.0
        assert library.sym_not(0)
        assert library.sym_ite(True, 1, 2) == 1
        assert library.sym_sqrt(9) == 3.0
        assert library.sym_sum([1, 2, 3]) == 6


def test_cond_takes_one_way_and_has_its_derivative():
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    for sign, factor in ((1.0, 3.0), (-1.0, 5.0)):
        y = gw.cond((x.sum() * sign) > 0, lambda x: 3 * x, lambda x: 5 * x, (x,))
        assert gw.autograd.grad(y.sum(), x)[0].tolist() == [factor, factor]


def test_while_loop_carries_on():
    n, x = gw.while_loop(lambda n, x: n < 3, lambda n, x: (n + 1, x * 2), (0, gw.ones(1)))
    assert (n, x.item()) == (3, 8.0)
    with pytest.raises(RuntimeError, match="as many values as it gets, 1, but returned 2"):
        gw.while_loop(lambda n: n < 3, lambda n: (n, n), (0,))
    with pytest.raises(RuntimeError, match="must be a tuple or list"):
        gw.while_loop(lambda n: False, lambda n: n, 0)
