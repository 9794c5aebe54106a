"""What a backward that was not recorded has left on ctx is no constant to one that is."""

import math

import pytest

import gradwright as gw
from gradwright.autograd import grad
from gradwright.engine.strict import strict
from gradwright.errors import GradientWarning
from tests.functions import unnamed


def saves(ctx, x):
    ctx.save_for_backward(x)
    return x.exp()


def keeps_an_intermediate(ctx, x):
    ctx.half = x / 2
    return saves(ctx, x)


def if_it_is_not_there(ctx, g):
    if not hasattr(ctx, "slope"):
        ctx.slope = ctx.saved_tensors[0].exp()
    return g * ctx.slope


def declares(ctx, x):
    ctx.slope, ctx.many, ctx.calls = None, None, 0
    return saves(ctx, x)


def if_it_is_none(ctx, g):
    ctx.calls += 1
    if ctx.slope is None:
        ctx.slope = ctx.saved_tensors[0].exp()
        ctx.many = {"slope": [ctx.slope]}
    return g * ctx.many["slope"][0]


CACHES = {
    "a new attribute": (saves, if_it_is_not_there),
    "beside an intermediate": (keeps_an_intermediate, if_it_is_not_there),
    "an attribute of forward": (declares, if_it_is_none),
}


def second(F, passes, **options):
    """The gradient of exp(x)**2 / 2 and its derivative, after passes that are not recorded."""
    x = gw.tensor([0.5, -1.0], dtype=gw.float64, requires_grad=True)
    y = F.apply(x)
    for _ in range(passes):
        y.sum().backward(retain_graph=True)
    (g,) = grad((y * y).sum() / 2, x, create_graph=True)
    return y, g, x


@pytest.mark.parametrize("passes", [0, 1, 2])
@pytest.mark.parametrize("how", CACHES)
def test_it_is_computed_anew(how, passes):
    y, g, x = second(unnamed(*CACHES[how]), passes)
    kept = getattr(y.grad_fn, "slope", None)  # if forward ran again, it had a ctx of its own
    with strict(True):
        assert g.tolist() == pytest.approx([math.exp(1), math.exp(-2)], rel=1e-14)
        assert grad(g.sum(), x, retain_graph=True)[0].tolist() == pytest.approx([2 * math.exp(1), 2 * math.exp(-2)])
    x.grad = None
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx(y.tolist())
    assert kept is None or y.grad_fn.slope is kept


def test_what_is_not_set_anew_is_put_back():
    def backward(ctx, g):
        if not gw.is_grad_enabled():
            ctx.seen = g * 2
        return g * ctx.saved_tensors[0].exp()

    y, _, _ = second(unnamed(saves, backward), 1)
    assert y.grad_fn.seen.tolist() == [2, 2]


def test_numbers_stay():
    y, _, _ = second(unnamed(*CACHES["an attribute of forward"]), 3)
    assert y.grad_fn.calls == 4


@pytest.mark.parametrize("beside", [False, True])
def test_what_was_put_into_a_dictionary_of_forwards_is_warned_of(beside):
    def forward(ctx, x):
        ctx.many = {"x": x * 1} if beside else {}
        return saves(ctx, x)

    def backward(ctx, g):
        if "slope" not in ctx.many:
            ctx.many["slope"] = ctx.saved_tensors[0].exp()
        return g * ctx.many["slope"]

    F = unnamed(forward, backward)
    _, g, x = second(F, 0)
    assert grad(g.sum(), x)[0].tolist() == pytest.approx([2 * math.exp(1), 2 * math.exp(-2)])
    _, g, x = second(F, 1)
    if beside:  # forward has run again, and has made another
        assert grad(g.sum(), x)[0].tolist() == pytest.approx([2 * math.exp(1), 2 * math.exp(-2)])
        return
    with pytest.warns(GradientWarning, match=r"uses \"ctx.many\['slope'\]\", which an earlier backward has left"):
        grad(g.sum(), x, retain_graph=True)
    with strict(True), pytest.raises(RuntimeError, match="this second derivative misses"):
        grad(g.sum(), x)


def test_what_lies_in_a_dictionary_is_as_it_was_after_a_recorded_backward():
    def forward(ctx, x):
        ctx.many = {}
        return saves(ctx, x)

    def backward(ctx, g):
        if "slope" not in ctx.many:
            ctx.many["slope"] = ctx.saved_tensors[0].exp()
        return g * ctx.many["slope"]

    y, _, _ = second(unnamed(forward, backward), 1)
    kept = y.grad_fn.many["slope"]
    assert not kept.requires_grad
    assert kept.grad_fn is None
    with strict(True):  # and it is a number to whoever uses it
        w = gw.tensor([1.0, 2.0], dtype=gw.float64, requires_grad=True)
        assert grad((kept * w * w).sum(), w)[0].tolist() == pytest.approx((2 * kept * w).tolist())


def test_what_a_recorded_backward_sets_anew_stays():
    def backward(ctx, g):
        ctx.scale = 2 if gw.is_grad_enabled() else gw.ones(2)
        return g * ctx.saved_tensors[0].exp()

    y, _, _ = second(unnamed(saves, backward), 1)
    assert y.grad_fn.scale == 2
