"""Intermediates that forward leaves outside of ctx, for its backward to find: second derivatives are right."""

import math
import types
import weakref

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import grad, gradgradcheck
from gradwright.engine.strict import strict
from gradwright.errors import GradientWarning
from gradwright.function.watched.outside_ctx import of
from tests.functions import Function, leaf, unnamed

last = None
by_name = {}
counted = 0
KERNEL = gw.tensor([2.0, 3.0], dtype=gw.float64)


class OnTheClass(Function):
    """exp, which is kept where all calls share it."""

    def forward(ctx, x):
        OnTheClass.last = x.exp()
        return OnTheClass.last * 1

    def backward(ctx, g):
        return g * OnTheClass.last


class InADictionaryOfTheClass(Function):
    kept = {}

    def forward(ctx, x):
        InADictionaryOfTheClass.kept["e"] = [x.exp()]
        return InADictionaryOfTheClass.kept["e"][0] * 1

    def backward(ctx, g):
        return g * InADictionaryOfTheClass.kept["e"][0]


class Base:
    last = None


class InABaseClass(Function, Base):
    def forward(ctx, x):
        Base.last = x.exp()
        return Base.last * 1

    def backward(ctx, g):
        return g * InABaseClass.last


class InAGlobal(Function):
    def forward(ctx, x):
        global last  # noqa: PLW0603 - what is tested
        last = x.exp()
        return last * 1

    def backward(ctx, g):
        return g * last


class InAGlobalDictionary(Function):
    def forward(ctx, x):
        by_name["e"] = x.exp()
        return by_name["e"] * 1

    def backward(ctx, g):
        return g * by_name["e"]


def remember(name, value):
    setattr(Base, name, value)
    return value * 1


def remembered():
    return Base.last


class ByHelpers(Function):
    def forward(ctx, x):
        return remember("last", x.exp())

    def backward(ctx, g):
        return g * remembered()


class ByMethods(Function):
    @staticmethod
    def keep(value):
        ByMethods.last = value
        return value * 1

    @classmethod
    def load(cls):
        return cls.last

    def forward(ctx, x):
        return ByMethods.keep(x.exp())

    def backward(ctx, g):
        return g * ByMethods.load()


class WithSetup(Function):
    def forward(x):
        return x.exp()

    def setup_context(ctx, inputs, output):
        WithSetup.last = inputs[0].exp()

    def backward(ctx, g):
        return g * WithSetup.last


def in_a_list():
    stack = []

    def forward(ctx, x):
        stack.append(x.exp())
        return stack[-1] * 1

    return unnamed(forward, lambda ctx, g: g * stack.pop())


def in_a_variable_of_the_closure():
    kept = None

    def forward(ctx, x):
        nonlocal kept
        kept = x.exp()
        return kept * 1

    return unnamed(forward, lambda ctx, g: g * kept)


def in_an_object():
    space = types.SimpleNamespace()

    def forward(ctx, x):
        space.last = x.exp()
        return space.last * 1

    return unnamed(forward, lambda ctx, g: g * space.last)


def in_self():
    class Layer:
        def __init__(self):
            self.last = None

        def function(self):
            def forward(ctx, x):
                self.last = x.exp()
                return self.last * 1

            return unnamed(forward, lambda ctx, g: g * self.last)

    return Layer().function()


def in_a_buffer():
    buffer = gw.zeros(2, dtype=gw.float64)

    def forward(ctx, x):
        buffer.copy_(x.exp())
        return buffer * 1

    return unnamed(forward, lambda ctx, g: g * buffer)


def by_vjp():
    kept = {}

    def forward(ctx, x):
        kept[0] = x.exp()
        return kept[0] * 1

    return type("F", (Function,), {"forward": staticmethod(forward), "vjp": staticmethod(lambda ctx, g: g * kept[0])})


def nested():
    kept = {}

    def forward(ctx, xs):
        kept[0] = xs[0].exp()
        return [kept[0] * 1]

    made = unnamed(forward, lambda ctx, gs: [gs[0] * kept[0]])
    return types.SimpleNamespace(apply=lambda x: made.apply([x])[0])


PLACES = {
    "a class": lambda: OnTheClass,
    "a dictionary of the class": lambda: InADictionaryOfTheClass,
    "a base class": lambda: InABaseClass,
    "a global": lambda: InAGlobal,
    "a global dictionary": lambda: InAGlobalDictionary,
    "helpers": lambda: ByHelpers,
    "methods": lambda: ByMethods,
    "setup_context": lambda: WithSetup,
    "a list": in_a_list,
    "a variable of a closure": in_a_variable_of_the_closure,
    "an object": in_an_object,
    "self": in_self,
    "a buffer": in_a_buffer,
    "vjp": by_vjp,
    "containers": nested,
}


@pytest.mark.parametrize("where", PLACES)
def test_a_second_derivative_is_right(where):
    """The gradient of exp(x)**2 / 2 is exp(2 x), and its derivative 2 exp(2 x); with exp taken for constant, half."""
    f, x = PLACES[where]().apply, leaf(0.5, -1.0)
    with strict(True):
        y = f(x)
        (g,) = grad((y * y).sum() / 2, x, create_graph=True)
        assert g.tolist() == pytest.approx([math.exp(1), math.exp(-2)], rel=1e-14)
        assert grad(g.sum(), x)[0].tolist() == pytest.approx([2 * math.exp(1), 2 * math.exp(-2)], rel=1e-14)


@pytest.mark.parametrize("where", [p for p in PLACES if p != "a buffer"])  # many calls cannot share one: that raises
def test_by_finite_differences(where):
    assert gradgradcheck(PLACES[where]().apply, leaf(0.5, -1.0))


def test_two_calls_do_not_disturb_each_other():
    """Of both on the same class: an ordinary backward of the first would use what the second has left there."""
    x, z = leaf(0.5), leaf(-1.0)
    first, _ = OnTheClass.apply(x), OnTheClass.apply(z)
    (g,) = grad(first, x, create_graph=True)
    assert grad(g, x)[0].item() == pytest.approx(math.exp(0.5), rel=1e-14)


# ---- what is outside stays as it was -------------------------------------------------------------------------------


def test_what_is_bound_anew_is_put_back():
    x = leaf(0.5, -1.0)
    y = OnTheClass.apply(x)
    kept = OnTheClass.last
    grad(y.sum(), x, create_graph=True)
    assert OnTheClass.last is kept
    assert not kept.requires_grad


class Counts(Function):
    """exp; how often it ran, and the mean of its results, on the class, in a global and in an object."""

    calls = 0
    mean = gw.zeros(2, dtype=gw.float64)
    space = types.SimpleNamespace(calls=0)

    def forward(ctx, x):
        global counted  # noqa: PLW0603 - what is tested
        counted += 1
        Counts.calls += 1
        Counts.space.calls += 1
        ctx.e = x.exp()
        Counts.mean.mul_(0.5).add_(ctx.e, alpha=0.5)
        return ctx.e * 1

    def backward(ctx, g):
        return g * ctx.e


def test_what_forward_counts_it_counts_once():
    x = leaf(0.5, -1.0)
    Counts.calls = Counts.space.calls = 0
    y, before = Counts.apply(x), counted
    mean = Counts.mean.tolist()
    (g,) = grad(y.sum(), x, create_graph=True)
    assert (Counts.calls, Counts.space.calls, counted) == (1, 1, before)
    assert Counts.mean.tolist() == mean
    assert not Counts.mean.requires_grad
    assert grad(g.sum(), x)[0].tolist() == pytest.approx([math.exp(0.5), math.exp(-1)], rel=1e-14)


def test_a_buffer_that_the_graph_needs_keeps_its_values():
    f, x = in_a_buffer().apply, leaf(0.5, -1.0)
    (g,) = grad(f(x).sum(), x, create_graph=True)
    assert grad(g.sum(), x)[0].tolist() == pytest.approx([math.exp(0.5), math.exp(-1)], rel=1e-14)


def test_nothing_is_kept_alive(no_gc):
    x = leaf(0.5, -1.0)
    y = OnTheClass.apply(x)
    (g,) = grad(y.sum(), x, create_graph=True)
    node, array = weakref.ref(y.grad_fn), weakref.ref(x.array)
    OnTheClass.last = None
    del x, y, g
    assert (node(), array()) == (None, None)


# ---- where it cannot be right, it warns; what is right is left alone ------------------------------------------------


def test_what_forward_finds_instead_of_making_it_again_is_warned_of():
    kept = {}

    def forward(ctx, x):
        if "e" not in kept:
            kept["e"] = x.exp()
        return kept["e"] * 1

    x = leaf(0.5)
    y = unnamed(forward, lambda ctx, g: g * kept["e"]).apply(x)
    (g,) = grad((y * y).sum() / 2, x, create_graph=True)
    with pytest.warns(GradientWarning, match=r"uses \"kept\['e'\]\", which an earlier run of forward has left"):
        grad(g.sum(), x, retain_graph=True)
    with strict(True), pytest.raises(RuntimeError, match="this second derivative misses what goes that way"):
        grad(g.sum(), x)


class Outside(Function):
    """x cubed, with a factor of its derivative as an array or number on the class."""

    slope = None

    def forward(ctx, x):
        ctx.save_for_backward(x)
        Outside.slope = OF[Outside.how](x)
        return x * x * x

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        slope = Outside.slope
        return 3 * g * x * (gw.from_numpy(slope) if isinstance(slope, np.ndarray) else slope)


OF = {"array": lambda x: x.numpy() * 1, "number": lambda x: x.sum().item()}


@pytest.mark.parametrize("how", OF)
def test_values_that_left_and_were_put_there(how):
    Outside.how, x = how, leaf(0.5)
    (g,) = grad(Outside.apply(x), x, create_graph=True)
    assert g.item() == 0.75
    with strict(True), pytest.raises(RuntimeError, match=r"cut the gradient off with (numpy|item)\(\)"):
        grad(g, x)


def test_what_forward_puts_into_a_list_it_puts_there_twice():
    """A list that backward does not empty: this cannot be told from one that it does."""
    seen = []

    def forward(ctx, x):
        ctx.e = x.exp()
        seen.append("forward")
        return ctx.e * 1

    x = leaf(0.5)
    grad(unnamed(forward, lambda ctx, g: g * ctx.e).apply(x), x, create_graph=True)
    assert seen == ["forward", "forward"]


def test_what_an_earlier_call_has_left_is_a_constant():
    """Nothing tells it from a table that was computed once: this is not guarded."""
    kept = {}

    def forward(ctx, x):
        if "e" not in kept:
            kept["e"] = x.exp()
        return kept["e"] * 1

    F, x = unnamed(forward, lambda ctx, g: g * kept["e"]), leaf(0.5)
    F.apply(x)
    y = F.apply(x)
    (g,) = grad((y * y).sum() / 2, x, create_graph=True)
    assert grad(g.sum(), x)[0].item() == pytest.approx(math.exp(1))  # and not twice that


def test_constants_are_constants():
    calls = []

    def forward(ctx, x):
        calls.append(1)
        ctx.save_for_backward(x)
        return KERNEL * x * x

    f, x = unnamed(forward, lambda ctx, g: 2 * g * KERNEL * ctx.saved_tensors[0]).apply, leaf(0.5, -1.0)
    with strict(True):
        (g,) = grad(f(x).sum(), x, create_graph=True)
        assert grad(g.sum(), x)[0].tolist() == [4, 6]
    assert len(calls) == 1


def test_a_constant_that_is_made_each_time_is_one():
    kept = {}

    def forward(ctx, x):
        kept["k"] = gw.tensor([2.0, 3.0], dtype=x.dtype)
        ctx.save_for_backward(x)
        return kept["k"] * x * x

    f, x = unnamed(forward, lambda ctx, g: 2 * g * kept["k"] * ctx.saved_tensors[0]).apply, leaf(0.5, -1.0)
    with strict(True):
        (g,) = grad(f(x).sum(), x, create_graph=True)
        assert grad(g.sum(), x)[0].tolist() == [4, 6]


def test_what_backward_does_not_look_at_is_no_reason_to_run_forward_again():
    runs = []

    def forward(ctx, x):
        runs.append(x.mean())
        ctx.save_for_backward(x)
        return x * x

    f, x = unnamed(forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0]).apply, leaf(0.5)
    (g,) = grad(f(x).sum(), x, create_graph=True)
    assert (len(runs), grad(g, x)[0].item()) == (1, 2)


def test_most_functions_have_nothing_outside():
    def forward(ctx, x, k):
        ctx.save_for_backward(x)
        return gw.exp(x) * math.pi * np.float64(1.0)

    F = unnamed(forward, lambda ctx, g: (g * gw.exp(ctx.saved_tensors[0]) * math.pi, None))
    F.apply(leaf(0.5), 1)
    assert F._outer is None
    assert of(F).read == []


def test_of_long_lists_only_the_newest_are_looked_at():
    stack = [gw.zeros(1) for _ in range(10_000)]

    def forward(ctx, x):
        stack.append(x.exp())
        return stack[-1] * 1

    F, x = unnamed(forward, lambda ctx, g: g * stack[-1]), leaf(0.5)
    (g,) = grad(F.apply(x), x, create_graph=True)
    assert grad(g, x)[0].item() == pytest.approx(math.exp(0.5))
    assert len(of(F).look()) <= 100
