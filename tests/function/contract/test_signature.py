"""What cannot work is said when the class is defined, and what can is let through."""

import inspect
import re

import pytest

import gradwright as gw
from gradwright.autograd import Function
from gradwright.function.contract.once_differentiable import once_differentiable
from gradwright.function.contract.signature import lacks_return


def define(base=Function, **body):
    return type("F", (base,), {k: staticmethod(v) if callable(v) else v for k, v in body.items()})


def two(ctx, x, weight):
    return x * weight


def maybe(ctx, x, weight=None):
    return x


def three_ways(ctx, g):
    if ctx.a:
        return (g,)
    if ctx.b:
        return g, g, g * 2
    return (None,)


def fits_once(ctx, g):
    if ctx.a:
        return (g,)
    return g, None


def may_be_none(ctx, g):
    extra = None
    return g, g, extra


WRONG = {
    "one of two": ({"forward": two, "backward": lambda ctx, g: (g,)}, "returns 1 gradient, but forward takes 2 inputs"),
    "three of two": ({"forward": two, "backward": lambda ctx, g: (g, g, g * 2)},
                     "returns 3 gradients, but forward takes 2 inputs (x, weight)"),
    "none fits": ({"forward": two, "backward": three_ways}, "returns 1 or 3 gradients, but forward takes 2"),
    "of a default": ({"forward": maybe, "backward": lambda ctx, g: (g, g, g * 2)}, "forward takes 1 to 2 inputs"),
    "a constant": ({"forward": two, "backward": lambda ctx, g: (None, 1, 2)}, "returns 3 gradients"),
    "self": ({"forward": lambda self, ctx, x: x, "backward": lambda ctx, g: g},
             "forward is a static method, which gets no self: write @staticmethod above it, and forward(ctx, ...)"),
    "self in backward": ({"forward": two, "backward": lambda self, ctx, g: (g, g)}, "backward is a static method"),
    "once_differentiable": ({"forward": two, "backward": once_differentiable(lambda ctx, g: (g,))},
                            "returns 1 gradient"),
    "vjp": ({"forward": two, "vjp": lambda ctx, g: (g,)}, "vjp returns 1 gradient"),
    "one gradient for two outputs": ({"forward": lambda ctx, x: (x, x * 2), "backward": lambda ctx, g: g},
                                     "forward returns 2 outputs, but backward is defined as backward(ctx, g) and is"),
    "no ctx in forward": ({"forward": lambda x: x, "backward": lambda ctx, g: g},
                          "forward takes only 'x', in the place of ctx"),
    "forward of nothing": ({"forward": lambda: 1}, "forward takes no arguments; its first one is ctx"),
    "no ctx in backward": ({"forward": two, "backward": lambda g: g}, "is called with (ctx, *grad_outputs)"),
    "setup_context": ({"forward": lambda x: x, "setup_context": lambda ctx, inputs: None, "backward": lambda ctx, g: g},
                      "setup_context is called with (ctx, inputs, output)"),
    "ctx and setup_context": ({"forward": lambda ctx, x: x, "setup_context": lambda ctx, inputs, output: None},
                              "forward takes ctx although there is a setup_context"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    body, message = WRONG[name]
    with pytest.raises(TypeError, match=rf"F: .*{re.escape(message)}") as error:
        define(**body)
    assert re.search(rf"is at {re.escape(__file__)}:\d+$", str(error.value))


RIGHT = {
    "trailing None": {"forward": two, "backward": lambda ctx, g: (g, g, None, None)},
    "a variable that may be None": {"forward": two, "backward": may_be_none},
    "a default left out": {"forward": maybe, "backward": lambda ctx, g: (g,)},
    "any number": {"forward": lambda ctx, *xs: xs[0], "backward": lambda ctx, g: (g,)},
    "one return fits": {"forward": two, "backward": fits_once},
    "not a tuple": {"forward": two, "backward": lambda ctx, g: g},
    "what cannot be known": {"forward": two, "backward": lambda ctx, g: (g,) * 2},
    "one of two that cannot be known": {"forward": two, "backward": lambda ctx, g: (g,) if ctx.a else ctx.b},
    "several cotangents": {"forward": two, "backward": lambda ctx, *gs: (gs[0], gs[1])},
    "a gradient for each output": {"forward": lambda ctx, x: (x, x * 2), "backward": lambda ctx, g, h: g},
    "a gradient that may be left out": {"forward": lambda ctx, x: (x, x * 2), "backward": lambda ctx, g, *more: g},
    "setup_context": {"forward": lambda x, y: x, "setup_context": lambda ctx, inputs, output: None,
                      "backward": lambda ctx, g: (g, g)},
    "only forward": {"forward": two},
    "only backward": {"backward": lambda ctx, g: (g,)},
    "nothing": {},
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    define(**RIGHT[name])


def test_old_style_classes_can_be_defined():
    class Old(Function):
        def forward(self, x):
            return x

        def backward(self, g):
            return g

    with pytest.raises(RuntimeError, match="Legacy autograd function"):
        Old()


def test_a_base_and_what_is_made_of_it():
    base = define(backward=lambda ctx, g: (g, g * 2))
    x = gw.ones(2, requires_grad=True)
    define(base, forward=two).apply(x, x).sum().backward()
    with pytest.raises(TypeError, match="returns 2 gradients, but forward takes 1 input"):
        define(base, forward=lambda ctx, x: x)


def test_a_method_that_is_misspelt_is_named():
    x = gw.ones(2, requires_grad=True)
    with pytest.raises(NotImplementedError, match=r"the forward function.* F has 'foward': call it 'forward'"):
        define(foward=lambda ctx, x: x).apply(x)
    y = define(forward=lambda ctx, x: x * 2, backwards=lambda ctx, g: g, helper=lambda g: g).apply(x)
    with pytest.raises(NotImplementedError, match=r"mode AD\. F has 'backwards': call it 'backward'"):
        y.sum().backward()
    with pytest.raises(NotImplementedError, match=r"autograd\.Function\.$"):
        define(helper=lambda g: g).apply(x)


def mute(ctx, g):
    """What it would return is written here,
at whatever column."""
    # and here: return g
    return_ = g * 2

    def deeper():
        return return_


def unless(ctx, g):
    for one in ctx:
        if one:
            return
    g * 2


@pytest.mark.parametrize(("fn", "due"), [
    (mute, True), (unless, False), (two, False), (lambda ctx, g: None, False), (once_differentiable(mute), True),
    (staticmethod(mute).__func__, True), (print, False),
])  # fmt: skip
def test_whether_there_is_a_return_is_read_off_the_statements_once(monkeypatch, fn, due):
    assert lacks_return(fn) is due
    monkeypatch.setattr(inspect, "getsource", None)
    assert lacks_return(fn) is due


# ---- sparse results ----------------------------------------------------------------------------------------


SPARSE = {
    "coo": lambda i, g, shape: gw.sparse_coo_tensor(i[None], g, shape),
    "coalesced": lambda i, g, shape: gw.sparse_coo_tensor(i[None], g, shape).coalesce(),
    "of entries": lambda i, g, shape: gw.zeros(shape, dtype=g.dtype).index_add(0, i, g).to_sparse(),
    "csr": lambda i, g, shape: gw.zeros(shape, dtype=g.dtype).index_add(0, i, g).to_sparse_csr(),
}


def _picked(make):
    class Pick(gw.autograd.Function):
        @staticmethod
        def forward(w, i):
            return w[i] * w[i]

        @staticmethod
        def setup_context(ctx, inputs, output):
            w, i = inputs
            ctx.save_for_backward(w, i)
            ctx.save_for_forward(w, i)

        @staticmethod
        def backward(ctx, g):
            w, i = ctx.saved_tensors
            return make(i, 2 * g * w[i], w.shape), None

        @staticmethod
        def jvp(ctx, moved, _):
            w, i = ctx.saved_tensors
            return (2 * w[i] * moved[i]).to_sparse()

    return Pick.apply


@pytest.mark.parametrize("name", SPARSE)
def test_sparse_gradients_are_taken_for_the_dense_ones_that_they_are(name):
    pick, i = _picked(SPARSE[name]), gw.tensor([0, 2, 0])
    w = gw.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=gw.float64, requires_grad=True)
    weights = gw.arange(1.0, 7.0, dtype=gw.float64).reshape(3, 2)
    for of in (lambda w: w, lambda w: w * 3, lambda w: w.view(6).view(3, 2), lambda w: w.t().contiguous().t()):
        want = gw.autograd.grad((weights * of(w)[i] ** 2).sum(), w, create_graph=True)
        got = gw.autograd.grad((weights * pick(of(w), i)).sum(), w, create_graph=True)
        assert gw.allclose(want[0], got[0])
        if name in ("coo", "coalesced"):
            second = [gw.autograd.grad((g * g).sum(), w)[0] for g in (want[0], got[0])]
            assert gw.allclose(*second)
    p = gw.nn.Parameter(w.detach())
    for _ in range(2):
        pick(p, i).sum().backward()
    gw.nn.utils.clip_grad_norm_(p, 1.0)
    gw.optim.SparseAdam([p]).step()
    assert p[1].tolist() == [3, 4]
    _, moved = gw.func.jvp(lambda w: pick(w, i), (w.detach(),), (gw.ones_like(w),))
    assert gw.allclose(moved, 2 * w[i])


@pytest.mark.parametrize("name", ["coo", "csr"])
def test_a_sparse_gradient_of_another_shape_is_refused_as_a_dense_one(name):
    pick = _picked(lambda i, g, shape: SPARSE[name](i, g, (4, 2)))
    w = gw.ones(3, 2, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"invalid gradient at index 0 - got \[4, 2\] but expected .* \[3, 2\]"):
        pick(w, gw.tensor([0, 2])).sum().backward()
