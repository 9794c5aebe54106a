"""The quick way and the general one come to the same, to the bit: numbers, nodes, gradients, versions and views."""

from itertools import product
from typing import Any

import numpy as np
import pytest

import gradwright as gw
from gradwright.engine.apply import apply
from gradwright.engine.base import wrap
from gradwright.engine.general import general
from gradwright.op import op, table
from gradwright.ops import arithmetic, elementary, shape
from gradwright.testing import assert_close, draw

OPS = [name for name, op in table.items() if op.samples and not op.several and not op.variadic]


def outcome(run: Any, op: Any, sample: Any, dtype: Any) -> Any:
    """What one call comes to: values, dtype, node, version shared, and the gradients of its floating inputs."""
    arrays, static = draw(sample, dtype=dtype)
    tensors = [wrap(a) for a in arrays]
    for t in tensors:
        if op.rules and t.array.dtype.kind in "fc":
            t.requires_grad_()
    out = run(op, tensors, op.defaults | static)
    found = [np.asarray(out.array), out._version, out._view is not None, out.grad_fn and out.grad_fn.name()]
    if out.requires_grad:
        try:
            out.backward(gw.ones_like(out))
        except NotImplementedError as e:
            return [*found, str(e)]
        found += [None if t.grad is None else np.asarray(t.grad.array) for t in tensors if t.requires_grad]
    return found


@pytest.mark.parametrize("name", OPS)
def test_the_quick_way_comes_to_the_same(name: str) -> None:
    op = table[name]
    for sample, dtype in product(op.samples, ["float32", "float64"]):
        for quick, slow in zip(outcome(apply, op, sample, dtype), outcome(general, op, sample, dtype), strict=True):
            np.testing.assert_array_equal(quick, slow)
            if isinstance(quick, np.ndarray):
                assert quick.dtype == slow.dtype


@pytest.mark.parametrize("mode", [gw.no_grad, gw.inference_mode])
def test_so_do_modes_that_do_not_record(mode: Any) -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    with mode():
        for out in (x * 2.0, x.exp(), x.sum(), x @ x):
            assert not out.requires_grad
            assert out.is_inference() == (mode is gw.inference_mode)


def test_halves_are_computed_in_single_unless_they_are_only_moved() -> None:
    x = gw.tensor([1.0, 2.0], dtype=gw.float16, requires_grad=True)
    assert [n[0].name() for n in general(elementary.exp, (x,), {}).grad_fn.next_functions] == ["ExpBackward0"]
    assert general(shape.copy, (x,), {}).grad_fn.name() == "CloneBackward0"
    assert type(general(shape.stack, (x, x), {"axis": 0}).grad_fn.next_functions[0][0]).__name__ == "AccumulateGrad"


def test_an_operation_of_ones_own_may_say_that_it_moves() -> None:
    @gw.op(kind="linear", moves=True)
    def backwards(xp: Any, x: Any) -> Any:
        return xp.flip(x, axis=0)

    backwards.vjp(x=lambda xp, g: xp.flip(g, axis=0))
    x = gw.tensor([1.0, 2.0], dtype=gw.float16, requires_grad=True)
    assert backwards(x).grad_fn.name() == "BackwardsBackward0"
    assert backwards(x).tolist() == [2, 1]


def test_a_failed_formula_says_what_it_was_given() -> None:
    with pytest.raises(RuntimeError, match=r"must match the size of tensor b \(7\) at non-singleton dimension 0"):
        general(arithmetic.add, (gw.ones(2), gw.ones(7)), {})
    with pytest.raises(RuntimeError, match=r"reshape\(\).*called with float32 \[2\], shape=\(5,\)"):
        general(shape.reshape, (gw.ones(2),), {"shape": (5,)})
    with pytest.raises(IndexError, match=r"^x\[1:, tensor\]: index 5 is out of bounds for axis 1 with size 3"):
        gw.ones(3, 3)[1:, gw.tensor([5])]
    with pytest.raises(IndexError, match=r"^x\[5\]: index 5 is out of bounds"):
        gw.ones(3)[5]
    with pytest.raises(TypeError, match=r"exp\(\): expected a Tensor, but got str"):
        general(elementary.exp, ("x",), {})


def test_the_error_of_a_failed_formula_stands_alone_unless_the_formula_is_the_users() -> None:
    @op(kind="elementwise")
    def refuses(xp, x):
        raise ValueError("not today")

    with pytest.raises(RuntimeError) as own:
        gw.ones(2) + gw.ones(7)
    assert own.value.__suppress_context__
    assert own.value.__cause__ is None
    with pytest.raises(RuntimeError, match="not today") as users:
        refuses(gw.ones(2))
    assert isinstance(users.value.__cause__, ValueError)


@pytest.mark.parametrize("kind", [list, tuple])
def test_several_results_come_as_a_list_or_a_tuple(kind: type) -> None:
    @op(kind="general", several=True)
    def two(xp, x):
        return kind([xp.sin(x), xp.cos(x)])

    two.vjp(x=lambda xp, g, x: g[0] * xp.cos(x) - g[1] * xp.sin(x))
    x = gw.tensor([[0.5, 1.0], [2.0, 3.0]], requires_grad=True)
    sin, cos = two(x.t())
    assert_close(sin, gw.tensor(np.sin(x.detach().numpy().T)))
    (2 * sin + 3 * cos).sum().backward()
    assert_close(x.grad, gw.tensor(2 * np.cos(x.detach().numpy()) - 3 * np.sin(x.detach().numpy())))


def test_numpy_told_to_raise_raises_in_the_users_own_code_alone() -> None:
    with np.errstate(all="raise"):
        assert (gw.ones(1) / gw.zeros(1)).item() == np.inf
        assert gw.zeros(1).log().item() == -np.inf
        assert (gw.ones(1) / 0.0).item() == np.inf
