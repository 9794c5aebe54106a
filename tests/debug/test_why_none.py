"""`why_none` names the true reason, and the line, in each of the ways in which a tensor stays without gradient."""

import inspect

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import Function, custom_op, detect_anomaly, grad, why_none
from gradwright.function.contract.surrogate import surrogate


def leaf(*values):
    return gw.tensor(values or (1.0, 2.0), dtype=gw.float64, requires_grad=True)


def marked(why):
    """Whether the place is a line of this file marked with ``# here``."""
    return why.place is not None and why.place.startswith(__file__) and "# here" in why.place


class Double(Function):
    @staticmethod
    def forward(ctx, x, y=None):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2, None


# ---- of the tensor alone ---------------------------------------------------------------------------------


def frozen():
    x = leaf()
    x.requires_grad_(False)
    return x


def kept():
    x = leaf()
    x.sum().backward()
    return x


@pytest.mark.parametrize(
    ("make", "reason"),
    [
        (kept, "has a gradient"),
        (lambda: leaf() * 2, "not a leaf"),
        (lambda: gw.arange(3), "whole numbers"),
        (lambda: gw.ones(3), "requires_grad is False"),
        (lambda: leaf().detach(), "requires_grad is False"),
        (frozen, "frozen"),
        (leaf, "unknown"),
    ],
)
def test_what_the_tensor_tells(make, reason):
    found = why_none(make())
    assert found.reason == reason
    assert found.certain is (reason != "unknown")
    assert found.sentence in str(found)
    assert found.mend in str(found)


@pytest.mark.parametrize("given", ["graph", "program"])
@pytest.mark.parametrize(
    ("compute", "reason"),
    [
        (lambda x: (x * 2).detach() * leaf(), "detach()"),
        (lambda x: x.detach() * leaf(), "detach()"),
        (lambda x: leaf() * 2, "not used"),
        (lambda x: Double.apply(leaf(), x), "returned None"),
        (lambda x: x * 2, "has a gradient"),
    ],
)
def test_the_gradient_of_an_earlier_pass_does_not_answer_for_another_output(compute, reason, given):
    """What is said of an output is the same for a tensor that has a gradient and for one that has none."""
    fresh, stale = leaf(), kept()
    output = {"graph": lambda x: compute(x).sum(), "program": lambda x: lambda: compute(x).sum()}[given]
    before, after = why_none(fresh, output(fresh)), why_none(stale, output(stale))
    assert before.reason == ("never run" if reason == "has a gradient" else after.reason)
    if given == "program":
        assert after.reason == reason
    assert stale.grad.tolist() == [1.0, 1.0]


def test_a_frozen_tensor_with_an_old_gradient():
    x = kept().requires_grad_(False)
    assert why_none(x).reason == "has a gradient"
    assert why_none(x, lambda: x * leaf()).reason == "frozen"


def test_the_line_of_a_result_is_known_under_anomaly_mode():
    with detect_anomaly():
        y = leaf() * 2  # here
    assert marked(why_none(y))
    assert "MulBackward0" in str(why_none(y))


def test_a_result_that_is_retained_is_looked_at_as_a_leaf_is():
    y = leaf() * 2
    y.retain_grad()
    assert why_none(y, y.sum()).reason == "never run"
    assert why_none(y, y.detach() * leaf()).reason == "detach()"


# ---- of a graph ------------------------------------------------------------------------------------------


def test_of_a_graph_that_leads_to_it():
    x = leaf()
    y = (x * 2).sum()
    found = why_none(x, y)
    assert (found.reason, found.certain) == ("never run", False)
    assert found.sentence.startswith("nothing is wrong on the way: when backward is run on this output, it gets a")
    assert "when backward is run on what the function returns" in str(why_none(x, lambda: (x * 2).sum()))
    assert x.grad is None
    y.backward()
    assert why_none(x, y).reason == "has a gradient"
    x.grad = None
    assert why_none(x, y).reason == "cleared"
    assert not why_none(x, y).certain


def test_of_a_graph_whose_function_returned_none():
    y = leaf()
    found = why_none(y, Double.apply(leaf(), y).sum())
    assert found.reason == "returned None"
    assert found.sentence == "DoubleBackward returned None for 'y', which says that nothing depends on it"
    line = inspect.getsourcelines(Double.backward)[1]
    assert found.mend.endswith(f"return the gradient ({__file__}:{line}, in Double.backward)")


def test_of_an_operation_that_declares_that_there_is_none():
    @gw.custom_op
    def first(x, y):
        return gw.from_numpy(x.numpy())

    first.vjp(x=lambda xp, g: g, y=None)
    y = leaf()
    found = why_none(y, first(leaf(), y).sum())
    assert f"declare its derivative: first.vjp(y=...) ({__file__}:" in found.mend


def test_only_what_is_on_the_way_to_it_is_blamed():
    class Neither(Double):
        @staticmethod
        def backward(ctx, g):
            return None, None

    x, z = leaf(), leaf()
    found = why_none(x, Neither.apply(x * 3, z).sum())
    assert "NeitherBackward returned None for 'x'" in str(found)


def test_of_a_graph_that_does_not_lead_to_it():
    x, w = leaf(), leaf()
    assert why_none(x, (w * 2).sum()).reason == "no path"
    assert why_none(x, (x * 2).sum().detach()).reason == "no path"
    assert why_none(x, [(x.detach() * w).sum()]).reason == "detach()"
    assert why_none(x, x.detach().requires_grad_() ** 2).reason == "detach()"
    with detect_anomaly():
        y = x.data * w  # here
    assert marked(why_none(x, y))


def test_a_hook_that_drops_it():
    x = leaf()
    y = x * 2
    y.grad_fn.register_hook(lambda grad_inputs, grad_outputs: (None, None))
    found = why_none(x, y.sum())
    assert found.reason == "returned None"


# ---- of a program ----------------------------------------------------------------------------------------


def detached(x, w):
    y = x * 2
    z = y.detach()  # here
    return (z * w).sum()


def data(x, w):
    y = x.data  # here
    return (y * w).sum()


def unrecorded(x, w):
    with gw.no_grad():
        y = x.exp()  # here
    return (y * w).sum()


def through_numpy(x, w):
    y = np.exp(x.detach().numpy())  # here
    return (gw.from_numpy(y) * w).sum()


def numpy_of_a_result(x, w):
    y = x * 3
    a = y.numpy(force=True)  # here
    return (gw.tensor(a * 2) * w).sum()


def item(x, w):
    k = x.sum().item()  # here
    return (w * k).sum()


def whole(x, w):
    k = x.long()  # here
    return (k.double() * w).sum()


def compared(x, w):
    mask = x > 1.5  # here
    return (mask.double() * w).sum()


def indexed(x, w):
    i = x.argmax()  # here
    return w[i]


def captured(x, w):
    class F(Function):
        @staticmethod
        def forward(ctx, v):
            return v * x  # here

        @staticmethod
        def backward(ctx, g):
            return g

    return F.apply(w).sum()


def inferred(x, w):
    with gw.inference_mode():
        y = x * 2  # here
    return (w * y.clone()).sum()


def none_returned(x, w):
    y = Double.apply(w, x)  # here
    return y.sum()


def declared(x, w):
    @surrogate("the mask is meant to be constant")
    class Mask(Function):
        @staticmethod
        def forward(ctx, v, mask):
            ctx.save_for_backward(mask)
            return v * mask

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    return Mask.apply(w, x).sum()  # here


def declared_of_an_op(x, w):
    op = custom_op(lambda v, u: v * u).vjp(v=lambda xp, g, u: g * u, u=None)
    return op(w, x).sum()  # here


PROGRAMS = {
    detached: "detach()", data: ".data", unrecorded: "no_grad()", through_numpy: "detach()",
    numpy_of_a_result: "numpy()", item: "item()", whole: "whole numbers", compared: "whole numbers",
    indexed: "whole numbers", captured: "captured", inferred: "not recorded", none_returned: "returned None",
    declared: "surrogate", declared_of_an_op: "returned None",
}  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_line_where_the_way_breaks(program):
    x, w = leaf(), leaf()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.showwarning", lambda *a, **k: None)
        found = why_none(x, lambda: program(x, w))
    assert found.reason == PROGRAMS[program]
    assert marked(found), found.place
    lines, start = inspect.getsourcelines(program)
    assert int(found.place.split(":")[1]) - start == next(k for k, s in enumerate(lines) if "# here" in s)
    assert x.grad is None
    assert w.grad is None


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_it_is_true_that_there_is_no_gradient(program):
    if program is captured:
        pytest.skip("warns of that by itself")
    x, w = leaf(), leaf()
    program(x, w).backward()
    assert x.grad is None
    assert w.grad is not None


def test_a_program_with_a_way_besides():
    x = leaf()
    found = why_none(x, lambda: (x.detach() * x).sum())
    assert found.reason == "never run"


def test_a_program_that_does_not_use_it():
    x, w = leaf(), leaf()
    assert why_none(x, lambda: (w * 2).sum()).reason == "not used"
    assert why_none(x, lambda: (w * x.clone().detach().clone()).sum()).reason == "detach()"


def test_several_cuts_are_counted():
    x, w = leaf(), leaf()

    def program():
        return (x.detach() * w).sum() + (x * 2).data.sum()

    found = why_none(x, program)
    assert "1 other places" in str(found)


def test_outputs_may_be_in_containers_and_the_tensor_in_arguments():
    x, w = leaf(), leaf()
    assert why_none(x, lambda: {"loss": [(x.detach() * w).sum()]}).reason == "detach()"


def test_gradients_off_is_a_reason():
    x = leaf()
    with gw.no_grad():
        assert why_none(x, lambda: x * 2).reason == "no_grad()"


def test_nothing_is_left_on():
    x = leaf()
    why_none(x, lambda: x.detach() * 2)
    assert not x.detach().requires_grad
    with pytest.raises(ZeroDivisionError):
        why_none(x, lambda: 1 / 0)
    assert not x.detach().requires_grad
    assert gw.is_grad_enabled()


@pytest.mark.parametrize("output", [3, "text", [], lambda: None])
def test_an_output_must_have_a_tensor(output):
    with pytest.raises(TypeError, match="why_none"):
        why_none(leaf(), output)


def test_only_tensors_have_gradients():
    with pytest.raises(TypeError, match="why_none: expected a Tensor, but got int"):
        why_none(3)


# ---- after a pass ----------------------------------------------------------------------------------------


class OnlyAsked(Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * 2 + y * 3

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.needs_input_grad
        return g * 2 if x else None, g * 3 if y else None


def test_after_a_pass_what_returned_none_is_named_whatever_lies_between():
    for make in (lambda y: y, lambda y: y * 2, lambda y: (y * 2).split(1)[0]):
        y = leaf()
        out = Double.apply(leaf(), make(y)).sum()
        before = why_none(y, out)
        out.backward()
        after = why_none(y, out)
        assert (after.reason, after.certain) == ("returned None", True)
        assert after.sentence == before.sentence


def test_after_a_pass_a_way_round_what_returned_none_counts():
    y = leaf()
    out = (Double.apply(leaf(), y) + y).sum()
    out.backward()
    y.grad = None
    assert why_none(y, out).reason == "cleared"


@pytest.mark.parametrize("compute", [OnlyAsked.apply, lambda x, y: x * 2 + y * 3, lambda x, y: (x * 2) * (y * 3)])
def test_after_a_pass_to_others(compute):
    x, y = leaf(), leaf()
    out = compute(x, y * 1).sum()
    grad(out, x)
    assert why_none(y, out).reason == "never run"
    assert why_none(x, out).reason == "cleared"


def test_after_a_pass_from_another_output_of_which_it_is_no_input():
    x, y = leaf(), leaf()
    h = x * 2
    h.sum().backward()
    found = why_none(y, (h * y).sum())
    assert (found.reason, found.certain) == ("never run", False)
    assert "another output" in found.sentence
