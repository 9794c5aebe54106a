"""A second derivative through what a backward cut off is an error; a first one never is, nor what is right anyway."""

import copy
import re
import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import Function, grad, gradcheck
from gradwright.engine.strict import strict
from gradwright.errors import GradientWarning
from gradwright.function.contract.once_differentiable import once_differentiable
from gradwright.function.contract.surrogate import surrogate
from tests.functions import functions, leaf


def cube(backward, forward=None, **more):
    def saves(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    return type("Cube", (Function,), {"forward": staticmethod(forward or saves), "backward": staticmethod(backward),
                                      **more})  # fmt: skip


def saved(ctx):
    return ctx.saved_tensors[0]


def in_no_grad(ctx, g):
    with gw.no_grad():
        return g * 3 * saved(ctx) ** 2


def in_part_in_no_grad(ctx, g):
    with gw.no_grad():
        slope = 3 * saved(ctx) ** 2
    return g * slope


def inner(create_graph):
    def backward(ctx, g):
        x = saved(ctx).detach().requires_grad_()
        with gw.enable_grad():
            y = x * x * x
        return grad(y, x, g, create_graph=create_graph)[0]

    return backward


def inner_backward(ctx, g):
    x = saved(ctx).detach()
    x.requires_grad = True
    with gw.enable_grad():
        (x * x * x).backward(g)
    return x.grad


def into(write):
    """A backward that uses a buffer into which ``write`` has put x."""
    def backward(ctx, g):
        buffer = gw.zeros_like(saved(ctx))
        write(buffer, saved(ctx))
        return g * 3 * buffer**2

    return backward


def in_no_grad_into(write):
    def in_no_grad(buffer, x):
        with gw.no_grad():
            write(buffer, x)

    return into(in_no_grad)


def history_of_another(ctx, g):
    x = saved(ctx)
    buffer = x * 0
    with gw.no_grad():
        buffer[:] = x
    return g * 3 * buffer**2


CUTS = {
    "detach()": lambda ctx, g: g * 3 * saved(ctx).detach() ** 2,
    "detach() of one of two": lambda ctx, g: g * 3 * saved(ctx) * saved(ctx).detach(),
    "gw.detach": lambda ctx, g: g * 3 * gw.detach(saved(ctx)) ** 2,
    ".data": lambda ctx, g: g * 3 * saved(ctx).data ** 2,
    "numpy()": lambda ctx, g: g * gw.from_numpy(3 * saved(ctx).detach().numpy() ** 2),
    "numpy() without detach()": lambda ctx, g: g * gw.from_numpy(3 * saved(ctx).numpy() ** 2),
    "numpy() after computing": lambda ctx, g: g * gw.from_numpy((3 * saved(ctx).detach() ** 2).numpy()),
    "numpy.asarray()": lambda ctx, g: g * gw.tensor(3 * np.asarray(saved(ctx).detach()) ** 2),
    "tensor()": lambda ctx, g: g * 3 * gw.tensor(saved(ctx)) ** 2,
    "tensor() of a list": lambda ctx, g: g * 3 * gw.tensor(list(saved(ctx)), dtype=gw.float64) ** 2,
    "tensor() by new_tensor": lambda ctx, g: g * 3 * saved(ctx).new_tensor(saved(ctx)) ** 2,
    "tensor() by Tensor": lambda ctx, g: g * 3 * gw.Tensor(list(saved(ctx))).double() ** 2,
    "as_tensor()": lambda ctx, g: g * 3 * gw.as_tensor([saved(ctx)[0]], dtype=gw.float64) ** 2,
    "deepcopy()": lambda ctx, g: g * 3 * copy.deepcopy(saved(ctx)) ** 2,
    "no_grad() with copy_()": in_no_grad_into(lambda buffer, x: buffer.copy_(x)),
    "no_grad() with an index": in_no_grad_into(lambda buffer, x: buffer.__setitem__(slice(None), x)),
    "no_grad() with an operator": in_no_grad_into(lambda buffer, x: buffer.__iadd__(x)),
    "no_grad() with .data": in_no_grad_into(lambda buffer, x: buffer.data.copy_(x)),
    "no_grad() with a history": history_of_another,
    ".data that is set": into(lambda buffer, x: setattr(buffer, "data", x)),
    "tolist()": lambda ctx, g: g * gw.tensor([3 * v * v for v in saved(ctx).tolist()], dtype=gw.float64),
    "item()": lambda ctx, g: g * (3 * saved(ctx).sum().item() ** 2),
    "float()": lambda ctx, g: g * (3 * float(saved(ctx).sum()) ** 2),
    "no_grad()": in_no_grad,
    "no_grad() in part": in_part_in_no_grad,
    "detach() of a leaf inside": inner(False),
    "detach() of a recorded leaf inside": inner(True),
    "detach() and backward()": inner_backward,
}


@pytest.mark.parametrize("name", CUTS)
def test_a_second_derivative_raises_and_says_why(name):
    x = leaf(0.5)
    with strict(True):
        (g,) = grad(cube(CUTS[name]).apply(x).sum(), x, create_graph=True)
        assert g.item() == pytest.approx(0.75)
        with pytest.raises(RuntimeError) as error:
            grad(g.sum(), x)
    text = str(error.value)
    how = re.match(r"[\w.]+(\(\))?", name)[0].removeprefix("gw.")
    assert text.startswith(f"CubeBackward cut the gradient off with {how}")
    assert re.search(rf"cut off at {re.escape(__file__)}:\d+: ", text)
    assert "once_differentiable" in text
    assert 'surrogate("reason")' in text


COPIES = pytest.mark.filterwarnings("ignore:To copy construct from a tensor")


@COPIES
@pytest.mark.parametrize("name", [n for n in CUTS if "without" not in n])
def test_a_first_derivative_does_not(name):
    with strict(True):
        assert gradcheck(cube(CUTS[name]).apply, leaf(0.5))


@pytest.mark.parametrize("name", ["numpy()", "detach()", "no_grad()"])
def test_an_ordinary_pass_does_not(name):
    x = leaf(0.5)
    cube(CUTS[name] if "numpy" in name else CUTS["detach()"]).apply(x).sum().backward()
    assert x.grad.item() == 0.75


def test_a_part_that_may_be_missing_is_warned_of():
    x = leaf(0.5, 2.0)
    y = cube(lambda ctx, g: g * saved(ctx) * (3 * saved(ctx).sum().item())).apply(x)
    (g,) = grad(y.sum(), x, create_graph=True)
    with pytest.warns(GradientWarning, match=r"item\(\), so this second derivative may miss what goes that way"):
        grad(g.sum(), x, retain_graph=True)
    with strict(True), pytest.raises(RuntimeError, match="may miss"):
        grad(g.sum(), x)


def forward_in_numpy(kept):
    def forward(ctx, x):
        a = x.detach().numpy()
        slope = 3 * a * a
        if kept == "saved":
            ctx.save_for_backward(gw.from_numpy(slope))
        else:
            ctx.slope = slope if kept == "array" else float(x.sum().item() ** 2 * 3)
        return gw.from_numpy(a**3)

    def backward(ctx, g):
        slope = ctx.saved_tensors[0] if kept == "saved" else ctx.slope
        return g * (gw.from_numpy(slope) if kept == "array" else slope)

    return cube(backward, forward)


@pytest.mark.parametrize("kept", ["saved", "array", "number"])
def test_values_that_left_in_forward(kept):
    x = leaf(0.5)
    F = forward_in_numpy(kept)
    assert gradcheck(F.apply, x)
    (g,) = grad(F.apply(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match=r"cut the gradient off with numpy\(\)") as error:
        grad(g.sum(), x)
    assert "a = x.detach().numpy()" in str(error.value)


# ---- what is right is left alone -----------------------------------------------------------------------------------


def shifted(ctx, g):
    x = saved(ctx)
    m = x.max().detach()
    return g * 3 * x * x * ((m + (x - m).exp().sum().log()) / x.logsumexp(0))  # the derivative by m is 0


def controlled(ctx, g):
    x = saved(ctx)
    with gw.no_grad():
        positive = x > 0
    assert positive.any().item()
    assert x.shape[0] == int(gw.tensor(2))
    return g * 3 * x * x * x.detach().sign() ** 2


def stepped(w):
    """A step of an optimiser: the leaf stays one."""
    with gw.no_grad():
        w.sub_(1.0)
        w[0] = 0.0
        w.data.add_(1.0)
    assert w.is_leaf
    return w.detach().sign()


def rewritten(ctx, g):
    """What is written over in a no_grad block is gone, with its history."""
    buffer = saved(ctx) * 1
    with gw.no_grad():
        buffer.zero_()
    return g * 3 * (saved(ctx) ** 2 + buffer)


def rewritten_in_parts(ctx, g):
    buffer = saved(ctx) * 1
    with gw.no_grad():
        buffer[0] = 0.0
        buffer[1:].copy_(gw.zeros(1))
    return g * 3 * (saved(ctx) ** 2 + buffer)


RIGHT = {
    "plain": lambda ctx, g: g * 3 * saved(ctx) ** 2,
    "a mask": lambda ctx, g: g * 3 * saved(ctx) ** 2 * (saved(ctx).detach() > -9),
    "a mask from NumPy": lambda ctx, g: g * 3 * saved(ctx) ** 2 * gw.from_numpy(saved(ctx).detach().numpy() > -9),
    "a sign": lambda ctx, g: g * 3 * saved(ctx) ** 2 * saved(ctx).detach().sign().abs(),
    "a maximum": shifted,
    "control": controlled,
    "a constant": lambda ctx, g: g * gw.tensor([3.0, 3.0], dtype=gw.float64) * saved(ctx) ** 2,
    "library functions": lambda ctx, g: g * 3 * saved(ctx) ** 2 * saved(ctx).softmax(0).sum(),
    "a buffer": into(lambda buffer, x: buffer.copy_(x)),
    "a buffer, by .data": into(lambda buffer, x: buffer.data.copy_(x)),
    "a buffer, by detach()": into(lambda buffer, x: buffer.detach().add_(x)),
    "a part of a buffer, by .data": into(lambda buffer, x: buffer[:].data[:].copy_(x)),
    "a buffer that is written over": rewritten,
    "a buffer that is written over in parts": rewritten_in_parts,
    "full()": lambda ctx, g: g * 3 * gw.cat([gw.full((1,), v, dtype=gw.float64) for v in saved(ctx)]) ** 2,
    "new_full()": lambda ctx, g: g * 3 * gw.cat([g.new_full((1,), v) for v in saved(ctx)]) ** 2,
    "a copy of a constant": lambda ctx, g: g * gw.tensor(gw.ones(2, dtype=gw.float64)) * 3 * saved(ctx) ** 2,
    "a leaf in a no_grad block": lambda ctx, g: g * 3 * saved(ctx) ** 2 + 0 * stepped(leaf(1.0, 1.0)),
    "a detached cotangent": lambda ctx, g: (g.detach() * 0 + g) * 3 * saved(ctx) ** 2,
}


@COPIES
@pytest.mark.parametrize("name", RIGHT)
def test_what_is_right_passes(name):
    x = leaf(0.5, 2.0)
    (g,) = grad(cube(RIGHT[name]).apply(x).sum(), x, create_graph=True)
    assert grad(g.sum(), x)[0].tolist() == pytest.approx([3.0, 12.0])


def test_a_second_derivative_that_goes_another_way():
    x, w = leaf(0.5), leaf(2.0)
    y = cube(CUTS["detach()"]).apply(x) * w
    (g,) = grad(y.sum(), x, create_graph=True)
    assert grad(g.sum(), w)[0].item() == pytest.approx(0.75)


@pytest.mark.parametrize("cotangent", [True, False])
def test_once_differentiable(cotangent):
    x, v = leaf(0.5), leaf(1.0)
    F = cube(once_differentiable(CUTS["numpy()"]))
    (g,) = grad(F.apply(x), x, v if cotangent else gw.ones(1, dtype=gw.float64), create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable: CubeBackward"):
        grad(g.sum(), x)


def test_a_declared_surrogate_may_cut():
    x, v = leaf(0.5), leaf(1.0)
    F = surrogate("the slope is a constant")(cube(CUTS["detach()"]))
    (g,) = grad(F.apply(x), x, v, create_graph=True)
    assert grad(g.sum(), v)[0].item() == pytest.approx(0.75)


def test_outside_a_backward_nothing_changes():
    x = leaf(0.5)
    assert not x.detach().requires_grad
    assert not x.data.requires_grad
    with pytest.raises(RuntimeError, match="Can't call numpy"):
        x.numpy()
    inside = []

    def backward(ctx, g):
        inside.append(saved(ctx).detach().requires_grad)
        return g * 3 * saved(ctx) ** 2

    cube(backward).apply(x).sum().backward()
    assert inside == [False]


def test_a_function_inside_a_recorded_backward_has_a_forward_of_its_own():
    """Its forward may detach what it likes."""
    seen = []

    def forward(ctx, x):
        ctx.save_for_backward(x)
        with gw.enable_grad():
            seen.append(x.detach().requires_grad)
        return x.detach() * 2

    double = cube(lambda ctx, g: g * 2, forward)
    F = cube(lambda ctx, g: double.apply(g * saved(ctx) ** 2) * 1.5)
    x = leaf(0.5)
    (g,) = grad(F.apply(x).sum(), x, create_graph=True)
    assert grad(g.sum(), x)[0].item() == pytest.approx(3)
    assert seen == [False]


def test_a_pass_inside_that_is_not_recorded():
    seen = []

    def backward(ctx, g):
        seen.append(saved(ctx).detach().requires_grad)
        return g * 3 * saved(ctx) ** 2

    def outer(ctx, g):
        x = leaf(0.5)
        cube(backward).apply(x * 1).sum().backward()
        return g * saved(ctx) ** 2 * 3 * (x.grad / 0.75)

    x = leaf(0.5)
    (g,) = grad(cube(outer).apply(x).sum(), x, create_graph=True)
    assert grad(g.sum(), x)[0].item() == pytest.approx(3)
    assert seen == [False]


def test_a_once_differentiable_backward_may_cut():
    seen = []

    def backward(ctx, g):
        with gw.enable_grad():
            seen.append(saved(ctx).detach().requires_grad)
        return g * 3 * saved(ctx) ** 2

    x = leaf(0.5)
    grad(cube(once_differentiable(backward)).apply(x).sum(), x, create_graph=True)
    assert seen == [False]


@pytest.mark.parametrize(("dtype", "lost", "kept"), [("float64", 1e-13, 1e-9), ("float32", 1e-7, 1e-4)])
def test_what_is_cut_off_is_nothing_only_if_rounding_is_as_large(dtype, lost, kept):
    def part(size):
        F = cube(lambda ctx, g: g * 3 * saved(ctx) ** 2 + size * g * saved(ctx).detach())
        x = gw.tensor([1.5, -0.5], dtype=getattr(gw, dtype), requires_grad=True)
        (g,) = grad(F.apply(x).sum(), x, create_graph=True)
        return grad(g.sum(), x)[0]

    assert part(lost).tolist() == pytest.approx([9.0, -3.0], rel=1e-5)
    with pytest.raises(RuntimeError, match="cut the gradient off"):
        part(kept)


def test_an_array_that_left_before_a_number_is_not_forgotten():
    def backward(ctx, g):
        slopes = 3 * saved(ctx).numpy() ** 2
        n = saved(ctx)[0].item()
        return g * n * gw.from_numpy(slopes) / n

    x = leaf(0.5, -1.0)
    (g,) = grad(cube(backward).apply(x).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="cut the gradient off"):
        grad(g.sum(), x)


@pytest.mark.parametrize("weight", [0.0, 1.0])
def test_a_doubt_is_told_only_of_what_a_second_derivative_reaches(weight):
    def backward(ctx, g):
        return g * 3 * saved(ctx) ** 2 * saved(ctx)[0].item()

    x = leaf(0.5, -1.0)
    (g,) = grad(cube(backward).apply(x).sum(), x, create_graph=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        grad(g.sum() * weight, x)
    assert [w.category for w in caught] == ([GradientWarning] if weight else [])


@pytest.mark.parametrize("part", [slice(None), slice(0, 1)])
def test_a_buffer_that_no_grad_writes_in_backward_does_not_require_grad_afterwards(T, part):
    buffer = T.zeros(2, dtype=T.float64)

    class Square(functions(T)):
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            with T.no_grad():
                buffer[part] += (g * x)[part]
            return 2 * g * x

    x = T.tensor([2.0, 3.0], dtype=T.float64, requires_grad=True)
    (g,) = T.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    assert not buffer.requires_grad
    assert g.requires_grad
    assert buffer.tolist() == [2.0, 3.0 if part == slice(None) else 0.0]


@pytest.mark.parametrize("recorded", [False, True])
def test_a_buffer_may_be_made_a_leaf_in_backward(recorded):
    buffer = gw.zeros(1, dtype=gw.float64)

    def backward(ctx, g):
        with gw.no_grad():
            buffer.add_(g)
        buffer.requires_grad_()
        return g * 3 * saved(ctx) ** 2

    x = leaf(2.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad(cube(backward).apply(x), x, create_graph=recorded)
    assert buffer.requires_grad
