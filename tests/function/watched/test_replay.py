"""Running forward again for a recorded backward: second derivatives of Functions that keep intermediates are right."""

import dataclasses
import itertools
import math
import random
import time
import types
import warnings
from functools import partial

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import grad, gradcheck, gradgradcheck
from gradwright.engine.saved_hooks import allow_mutation_on_saved_tensors, saved_tensors_hooks
from gradwright.errors import GradientWarning
from gradwright.utils.checkpoint import checkpoint
from tests.functions import Function, leaf, unnamed
from tests.utils.test_recompute_in_transforms import ROADS


@dataclasses.dataclass(slots=True)
class Pair:
    a: object
    b: object


class Plain:
    def __init__(self, a, b):
        self.a, self.b, self.owner = a, b, self

    def both(self):
        return self.a, self.b


KEEPS = {
    "save_for_backward": (lambda ctx, a, b: ctx.save_for_backward(a, b), lambda ctx: ctx.saved_tensors),
    "attributes": (lambda ctx, a, b: vars(ctx).update(a=a, b=b), lambda ctx: (ctx.a, ctx.b)),
    "list": (lambda ctx, a, b: vars(ctx).update(kept=[a, b]), lambda ctx: ctx.kept),
    "tuple": (lambda ctx, a, b: vars(ctx).update(kept=(a, (b,))), lambda ctx: (ctx.kept[0], ctx.kept[1][0])),
    "dict": (lambda ctx, a, b: vars(ctx).update(kept={"a": a, "b": [b]}),
             lambda ctx: (ctx.kept["a"], ctx.kept["b"][0])),
    "dataclass": (lambda ctx, a, b: vars(ctx).update(kept=Pair(a, b)), lambda ctx: (ctx.kept.a, ctx.kept.b)),
    "namespace": (lambda ctx, a, b: vars(ctx).update(kept=types.SimpleNamespace(a=a, b=b)),
                  lambda ctx: (ctx.kept.a, ctx.kept.b)),
    "object": (lambda ctx, a, b: vars(ctx).update(kept=Plain(a, [b])), lambda ctx: (ctx.kept.a, ctx.kept.b[0])),
    "closure": (lambda ctx, a, b: vars(ctx).update(kept=lambda: (a, b)), lambda ctx: ctx.kept()),
    "method": (lambda ctx, a, b: vars(ctx).update(kept=Plain(a, b).both), lambda ctx: ctx.kept()),
    "partial": (lambda ctx, a, b: vars(ctx).update(kept=partial(Plain.both, Pair(a, b))), lambda ctx: ctx.kept()),
}  # fmt: skip


def sinh(keep, load):
    """The seed's SinhBad: sinh, with two intermediates of forward kept."""

    def forward(ctx, x):
        a, b = x.exp(), (-x).exp()
        keep(ctx, a, b)
        return (a - b) / 2

    def backward(ctx, g):
        a, b = load(ctx)
        return g * (a + b) / 2

    return unnamed(forward, backward)


def derivatives(f, x, order):
    """The derivatives of an elementwise function, from the first on."""
    found, y = [], f(x)
    for _ in range(order):
        (y,) = grad(y.sum(), x, create_graph=True)
        found.append(y.tolist())
    return found


@pytest.mark.parametrize("how", KEEPS)
def test_derivatives_of_every_order(how):
    x = leaf(0.5, -1.0)
    f = sinh(*KEEPS[how]).apply
    cosh, sine = [math.cosh(0.5), math.cosh(1)], [math.sinh(0.5), -math.sinh(1)]
    for order, found in enumerate(derivatives(f, x, 4)):
        assert found == pytest.approx([cosh, sine][order % 2], rel=1e-14)
    assert gradcheck(f, x)
    assert gradgradcheck(f, x)


def around(f, where):
    if where == "checkpoint":
        return lambda x: checkpoint(lambda x: f(x * 1) * 2, x, use_reentrant=False)
    if where == "saved_tensors_hooks":
        def hooked(x):
            with saved_tensors_hooks(lambda t: t.detach().clone(), lambda t: t):
                return f(x * 1)
        return hooked
    if where == "allow_mutation":
        def mutable(x):
            with allow_mutation_on_saved_tensors():
                return gw.zeros(2, dtype=gw.float64) + f(x * 1)
        return mutable

    def with_hooks(x):
        y = f(x * 1)
        y.register_hook(lambda g: g * 1)
        y.grad_fn.register_hook(lambda grads, outputs: None)
        y.grad_fn.register_prehook(lambda outputs: None)
        return y

    return with_hooks


@pytest.mark.parametrize("where", ["checkpoint", "saved_tensors_hooks", "allow_mutation", "hooks"])
@pytest.mark.parametrize("how", ["save_for_backward", "attributes"])
def test_in_company(how, where):
    assert gradgradcheck(around(sinh(*KEEPS[how]).apply, where), leaf(0.5, -1.0))


class Scaled(Function):
    """exp(k x).sin(), and exp(k x)."""

    def forward(x, k=2.0):
        e = (k * x).exp()
        return e.sin(), e

    def setup_context(ctx, inputs, output):
        x, ctx.k = inputs
        ctx.cos = (ctx.k * x).exp().cos()
        ctx.save_for_backward(output[1])

    def backward(ctx, g, h):
        (e,) = ctx.saved_tensors
        return (g * ctx.cos + h) * e * ctx.k, None


@pytest.mark.parametrize("args", [(), (1.5,)])
def test_setup_context_and_several_outputs(args):
    assert gradgradcheck(lambda x: Scaled.apply(x, *args), leaf(0.5, -1.0))


class InPlace(Function):
    """w sin x, in the memory of x, and 2 w."""

    def forward(ctx, x, w):
        ctx.cos, ctx.sin = x.cos() * w, x.sin()
        ctx.mark_dirty(x)
        return x.sin_().mul_(w), w * 2

    def backward(ctx, g, h):
        return g * ctx.cos, (g * ctx.sin).sum() + h * 2


@pytest.mark.parametrize("of", [lambda x: x * 1, lambda x: (x * 1)[:1].clone(), lambda x: x * x])
def test_dirty_inputs(of):
    x, w = leaf(0.5, -1.0), leaf(1.3)[0].detach().requires_grad_()
    assert gradgradcheck(lambda x, w: InPlace.apply(of(x), w), (x, w))


def test_a_view_that_is_changed():
    def forward(ctx, x):
        ctx.cos = x.cos()
        ctx.mark_dirty(x)
        return x.sin_()

    f = unnamed(forward, lambda ctx, g: g * ctx.cos)
    assert gradgradcheck(lambda x: f.apply((x * 1)[1:]), leaf(0.5, -1.0))


def test_a_buffer_is_changed_once():
    def forward(ctx, x, mean):
        mean.mul_(0.9).add_(x.mean() * 0.1)
        ctx.cos = x.cos() * (1 + mean)
        return x.sin() * (1 + mean).detach()

    f = unnamed(forward, lambda ctx, g: (g * ctx.cos, None))
    x, mean = leaf(0.5, -1.0), gw.ones((), dtype=gw.float64)
    y = f.apply(x, mean)
    after = mean.item()
    assert after == pytest.approx(0.9 - 0.025)
    (first, second), again = [derivatives(lambda x: y, x, 2) for _ in range(2)]
    assert mean.item() == after
    both = 0.05 * (math.cos(0.5) + math.cos(1))  # by way of the mean
    assert second == again[1] == pytest.approx([both - math.sin(0.5) * (1 + after), both + math.sin(1) * (1 + after)])


def test_forward_may_write_its_own_values():
    def forward(ctx, x):
        e = x.exp()
        s = e * e
        e.add_(1)
        ctx.s, ctx.e = s, e
        return s * e

    assert gradgradcheck(unnamed(forward, lambda ctx, g: g * (3 * ctx.s * ctx.e - ctx.s)).apply, leaf(0.5, -1.0))


def test_a_no_grad_block_in_forward_says_nothing():
    def forward(ctx, x):
        with gw.no_grad():
            ctx.cos = x.cos()
        return x.sin()

    assert gradgradcheck(unnamed(forward, lambda ctx, g: g * ctx.cos).apply, leaf(0.5, -1.0))


def test_random_numbers_are_drawn_again():
    generator = gw.Generator()

    def forward(ctx, x):
        ctx.r = gw.rand(2, dtype=gw.float64) + gw.rand(2, dtype=gw.float64, generator=generator)
        ctx.mask = gw.rand(2) > 2
        ctx.cos = (ctx.r * x).cos() * ctx.r
        return (ctx.r * x).sin()

    x = leaf(0.5, -1.0)
    y = unnamed(forward, lambda ctx, g: g * ctx.cos).apply(x)
    r, states = y.grad_fn.r, [gw.get_rng_state(), generator.get_state()]
    _, second = derivatives(lambda x: y, x, 2)
    np.testing.assert_allclose(second, (-r * r * (r * x).sin()).tolist(), rtol=1e-14)
    assert all((a == b).all() for a, b in zip(states, [gw.get_rng_state(), generator.get_state()], strict=True))


numpys, pythons = np.random.default_rng(1), random.Random(1)
DRAWS = {
    "numpy.random": lambda: np.random.rand(2),
    "a generator of NumPy's": lambda: numpys.random(2),
    "a state of NumPy's": lambda: STATE.uniform(size=2),
    "random": lambda: np.array([random.random(), random.gauss(0, 1)]),
    "a generator of Python's": lambda: np.array([pythons.random(), 1.0]),
    "a method": lambda: np.array([draw(), draw()]),
}
STATE, draw = np.random.RandomState(1), random.Random(2).random


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_of_others_are_drawn_again(name):
    numbers = DRAWS[name]

    def forward(ctx, x):
        ctx.r = gw.tensor(numbers(), dtype=x.dtype)
        ctx.cos = (ctx.r * x).cos() * ctx.r
        return (ctx.r * x).sin()

    x = leaf(0.5, -1.0)
    y = unnamed(forward, lambda ctx, g: g * ctx.cos).apply(x)
    r = y.grad_fn.r
    states = np.random.get_state()[2], random.getstate(), numpys.bit_generator.state, pythons.getstate()
    _, second = derivatives(lambda x: y, x, 2)
    np.testing.assert_allclose(second, (-r * r * (r * x).sin()).tolist(), rtol=1e-14)
    assert states == (np.random.get_state()[2], random.getstate(), numpys.bit_generator.state, pythons.getstate())
    assert numbers().tolist() != r.tolist()


def test_where_nothing_is_drawn_no_state_is_put_back():
    x = leaf(0.5)
    y = sinh(*KEEPS["attributes"]).apply(x)
    gw.manual_seed(1)
    first = gw.rand(3).tolist()
    gw.manual_seed(1)
    grad(y, x, create_graph=True)  # runs forward again
    assert gw.rand(3).tolist() == first


WORKSPACES = {
    "empty": lambda x: gw.empty(2, dtype=x.dtype),
    "empty_like": gw.empty_like,
    "new_empty": lambda x: x.new_empty(2),
    "empty_strided": lambda x: gw.empty_strided((2,), (3,), dtype=x.dtype),
    "empty_permuted": lambda x: gw.empty_permuted((2, 1), (1, 0), dtype=x.dtype),
}


@pytest.mark.parametrize("name", WORKSPACES)
def test_a_workspace_that_nobody_has_filled_is_the_same_again(name):
    def forward(ctx, x):
        for value in (1.0, 2.0, 3.0):
            gw.full((2,), value, dtype=x.dtype)  # so that the memory is another one
        ctx.workspace, ctx.e = WORKSPACES[name](x), x.exp()
        return ctx.e * 1

    x = leaf(0.5, -1.0)
    y = unnamed(forward, lambda ctx, g: g * ctx.e).apply(x)
    litter = [gw.full((2,), float(k), dtype=x.dtype) for k in range(50)]
    del litter
    assert derivatives(lambda x: y, x, 2)[1] == pytest.approx([math.exp(0.5), math.exp(-1)])


def test_functions_inside():
    inner = sinh(*KEEPS["attributes"])

    def forward(ctx, x):
        ctx.s = inner.apply(x)
        return ctx.s * ctx.s

    f = unnamed(forward, lambda ctx, g: 2 * g * ctx.s * (1 + ctx.s * ctx.s).sqrt()).apply
    x = leaf(0.5, 1.0)
    assert gradgradcheck(f, x)
    third = derivatives(f, x, 3)[2]
    assert third == pytest.approx([4 * math.sinh(1), 4 * math.sinh(2)], rel=1e-13)


def test_constants_and_indices():
    def forward(ctx, x):
        ctx.mask, ctx.at, ctx.kernel = (x > 0).to(x.dtype), x.argmax(), gw.tensor([1.0, 2.0], dtype=x.dtype)
        return x * x * ctx.mask * ctx.kernel

    def backward(ctx, g):
        return 2 * g * ctx.mask * ctx.kernel * ctx.saved_tensors[0]

    def saves(ctx, x):
        ctx.save_for_backward(x)
        return forward(ctx, x)

    f = unnamed(saves, backward).apply
    assert gradgradcheck(f, leaf(0.5, -1.0))
    assert derivatives(f, leaf(0.5, -1.0), 2)[1] == [2, 0]


def test_an_output_has_the_derivative_that_is_declared():
    """Straight-through rounding, whose backward uses its output and an intermediate."""
    def forward(ctx, x):
        ctx.half, ctx.y = x / 2, x.round()
        return ctx.y

    x = leaf(1.2, 2.7)
    f = unnamed(forward, lambda ctx, g: g * (ctx.y + ctx.half)).apply
    first, second = derivatives(f, x, 2)
    assert first == pytest.approx([1.6, 4.35])
    assert second == pytest.approx([1.6 + 0.5, 4.35 + 0.5])  # d/dx (y + x / 2), with dy/dx as backward has it


def test_an_ordinary_pass_does_not_run_forward_again():
    runs = []

    def forward(ctx, x):
        runs.append(1)
        ctx.cos = x.cos()
        return x.sin()

    x = leaf(0.5, -1.0)
    y = unnamed(forward, lambda ctx, g: g * ctx.cos).apply(x)
    y.sum().backward(retain_graph=True)
    assert len(runs) == 1
    grad(y.sum(), x, create_graph=True)
    assert len(runs) == 2


def test_forward_that_saves_inputs_and_outputs_is_not_run_again():
    runs = []

    def forward(ctx, x, k):
        runs.append(1)
        y = x.exp() * k
        ctx.save_for_backward(x, y)
        ctx.k = k
        return y

    x = leaf(1.0)
    y = unnamed(forward, lambda ctx, g: (g * ctx.saved_tensors[1], None)).apply(x, 2.0)
    assert len(y.grad_fn.saved_tensors) == 2
    (g,) = grad(y, x, create_graph=True)
    assert grad(g, x)[0].item() == pytest.approx(y.item())
    assert len(runs) == 1


def test_what_was_saved_is_what_was_saved():
    y = sinh(*KEEPS["save_for_backward"]).apply(leaf(0.5))
    assert len(y.grad_fn.saved_tensors) == len(y.grad_fn._raw_saved_tensors) == 2


def test_run_by_hand():
    x = leaf(0.5)
    (second,) = grad(sinh(*KEEPS["attributes"]).apply(x).grad_fn(gw.ones(1, dtype=gw.float64)).sum(), x)
    assert second.item() == pytest.approx(math.sinh(0.5))


# ---- where it cannot be --------------------------------------------------------------------------------------------


def other_numbers(ctx, x):
    ctx.r = gw.tensor([float(next(NUMBERS)), 1.0], dtype=x.dtype)
    return x * ctx.r


NUMBERS = itertools.count()


def counts(ctx, x):
    counts.calls = getattr(counts, "calls", 0) + 1
    ctx.save_for_backward(*[x * 2] * counts.calls)
    ctx.r = 2.0
    return x * 2


@pytest.mark.parametrize(("forward", "what"), [
    (other_numbers, "ctx.r has other values"), (counts, "ctx.saved_tensors was 1"),
])  # fmt: skip
def test_another_result(forward, what):
    F = unnamed(forward, lambda ctx, g: g * ctx.r)
    x = leaf(0.5, -1.0)
    F.apply(x).sum().backward()
    counts.calls = 0
    with pytest.raises(RuntimeError, match="F: forward gives another result when it is run again") as error:
        grad(F.apply(x).sum(), x, create_graph=True)
    assert what in str(error.value)
    assert __file__ in str(error.value)
    assert "once_differentiable" in str(error.value)


def test_an_argument_that_was_changed_since():
    x = leaf(0.5, -1.0)
    h = x * 1
    y = sinh(*KEEPS["attributes"]).apply(h)
    h.zero_()
    y.sum().backward(retain_graph=True)  # needs it not
    with pytest.raises(RuntimeError, match="FBackward saved it as \"the argument 'x'\"") as error:
        grad(y.sum(), x, create_graph=True)
    assert "h.zero_()" in str(error.value)


def scaled(use):
    """exp, whose gradient also needs what ``use`` makes of a buffer, beside an intermediate."""
    def forward(ctx, x, buffer):
        ctx.e = x.exp()
        return ctx.e * use(ctx, x, buffer)

    return unnamed(forward, lambda ctx, g: (g * ctx.e * getattr(ctx, "factor", 1), None))


def unused(ctx, x, buffer):
    return 1


def used_in_the_output_alone(ctx, x, buffer):
    return 1 + 0 * buffer


def used(ctx, x, buffer):
    ctx.factor = 1 + x.detach() * 0 * buffer + (x - x) * buffer
    return ctx.factor


def decides(ctx, x, buffer):
    ctx.factor = gw.where(buffer > 5, 2.0, 1.0).to(x.dtype)
    return ctx.factor


@pytest.mark.parametrize("use", [unused, used_in_the_output_alone])
def test_a_buffer_that_was_changed_since_and_is_not_needed(use):
    x, buffer = leaf(0.5, -1.0), gw.ones(2, dtype=gw.float64)
    y = scaled(use).apply(x, buffer)
    buffer.mul_(10)
    assert derivatives(lambda x: y, x, 2)[1] == pytest.approx([math.exp(0.5), math.exp(-1)])


@pytest.mark.parametrize("use", [used, decides])
def test_a_buffer_that_was_changed_since_and_is_needed(use):
    """``used``: what is kept has the same values as before, but another derivative."""
    x, buffer = leaf(0.5, -1.0), gw.ones(2, dtype=gw.float64)
    y = scaled(use).apply(x, buffer)
    buffer.mul_(10)
    with pytest.raises(RuntimeError, match="FBackward saved it as \"the argument 'buffer'\"") as error:
        derivatives(lambda x: y, x, 2)
    assert "buffer.mul_(10)" in str(error.value)


def test_a_graph_that_is_freed():
    x = leaf(0.5, -1.0)
    y = sinh(*KEEPS["save_for_backward"]).apply(x)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        grad(y.sum(), x, create_graph=True)


def test_a_forward_that_cannot_be_recorded():
    def forward(ctx, x):
        a, _ = (x * 1).chunk(2)
        a.mul_(2)
        ctx.cos = x.cos()
        return x.sin()

    x = leaf(0.5, -1.0)
    y = unnamed(forward, lambda ctx, g: g * ctx.cos).apply(x)
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace") as error:
        grad(y.sum(), x, create_graph=True)
    assert "raised while F.forward was run again" in error.value.__notes__[0]


@pytest.mark.parametrize("keep", [lambda ctx, e: ctx.save_for_backward(e), lambda ctx, e: setattr(ctx, "e", e)])
def test_an_output_without_derivative_is_an_intermediate_to_backward(keep):
    def forward(ctx, x):
        e = x.exp()
        keep(ctx, e)
        ctx.mark_non_differentiable(e)
        return e * e, e

    def backward(ctx, g, _):
        return g * 2 * (ctx.saved_tensors or (ctx.e,))[0] ** 2

    x, f = leaf(0.5, -1.0), unnamed(forward, backward).apply
    _, second = derivatives(lambda x: f(x)[0] ** 2, x, 2)
    assert second == pytest.approx([16 * math.exp(2), 16 * math.exp(-4)], rel=1e-14)
    assert gradgradcheck(lambda x: f(x)[0], x)


def test_a_number_that_is_made_of_no_tensor_may_be_another():
    def forward(ctx, x):
        ctx.start, ctx.e = time.perf_counter(), x.exp()
        return ctx.e * 1

    f = unnamed(forward, lambda ctx, g: g * ctx.e).apply
    assert derivatives(f, leaf(0.5), 2)[1] == pytest.approx([math.exp(0.5)])


@pytest.mark.parametrize("keep", ["saved", "an attribute", "an intermediate"])
@pytest.mark.parametrize("road", ROADS)
def test_a_forward_that_draws_draws_the_same_again_on_every_road(road, keep):
    class Noisy(Function):
        @staticmethod
        def forward(ctx, x):
            m = gw.rand_like(x) + 0.5
            ctx.save_for_backward(*{"saved": (x, m), "an attribute": (x,), "an intermediate": (2 * x * m,)}[keep])
            ctx.m = m if keep == "an attribute" else None
            return x * x * m

        @staticmethod
        def backward(ctx, g):
            x, *more = ctx.saved_tensors
            return g * (x if keep == "an intermediate" else 2 * x * (ctx.m if ctx.m is not None else more[0]))

    found = []
    for f in (Noisy.apply, lambda x: x * x * (gw.rand_like(x) + 0.5)):
        gw.manual_seed(3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GradientWarning)
            found.append(ROADS[road](f))
    assert gw.allclose(*found)
