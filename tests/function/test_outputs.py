"""What becomes of outputs and saved tensors: the short way, for one plain output, does what the long one does."""

import pytest

import gradwright as gw
from gradwright.autograd import grad
from tests.functions import Function, unnamed


def one(ctx, x, w):
    y = x.exp()
    ctx.save_for_backward(x, None, w, y)
    ctx.y, ctx.k = y, 2
    return y


def in_a_tuple(ctx, x, w):
    return (one(ctx, x, w),)


def one_of_two(ctx, x, w):
    return one(ctx, x, w), 3


def backward(ctx, g, *_):
    _, none, w, y = ctx.saved_tensors
    assert none is None
    assert w.tolist() == [5]
    return g * (y + ctx.y) / ctx.k, None


@pytest.mark.parametrize("forward", [one, in_a_tuple, one_of_two])
def test_both_ways_come_to_the_same(forward):
    x, w = gw.tensor([0.5], dtype=gw.float64, requires_grad=True), gw.tensor([5.0], dtype=gw.float64)
    out = unnamed(forward, backward).apply(x, w)
    y = out if forward is one else out[0]
    node = y.grad_fn
    assert node.saved_tensors[0] is x
    assert node.saved_tensors[1] is None
    assert node.saved_tensors[2].grad_fn is None
    assert node.saved_tensors[3].grad_fn is node
    (g,) = grad(y, x, create_graph=True)
    assert grad(g, x)[0].item() == pytest.approx(y.item())


@pytest.mark.parametrize("value", [1, True, 2.0])
def test_only_floating_outputs_have_a_history(value):
    def forward(ctx, x):
        out = gw.full((2,), value)
        ctx.save_for_backward(out)
        return out

    y = unnamed(forward, lambda ctx, g: g).apply(gw.ones(2, requires_grad=True))
    assert y.requires_grad is (value == 2.0 and value.__class__ is float)


@pytest.mark.parametrize("forward", [lambda ctx, x: x, lambda ctx, x: x[:], lambda ctx, x: x.view(2, 1)])
def test_an_input_or_a_view_of_one_becomes_a_view_of_its_own(forward):
    x = gw.ones(2, requires_grad=True) * 1
    y = unnamed(forward, lambda ctx, g: g.reshape(2)).apply(x)
    assert y is not x
    assert y._is_view()
    assert type(y.grad_fn).__name__ == "FBackward"


def test_saved_tensors_are_what_they_were_while_they_live(torch):
    """As in PyTorch, whose programs tell tensors by what they are: torchviz does."""
    for lib in (torch, gw):

        def forward(ctx, x, c, v):
            y = x * 2
            ctx.save_for_backward(x, c, v, y)
            return y

        F = type("F", (lib.autograd.Function,), {
            "forward": staticmethod(forward), "backward": staticmethod(lambda ctx, g: (g * 2, None, None)),
        })  # fmt: skip
        leaf = lib.ones(2, requires_grad=True)
        x, c, v = leaf * 1, lib.ones(2), (leaf * 1)[:1]
        y = F.apply(x, c, v)
        a, b, w, out = y.grad_fn.saved_tensors
        assert [a is x, b is c, w is v, out is y] == [True, True, True, False]
        assert out.grad_fn is y.grad_fn


def test_what_has_another_history_since_comes_back_with_the_one_it_had():
    leaf = gw.ones(2, requires_grad=True)
    x = leaf * 1
    y = unnamed(lambda ctx, x: (ctx.save_for_backward(x), x * 2)[1], lambda ctx, g: g * 2).apply(x)
    node = x.grad_fn
    x.detach_()
    (saved,) = y.grad_fn.saved_tensors
    assert saved is not x
    assert saved.grad_fn is node


def test_an_input_that_is_changed_beside_one_that_is_declared():
    class Swap(Function):
        def forward(ctx, a, b):
            ctx.mark_dirty(a)
            a.mul_(2)
            b.mul_(3)
            return a, b.clone()

        def backward(ctx, g, h):
            return g * 2, h * 3

    a, b = (gw.ones(2, requires_grad=True) * 1 for _ in range(2))
    with pytest.raises(RuntimeError, match="forward changed its input 'b' in place"):
        Swap.apply(a, b)


def test_what_is_written_past_the_counter_and_returned_is_warned_of(torch):
    """As torchdiffeq fills the stages of a step."""
    found = []
    for t in (gw, torch):

        class Assign(t.autograd.Function):
            def forward(ctx, scratch, value, index):
                ctx.index = index
                scratch.data[index] = value  # past the version counter
                return scratch

            def backward(ctx, g):
                return g, g[ctx.index], None

        x = t.tensor([1.0, 2.0], dtype=t.float64, requires_grad=True)
        k = t.empty(2, 2, dtype=t.float64)
        apply = Assign.apply
        if t is gw:
            with pytest.warns(gw.GradientWarning, match="changed its input 'scratch' in place past the version"):
                k = apply(k, x.sin(), 0)
            with pytest.warns(gw.GradientWarning, match="changed its input 'scratch' in place past the version"):
                k = apply(k, (k[0] * x).exp(), 1)
        else:
            k = apply(k, x.sin(), 0)
            k = apply(k, (k[0] * x).exp(), 1)
        k.sum().backward()
        found.append([*k.flatten().tolist(), *x.grad.tolist()])
    assert found[0] == pytest.approx(found[1])


def test_what_is_written_through_an_array_is_not_excused_by_a_data_beside_it():
    class Doubled(Function):
        def forward(ctx, x):
            x.detach().numpy()[:] *= 2  # not x.data
            return x

        def backward(ctx, g):
            return 2 * g

    x = gw.ones(2, requires_grad=True) * 1
    with pytest.raises(RuntimeError, match="forward changed its input 'x' in place and did not say so"):
        Doubled.apply(x)


def test_a_method_without_return_is_told():
    class Mute(Function):
        def forward(ctx, x):
            x * 2

        def backward(ctx, g):
            g * 2

    class Deaf(Mute):
        def forward(ctx, x, k):
            return x * k

    class Blocked(Deaf):
        def backward(ctx, g):
            return None

    x = gw.ones(2, requires_grad=True)
    with pytest.warns(gw.GradientWarning, match=r"Mute: forward returned nothing: there is no return in it"):
        assert Mute.apply(x) is None
    with pytest.warns(gw.GradientWarning, match=r"Deaf: backward returned nothing: there is no return in it"), \
            pytest.raises(RuntimeError, match=r"expected 2, got 1"):  # fmt: skip
        Deaf.apply(x, x).sum().backward()
    with pytest.raises(RuntimeError, match=r"expected 2, got 1"):
        Blocked.apply(x, x).sum().backward()
    Deaf.forward = staticmethod(lambda ctx, x: x * 1)
    with pytest.warns(gw.GradientWarning, match=r"so no gradient reaches the inputs"):
        Deaf.apply(x).sum().backward()
    assert x.grad is None
    Blocked.forward = Deaf.forward
    Blocked.apply(x).sum().backward()


def test_an_array_from_backward_is_told_what_to_return():
    class OfArrays(Function):
        def forward(ctx, x):
            return x * 2

        def backward(ctx, g):
            return g.numpy() * 2

    with pytest.raises(RuntimeError, match=r"got ndarray.*, of 'x'; backward is at .*: return a tensor, such as"):
        OfArrays.apply(gw.ones(2, requires_grad=True)).sum().backward()


@pytest.mark.parametrize("road", ["plain", "recorded", "no_grad", "leaf", "several"])
@pytest.mark.parametrize("kind", ["a class of the user's", "Parameter", "plain"])
def test_an_input_that_is_returned_is_of_the_class_that_its_operations_give(T, kind, road):
    class Mine(T.Tensor):
        pass

    class Same(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return (x, x * 2) if road == "several" else x

        @staticmethod
        def backward(ctx, *gs):
            return sum(gs)

    x = T.ones(2)
    if kind == "a class of the user's":
        x = x.as_subclass(Mine)
    if kind == "Parameter":
        x = T.nn.Parameter(x)
    if road in ("leaf", "several") and kind != "Parameter":
        x.requires_grad_()
    if road == "recorded":
        x = x.detach().requires_grad_() * 2
    with T.set_grad_enabled(road != "no_grad"):
        y = Same.apply(x)
    y = y[0] if road == "several" else y
    assert type(y) is type(x.view_as(x))


@pytest.mark.parametrize("kind", ["plain", "a leaf", "a result", "a view of a leaf", "a view"])
def test_an_input_that_is_returned_under_no_grad_has_no_history(T, kind):
    class Same(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

    x = T.ones(2, requires_grad=kind in ("a leaf", "a result", "a view of a leaf"))
    x = x * 1 if kind == "a result" else x[:] if "view" in kind else x
    with T.no_grad():
        y = Same.apply(x)
        assert not y.requires_grad
        y.add_(1)
    assert not y.requires_grad
    assert y.grad_fn is None
    y.mul_(2)
    assert x.tolist() == [4, 4]
    assert x._version == 2
    assert x.requires_grad == (kind in ("a leaf", "a result", "a view of a leaf"))


def _mute(ctx, g):
    g * 2


@pytest.mark.parametrize("name", ["backward", "vjp"])
@pytest.mark.parametrize("inherited", [False, True])
def test_the_place_of_a_derivative_without_return_is_that_of_the_method_that_was_written(name, inherited):
    forward = staticmethod(lambda ctx, x: x * 1)
    cls = type("Written", (Function,), {"forward": forward, name: staticmethod(_mute)})
    if inherited:
        cls = type("Below", (cls,), {})
    y = cls.apply(gw.ones(2, requires_grad=True))
    with pytest.warns(gw.GradientWarning, match=rf"test_outputs\.py:{_mute.__code__.co_firstlineno}, in _mute"):
        y.sum().backward()
