"""What nodes keep: names, values, and which are tensors."""

import pytest

import gradwright as gw
from gradwright.autograd.graph import saved_tensors_hooks
from gradwright.debug.saved_values import is_packed, packed, saved_values
from tests.functions import function


def remembers(ctx, x):
    ctx.save_for_backward(x)
    ctx.factor, ctx.whole = 2, x.detach()
    return x * 2


Remembers = function("Remembers", remembers, lambda ctx, g: g * ctx.factor)


@pytest.mark.parametrize(("compute", "names"), [
    (lambda x: x.exp(), {"out": True}),
    (lambda x: x * x.detach(), {"y": True}),
    (lambda x: x.sum(0), {"x_shape": False, "axis": False, "keepdims": False}),
    (lambda x: x.view(2, 1), {"x_shape": False}),
    (Remembers.apply, {0: True, 1: True, "factor": False, "ctx.whole": False}),  # 1: to run forward again
])  # fmt: skip
def test_names_and_which_are_tensors(compute, names):
    node = compute(gw.ones(2, requires_grad=True)).grad_fn
    assert {name: tensors for name, _, tensors in saved_values(node)} == names


def test_several_under_one_name_and_what_hooks_made_of_one():
    x = gw.ones(2, requires_grad=True)
    with saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
        hooked = x.exp()
    ((_, value, _),) = saved_values(hooked.grad_fn)
    assert list(packed(value)) == [value]
    ((_, value, _),) = saved_values(x.exp().grad_fn)
    assert is_packed(value)
    assert list(packed((value, None, (value,)))) == [value, value]
    assert list(packed(None)) == []
