"""Transforms that run: levels nest, keep histories from outside, and end."""

import numpy as np
import pytest

import gradwright as gw
from gradwright import func
from gradwright.engine.levels import innermost
from gradwright.transform.batch import Batches
from gradwright.transform.tangent import Tangents
from tests.functions import Function

X, V, W = np.array([0.3, -0.7, 1.1]), np.array([1.0, 0.5, -2.0]), np.array([2.0, -1.0, 0.5])


def tangent_of(f, x, v):
    level = Tangents()
    with level.running():
        return level.unpack(f(level.dual(x, v)))[1]


def mapped(f, x):
    level = Batches(x.shape[0])
    with level.running():
        return level.unpack(f(level.batch(x)))[0]


def test_the_inner_of_two_tangents_is_not_taken_for_the_outer_one():
    # d/dx [x d/dy (x y)] = d/dx x**2, at y = 1: perturbation confusion gives 1 or 3 x.
    one = gw.tensor(1.0, dtype=gw.float64)
    x = gw.tensor(3.0, dtype=gw.float64)
    assert tangent_of(lambda x: x * tangent_of(lambda y: x * y, one, one), x, one).item() == 6.0


def test_second_tangents():
    x, v, w = gw.tensor(X), gw.tensor(V), gw.tensor(W)
    second = tangent_of(lambda x: tangent_of(lambda y: gw.sin(y) * y, x, v), x, w)
    assert np.allclose(second.numpy(), V * W * (2 * np.cos(X) - X * np.sin(X)))


def test_reverse_over_a_tangent():
    x = gw.tensor(X, requires_grad=True)
    tangent_of(lambda y: y.exp() * y, x, gw.tensor(V)).sum().backward()
    assert np.allclose(x.grad.numpy(), V * np.exp(X) * (X + 2))


def test_a_tangent_over_reverse():
    def slope(x):
        leaf = x.detach().requires_grad_() if x.grad_fn is None else x
        return gw.autograd.grad((leaf**3).sum(), leaf)[0]

    level = Tangents()
    with level.running():
        leaf = level.dual(gw.tensor(X), gw.tensor(V))
        leaf.requires_grad_()
        (g,) = gw.autograd.grad((leaf**3).sum(), leaf)
        assert np.allclose(level.unpack(g)[1].numpy(), 6 * X * V)
    assert np.allclose(slope(gw.tensor(X)).numpy(), 3 * X**2)


@pytest.mark.parametrize("batched", [True, False])
def test_a_pass_inside_keeps_the_history_outside(batched):
    """d/dw of d/dx sum(sin(x) w): the inner pass is not recorded, and yet its result depends on w."""
    w = gw.tensor(W, requires_grad=True)

    def slope(x):
        leaf = x.detach().requires_grad_() if batched else gw.tensor(X, requires_grad=True)
        (g,) = gw.autograd.grad((leaf.sin() * w).sum(), leaf)
        return g + 0 * x

    out = mapped(slope, gw.tensor(np.stack([X, X])))
    out.sum().backward()
    assert np.allclose(w.grad.numpy(), 2 * np.cos(X))


def test_a_pass_inside_that_reaches_nothing_outside_is_not_recorded():
    out = mapped(lambda x: gw.autograd.grad((y := x.detach().requires_grad_()).sin().sum(), y)[0], gw.tensor([X, X]))
    assert not out.requires_grad
    assert np.allclose(out.numpy(), np.cos([X, X]))


def test_no_grad_inside_stops_histories_and_tangents_outside():
    x = gw.tensor(X, requires_grad=True)

    def f(y):
        with gw.no_grad():
            a = y * 2
        return a * y

    assert np.allclose(tangent_of(f, x, gw.tensor(V)).detach().numpy(), 2 * X * V)
    mapped(f, gw.stack([x, x])).sum().backward()
    assert np.allclose(x.grad.numpy(), 4 * X)


def test_no_grad_outside_leaves_tangents_inside():
    with gw.no_grad():
        assert np.allclose(tangent_of(gw.sin, gw.tensor(X), gw.tensor(V)).numpy(), np.cos(X) * V)


def test_writing_into_what_was_made_inside():
    def f(x):
        out = gw.zeros(4, dtype=gw.float64)
        part = out[1:]
        part[:3] = x * x
        out[0] = x[0]
        return out.clone()

    expected = np.concatenate([V[:1], 2 * X * V])
    assert np.allclose(tangent_of(f, gw.tensor(X), gw.tensor(V)).numpy(), expected)


def test_a_view_made_before_its_base_came_to_a_level_shows_what_the_base_shows():
    def f(x):
        out = gw.zeros(3, dtype=gw.float64)
        part = out[:2]
        out.copy_(x)
        return part * 3

    assert np.allclose(tangent_of(f, gw.tensor(X), gw.tensor(V)).numpy(), 3 * V[:2])


def test_a_tensor_that_outlives_its_tangents_is_plain():
    level = Tangents()
    with level.running():
        y = level.dual(gw.tensor(X), gw.tensor(V)).sin()
    assert innermost((y,), [y.array]) is None
    assert np.allclose((y * 2).numpy(), 2 * np.sin(X))


def outlives(way):
    """x * x as something that a transform inside has made or written, which is read after the transform has ended."""

    def made(x):
        kept = []
        _inside(lambda y: kept.append(y * x) or y.sum(), x)
        return kept[0]

    def written(x):
        z = x.clone()
        _inside(lambda y: z.mul_(y).sum(), x)
        return z

    def through_a_view(x):
        z = x.clone()
        parts = z[:2], z[2:]
        _inside(lambda y: sum(part.mul_(y[k : k + len(part)]).sum() for k, part in zip((0, 2), parts, strict=True)), x)
        return gw.cat(parts) + 0 * z

    def written_after(x):
        z = gw.ones_like(x)
        _inside(lambda y: z.mul_(y).sum(), x)
        return z.copy_(x * x)

    def by_a_function(x):
        return _Doubled.apply(made(x)) / 2

    def by_a_level(x):
        kept = []
        _inside(lambda y: _inside(lambda w: kept.append(w * x) or w.sum(), y).sum(), x)
        return kept[0]

    return locals()[way]


def _inside(f, x):
    return func.jvp(f, (x,), (gw.ones_like(x),))[1] if _inside.forward else func.jet(f, (x,), ([x, x],))[1][0]


class _Doubled(Function):
    def forward(ctx, x):
        return x * 2

    def backward(ctx, g):
        return g * 2


WAYS = ("made", "written", "through_a_view", "written_after", "by_a_function", "by_a_level")


@pytest.mark.parametrize("forward", [True, False])
@pytest.mark.parametrize("way", WAYS)
def test_what_outlives_its_level_has_the_history_that_it_has_outside(way, forward):
    _inside.forward = forward
    f, x = outlives(way), gw.tensor(X)
    assert np.allclose(f(x).numpy(), X * X)
    assert np.allclose(func.grad(lambda x: f(x).sin().sum())(x).numpy(), np.cos(X * X) * 2 * X)
    assert np.allclose(func.jvp(f, (x,), (gw.tensor(V),))[1].numpy(), 2 * X * V)
    assert np.allclose(func.jet(f, (x,), ([gw.tensor(V)],))[1][0].numpy(), 2 * X * V)
    w = gw.tensor(X).requires_grad_()
    f(w).backward(gw.tensor(V))
    assert np.allclose(w.grad.numpy(), 2 * X * V)


def test_a_batch_that_outlives_its_map_is_an_error():
    kept = []
    mapped(lambda x: kept.append(x * 2) or x, gw.tensor([X, X]))
    with pytest.raises(RuntimeError, match="return it from the function"):
        kept[0] + 1


def test_numbers_of_a_batch_are_refused():
    for read in (bool, float, int, lambda x: x.item(), lambda x: x.numpy()):
        with pytest.raises(RuntimeError, match=r"vmap: .*test_levels\.py"):
            mapped(lambda x, read=read: read(x.sum()) and x, gw.tensor([X, X]))


def test_the_mode_is_put_back_after_an_error():
    before = gw.engine.mode.now()
    with pytest.raises(ZeroDivisionError):
        mapped(lambda x: 1 // 0, gw.tensor([X, X]))
    assert gw.engine.mode.now() is before
