"""What a backward leaves: gradients of its own, whatever buffer it fills; and no change of what others hold."""

import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import grad
from tests.function.test_memory import BUFFERS, values
from tests.functions import unnamed


@pytest.mark.parametrize("recorded", [False, True], ids=["ordinary", "recorded"])
@pytest.mark.parametrize("name", BUFFERS)
def test_one_buffer_for_every_call_of_backward(name, recorded):
    """3 f(h) f(h) with f = h**2: two cotangents wait for each other, and h keeps its own."""
    write, give = BUFFERS[name]

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        with gw.no_grad():
            write(2 * g * x)
        return give()

    F = unnamed(lambda ctx, x: (ctx.save_for_backward(x), x * x)[1], backward)
    a, _ = values()
    h = a * 1
    y = (3 * F.apply(h) * F.apply(h)).sum()
    at_h, at_a = grad(y, [h, a], create_graph=recorded)
    truth = 12 * a.detach().numpy() ** 3
    assert np.allclose(at_h.detach().numpy(), truth)
    assert np.allclose(at_a.detach().numpy(), truth)


def test_a_buffer_on_ctx_does_not_become_a_gradient():
    def backward(ctx, g):
        if not hasattr(ctx, "buffer"):
            ctx.buffer = gw.zeros(3, dtype=gw.float64)
        return ctx.buffer.copy_(2 * g)

    a, _ = values()
    y = unnamed(lambda ctx, x: 2 * x, backward).apply(a).sum()
    y.backward(retain_graph=True)
    first = a.grad
    a.grad = None
    (5 * y).backward()
    assert first.tolist() == [2, 2, 2]
    assert a.grad.tolist() == [10, 10, 10]


WRITES = {
    "in place": lambda t: t.mul_(2),
    "detach()": lambda t: t.detach().mul_(2),
    "data": lambda t: t.data.mul_(2),
    "numpy()": lambda t: t.detach().numpy().__imul__(2),
    "data.numpy()": lambda t: t.data.numpy().__imul__(2),
}


def keeps(how, write):
    """A Function that computes 2 x, keeps its input ``how``, and writes that in backward."""

    def forward(ctx, x):
        if how == "saved":
            ctx.save_for_backward(x)
        elif how == "an output":
            y = 2 * x
            ctx.save_for_backward(y)
            return y
        else:
            ctx.x = x if how == "on ctx" else (1, [x])
        return 2 * x

    def backward(ctx, g):
        with gw.no_grad():
            write(ctx.saved_tensors[0] if how in ("saved", "an output") else ctx.x if how == "on ctx" else ctx.x[1][0])
        return 2 * g

    return unnamed(forward, backward)


@pytest.mark.parametrize("recorded", [False, True], ids=["ordinary", "recorded"])
@pytest.mark.parametrize("how", ["saved", "an output", "on ctx", "in a tuple on ctx"])
@pytest.mark.parametrize("name", WRITES)
def test_a_backward_that_writes_what_it_saved(name, how, recorded):
    F = keeps(how, WRITES[name])
    a, _ = values()
    with pytest.raises(RuntimeError, match=r"backward changed (saved_tensors|ctx.x).* in place, but others") as e:
        _held(F, a, recorded)
    assert f"{__file__}:" in str(e.value)


def _held(F, a, recorded):
    y = F.apply(a)
    y.sum().backward(create_graph=recorded)


@pytest.mark.parametrize("how", ["saved", "an output", "on ctx"])
@pytest.mark.parametrize("name", WRITES)
def test_a_backward_may_write_what_nobody_else_holds(name, how):
    a, _ = values()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (keeps(how, WRITES[name]).apply(a * 1) + 0).sum().backward()
    assert a.grad.tolist() == [2, 2, 2]


def test_what_was_written_before_is_not_laid_at_the_door_of_a_backward_that_never_looks():
    F = keeps("saved", lambda t: None)
    F.backward = staticmethod(lambda ctx, g: 2 * g)
    a, _ = values()
    h = a * 1
    y = F.apply(h)
    h.mul_(3)
    y.sum().backward()
    assert a.grad.tolist() == [2, 2, 2]


@pytest.mark.parametrize("name", WRITES)
def test_a_backward_that_writes_its_cotangent(name):
    """y = f(h) + 5 h: both get the same cotangent, which is not to be changed for the other."""

    def backward(ctx, g):
        WRITES[name](g)
        return g

    a, _ = values()
    h = a * 1
    y = unnamed(lambda ctx, x: 2 * x, backward).apply(h) + h
    with pytest.raises(RuntimeError, match="backward changed its grad_output in place"):
        (y * gw.tensor([1.0, 2.0, 3.0], dtype=gw.float64)).sum().backward()
