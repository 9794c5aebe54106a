"""A value that is only compared cuts nothing off; one that is computed with does."""

import math
from math import isfinite

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import Function, grad
from gradwright.engine.strict import strict
from gradwright.errors import GradientWarning
from tests.functions import leaf

LIMIT = 100.0


def square(backward):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    return type("Square", (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})


def compared(ctx, g):
    (x,) = ctx.saved_tensors
    if float(x.max()) > LIMIT:
        return g * 0
    return 2 * g * x


def compared_after_computing(ctx, g):
    (x,) = ctx.saved_tensors
    return g * 0 if 2 * abs(x.max().item()) - 1 > LIMIT else 2 * g * x


def a_variable(ctx, g):
    (x,) = ctx.saved_tensors
    largest = x.max().item()
    if largest > LIMIT or not isfinite(largest):
        raise ValueError(f"too large: {largest}")
    return 2 * g * x


def variables(ctx, g):
    (x,) = ctx.saved_tensors
    low, high = x.min().item(), x.max().item()
    return g * 0 if low == high else 2 * g * x


def a_variable_of_a_variable(ctx, g):
    (x,) = ctx.saved_tensors
    values = x.detach().numpy()
    largest = np.sqrt(np.abs(values).max())
    assert largest < LIMIT, f"{largest} is too large"
    return 2 * g * x


def named(ctx, g):
    (x,) = ctx.saved_tensors
    if (largest := float(x.max())) > LIMIT:
        raise ValueError(str(largest))
    return 2 * g * x


def shown(ctx, g):
    (x,) = ctx.saved_tensors
    text = f"largest: {float(x.max()):.3f}, of " + repr(x.tolist())
    assert text.startswith("largest: 2.000")
    return 2 * g * x


def a_mask(ctx, g):
    (x,) = ctx.saved_tensors
    return 2 * g * x * gw.from_numpy(x.numpy() < LIMIT)


def a_count(ctx, g):
    (x,) = ctx.saved_tensors
    return sum([g * x] * int(x.max().item() * 0 + 2))


def a_loop(ctx, g):
    (x,) = ctx.saved_tensors
    t = x * 0 + 1
    while t.sum().item() < 50:
        t = t * 2
    return 2 * g * x * t / t


def not_finite(ctx, g):
    (x,) = ctx.saved_tensors
    return g * 0 if math.isnan(x.sum().item()) or not np.isfinite(x.numpy()).all() else 2 * g * x


def an_index(ctx, g):
    (x,) = ctx.saved_tensors
    return g * x * [1, 2, 3][int(x.sum().item() * 0 + 1)]


DECISIONS = [compared, compared_after_computing, a_variable, variables, a_variable_of_a_variable, named, shown, a_mask,
             a_count, a_loop, not_finite, an_index]  # fmt: skip


@pytest.mark.parametrize("backward", DECISIONS)
def test_what_is_only_compared_is_no_cut(backward):
    x = leaf(0.5, 2.0)
    with strict(True):
        (g,) = grad(square(backward).apply(x).sum(), x, create_graph=True)
        assert g.tolist() == [1, 4]
        assert grad(g.sum(), x)[0].tolist() == [2, 2]


def computed_with(ctx, g):
    (x,) = ctx.saved_tensors
    return 2 * g * x * (x.sum().item() / 2.5)


def compared_and_computed_with(ctx, g):
    (x,) = ctx.saved_tensors
    total = x.sum().item()
    if total > LIMIT:
        return g * 0
    scale = total / 2.5
    return 2 * g * x * scale


def computed_with_elsewhere(ctx, g):
    (x,) = ctx.saved_tensors
    total = float(x.sum())
    scale = lambda: total / 2.5
    return 2 * g * x * scale()


def put_away(ctx, g):
    (x,) = ctx.saved_tensors
    found = []
    found.append(float(x.sum()))
    return 2 * g * x * found[0] / 2.5


def written(ctx, g):
    (x,) = ctx.saved_tensors
    total = np.zeros(())
    assert np.sum(x.numpy(), out=total) < LIMIT
    return 2 * g * x * float(total) / 2.5


def copied(ctx, g):
    (x,) = ctx.saved_tensors
    values = np.zeros(2)
    np.copyto(values, x.numpy())
    return 2 * g * x * values.sum() / 2.5


def returned(ctx, g):
    (x,) = ctx.saved_tensors

    def total():
        return x.sum().item()

    return 2 * g * x * total() / 2.5


def of_the_closure(ctx, g):
    (x,) = ctx.saved_tensors
    total = 0.0

    def add():
        nonlocal total
        total = x.sum().item()
        return total > LIMIT

    add()
    return 2 * g * x * total / 2.5


@pytest.mark.parametrize("backward", [
    computed_with, compared_and_computed_with, computed_with_elsewhere, put_away, written, copied, returned,
    of_the_closure,
])  # fmt: skip
def test_what_is_computed_with_is(backward):
    x = leaf(0.5, 2.0)
    (g,) = grad(square(backward).apply(x).sum(), x, create_graph=True)
    assert g.tolist() == [1, 4]
    with pytest.warns(GradientWarning, match="may miss what goes that way"):
        grad(g.sum(), x)


def test_without_source_nothing_is_known(capsys):
    text = "def backward(ctx, g):\n    (x,) = ctx.saved_tensors\n    return 2 * g * x if float(x.max()) < 9 else g\n"
    scope = {}
    exec(compile(text, "<nowhere>", "exec"), scope)  # noqa: S102 - code without a file
    x = leaf(0.5, 2.0)
    (g,) = grad(square(scope["backward"]).apply(x).sum(), x, create_graph=True)
    with pytest.warns(GradientWarning, match="may miss"):
        grad(g.sum(), x)
