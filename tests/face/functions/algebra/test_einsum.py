import importlib.util
import sys
from typing import Any

import numpy as np
import pytest

import gradwright


def numbers(*shape: int) -> Any:
    return np.random.standard_normal(shape)


LISTS: dict[str, Any] = {
    "matrices": lambda t, x, y: t.einsum(x, [0, 1], y, [1, 2], [0, 2]),
    "no result": lambda t, x, y: t.einsum(x, [30, 1], y, [1, 2]),
    "dots": lambda t, x, y: t.einsum(x, [..., 1], y, [1, 2], [..., 2]),
}


@pytest.mark.parametrize("name", LISTS)
def test_lists_of_numbers(same: Any, name: str) -> None:
    same(LISTS[name], numbers(2, 3), numbers(3, 4), names=False)


def test_numbers_out_of_range(same: Any) -> None:
    same(lambda t, x: t.einsum(x, [0, 52]), numbers(2, 3), names=False)


@pytest.mark.parametrize("installed", [True, False])
def test_many_operands(same: Any, installed: bool, monkeypatch: Any) -> None:
    if not installed:
        monkeypatch.setitem(sys.modules, "opt_einsum", None)
    elif importlib.util.find_spec("opt_einsum") is None:
        pytest.skip("opt_einsum is not installed")
    xs = [numbers(*s) for s in ((2, 3), (3, 4), (4, 5), (5, 2), (2,))]
    same(lambda t, *xs: t.einsum("ij,jk,kl,lm,i->m", *xs), *xs, names=False)
    same(lambda t, *xs: t.einsum("ij,jk,kl,li,i->", *xs), *xs, names=False)


@pytest.mark.parametrize("equation", ["ij,jk->ik", "bij,bkj->bik", "ijb,jkb->kbi"])
def test_large(equation: str) -> None:
    sizes = dict(zip("bijk", (3, 20, 30, 40), strict=True))
    xs = [numbers(*(sizes[c] for c in t)) for t in equation.split("->", maxsplit=1)[0].split(",")]
    out = gradwright.einsum(equation, *map(gradwright.tensor, xs))
    np.testing.assert_allclose(out.numpy(), np.einsum(equation, *xs), atol=1e-10)


def test_an_operand_may_be_written_if_only_its_own_gradient_is_wanted(torch: Any) -> None:
    def slope(t: Any) -> Any:
        weights = t.tensor([[0.5, 2.0], [3.0, 1.0]])
        x = t.tensor([1.0, 2.0], requires_grad=True)
        stages = x.new_empty(3, 2)
        stages[0] = x
        for i in (1, 2):
            stages[i] = t.einsum("j,jf->f", weights[i - 1, :i], stages[:i]) ** 2
        return t.autograd.grad(stages.sum(), x, create_graph=False)[0].tolist()

    assert slope(gradwright) == pytest.approx(slope(torch), rel=1e-6)


@pytest.mark.parametrize("written", [0, 1])
def test_an_operand_that_a_derivative_needs_must_not_be_written(torch: Any, written: int) -> None:
    for t in (gradwright, torch):
        xs = [t.ones(2, requires_grad=True) * 1 for _ in range(2)]
        out = t.einsum("j,j->", *xs)
        xs[written] += 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.backward()
        xs = [t.ones(2), t.ones(2)]
        xs[1 - written].requires_grad_()
        out = t.einsum("j,j->", *xs)
        xs[written] += 1
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.backward()
