"""Tensors that forward leaves on ctx: given back as they were, checked for changes, keeping nothing alive."""

import re
import weakref
from collections import OrderedDict, defaultdict, deque, namedtuple
from dataclasses import dataclass
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import gradwright
from tests.functions import Function, functions

Pair = namedtuple("Pair", "left right")


@dataclass
class Kept:
    value: object



@pytest.fixture
def Keeps(T):
    """``Keeps.apply(x, put, use)``: ``put(ctx, x, y)`` in forward; backward returns ``g * use(ctx)``."""

    class Keeps(functions(T)):
        def forward(ctx, x, put, use):
            y = x * 2
            put(ctx, x, y)
            ctx.use = use
            return y

        def backward(ctx, g):
            return g * ctx.use(ctx), None, None

    return Keeps


def put(**makers):
    def put(ctx, x, y):
        for name, make in makers.items():
            setattr(ctx, name, make(x, y))

    return put


HOLDERS = {
    "alone": (lambda t: t, lambda a: a, "ctx.kept"),
    "list": (lambda t: [1, t], lambda a: a[1], "ctx.kept[1]"),
    "tuple": (lambda t: (t, "text"), lambda a: a[0], "ctx.kept[0]"),
    "dict": (lambda t: {"k": t}, lambda a: a["k"], "ctx.kept['k']"),
    "nested": (lambda t: {"k": [(0, t)]}, lambda a: a["k"][0][1], "ctx.kept['k'][0][1]"),
    "namedtuple": (lambda t: Pair(1, t), lambda a: a.right, "ctx.kept[1]"),
    "OrderedDict": (lambda t: OrderedDict(k=t), lambda a: a["k"], "ctx.kept['k']"),
    "dataclass": (Kept, lambda kept: kept.value, "ctx.kept.value"),
    "namespace": (lambda t: SimpleNamespace(value=[t]), lambda kept: kept.value[0], "ctx.kept.value[0]"),
    "closure": (lambda t: lambda: t, lambda kept: kept(), "ctx.kept.t"),
    "partial": (lambda t: partial(Kept, value=t), lambda kept: kept().value, "ctx.kept.value"),
    "set": (lambda t: {t}, lambda kept: next(iter(kept)), "ctx.kept[0]"),
    "deque": (lambda t: deque([t]), lambda kept: kept[0], "ctx.kept[0]"),
    "dataclass in a list": (lambda t: [Kept(t)], lambda kept: kept[0].value, "ctx.kept[0].value"),
    "dataclass in a dict": (lambda t: {"k": Kept([t])}, lambda kept: kept["k"].value[0], "ctx.kept['k'].value[0]"),
    "dataclass in a tuple": (lambda t: (Kept(t), 1), lambda kept: kept[0].value, "ctx.kept[0].value"),
    "closure in a list": (lambda t: [lambda: t], lambda kept: kept[0](), "ctx.kept[0].t"),
}  # fmt: skip


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("which", ["input", "output", "intermediate", "leaf"])
def test_what_was_put_there_comes_back(T, leaf, Keeps, holder, which):
    make, take, _ = HOLDERS[holder]
    pick = {"input": lambda x, y: x, "output": lambda x, y: y, "intermediate": lambda x, y: x * 3,
            "leaf": lambda x, y: x}[which]  # fmt: skip
    x = leaf([1.0, 2.0])
    seen = []

    def use(ctx):
        seen.append(type(ctx.kept))
        assert take(ctx.kept) is take(ctx.kept)
        return take(ctx.kept)

    arg = x if which == "leaf" else x * 1
    y = Keeps.apply(arg, put(kept=lambda x, y: make(pick(x, y))), use)
    y.sum().backward()
    factor = {"input": 1, "output": 2, "intermediate": 3, "leaf": 1}[which]
    assert x.grad.tolist() == [factor, 2 * factor]
    assert seen == [type(make(x))]
    if which in ("input", "leaf") and holder == "alone":
        assert y.grad_fn.kept is arg
    if which == "output":
        assert take(y.grad_fn.kept) is y


@pytest.mark.parametrize("holder", HOLDERS)
@pytest.mark.parametrize("which", ["input", "output", "intermediate"])
def test_a_change_in_between_is_an_error(holder, which):
    make, take, path = HOLDERS[holder]
    found = []
    pick = {"input": lambda x, y: x, "output": lambda x, y: y, "intermediate": lambda x, y: x * 3}[which]

    class Keeps(Function):
        def forward(ctx, x):
            y = x * 2
            t = pick(x, y)
            found.append(t)
            ctx.kept = make(t)
            return y

        def backward(ctx, g):
            return g * take(ctx.kept)

    x = gradwright.ones(2, requires_grad=True)
    h = x * 1
    y = Keeps.apply(h)
    found.pop().detach().mul_(2)
    with pytest.raises(RuntimeError) as error:
        y.sum().backward()
    text = str(error.value)
    assert "modified by an inplace operation" in text
    assert "is at version 1; expected version 0" in text
    assert f"KeepsBackward saved it as {path!r}" in text
    assert f"changed at {__file__}" in text
    assert "found.pop().detach().mul_(2)" in text
    with pytest.raises(RuntimeError, match="KeepsBackward saved it as"):
        y.grad_fn.kept
    assert x.grad is None


class Settings:
    """What forward keeps may be in an object of the user's, which may also get others meanwhile."""

    def __init__(self, t):
        self.weight, self.owner = t, self


@pytest.mark.parametrize("make", [Settings, lambda t: [Settings(t)]])
def test_a_change_in_an_object_is_warned_of(make):
    def forward(ctx, x, w):
        ctx.settings = make(w)
        return x * w

    def backward(ctx, g):
        settings = ctx.settings[0] if isinstance(ctx.settings, list) else ctx.settings
        return g * settings.weight, None

    F = type("Scale", (gradwright.autograd.Function,), {"forward": staticmethod(forward),
                                                        "backward": staticmethod(backward)})  # fmt: skip
    x, w = gradwright.ones(2, requires_grad=True), gradwright.full((2,), 3.0)
    F.apply(x, w).sum().backward()
    assert x.grad.tolist() == [3, 3]
    y = F.apply(x, w)
    w.mul_(2)
    with pytest.warns(gradwright.GradientWarning, match=r"modified by an inplace operation[^$]*w.mul_\(2\)") as found:
        y.sum().backward(retain_graph=True)
    assert re.search(r"ScaleBackward saved it as 'ctx.settings(\[0\])?.weight'", str(found[0].message))
    with gradwright.autograd.strict(True), pytest.raises(RuntimeError, match="Scale"):
        y.sum().backward()


def test_an_object_may_get_others():
    def forward(ctx, x, w):
        ctx.settings = Settings(w)
        return x * w

    F = type("Scale", (gradwright.autograd.Function,), {
        "forward": staticmethod(forward), "backward": staticmethod(lambda ctx, g: (g * ctx.settings.weight, None)),
    })  # fmt: skip
    x = gradwright.ones(2, requires_grad=True)
    y = F.apply(x, gradwright.full((2,), 3.0))
    y.grad_fn.settings.weight = gradwright.full((2,), 5.0).mul_(2)
    y.sum().backward()
    assert x.grad.tolist() == [10, 10]


ARRAYS = {
    "numpy()": (lambda x, y: x.numpy(), lambda kept: kept),
    "detach().numpy()": (lambda x, y: x.detach().numpy(), lambda kept: kept),
    "numpy.asarray": (lambda x, y: np.asarray(x), lambda kept: kept),
    "a part of it": (lambda x, y: x.numpy()[::-1], lambda kept: kept[::-1]),
    "in a list": (lambda x, y: [x.numpy()], lambda kept: kept[0]),
    "in a tuple": (lambda x, y: (1, x.numpy()), lambda kept: kept[1]),
    "in a dataclass": (lambda x, y: Kept(x.numpy()), lambda kept: kept.value),
    "of the output": (lambda x, y: y.numpy(), lambda kept: kept / 2),
}  # fmt: skip


@pytest.mark.parametrize("write", [lambda t: t.mul_(2), lambda t: t.numpy().__imul__(2)], ids=["engine", "NumPy"])
@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_an_input_that_is_changed(name, write):
    make, take = ARRAYS[name]

    def forward(ctx, x):
        y = x * 2
        ctx.kept = make(x, y)
        return y

    def backward(ctx, g):
        return g * gradwright.from_numpy(take(ctx.kept).copy())

    F = type("Keeps", (gradwright.autograd.Function,), {"forward": staticmethod(forward),
                                                        "backward": staticmethod(backward)})  # fmt: skip
    x = gradwright.tensor([1.0, 3.0], requires_grad=True)
    h = x * 1
    F.apply(h).sum().backward()
    assert x.grad.tolist() == [1, 3]
    y = F.apply(h)
    with gradwright.no_grad():
        write(y if name == "of the output" else h)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as error:
        y.sum().backward()
    assert "KeepsBackward saved it as 'ctx.kept" in str(error.value)
    assert f"{__file__}:" in str(error.value)


def test_an_array_of_its_own_is_left_alone():
    def forward(ctx, x):
        ctx.kept = x.numpy() * 2
        return x * x

    F = type("Keeps", (gradwright.autograd.Function,), {
        "forward": staticmethod(forward), "backward": staticmethod(lambda ctx, g: g * gradwright.from_numpy(ctx.kept)),
    })  # fmt: skip
    x = gradwright.tensor([1.0, 3.0], requires_grad=True)
    h = x * 1
    y = F.apply(h)
    assert type(y.grad_fn.kept) is np.ndarray
    h.mul_(2)
    y.sum().backward(retain_graph=True)
    assert x.grad.tolist() == [2, 6]
    y.grad_fn.kept *= 2  # nobody notices: whoever does this has changed the gradient
    y.sum().backward()
    assert x.grad.tolist() == [6, 18]


def test_what_backward_does_not_use_may_change(T, leaf, Keeps):
    x = leaf([1.0, 2.0])
    h = x * 1
    y = Keeps.apply(h, put(h=lambda x, y: x), lambda ctx: 2)
    h.mul_(5)
    y.sum().backward()
    assert x.grad.tolist() == [2, 2]


def test_what_forward_itself_changes_afterwards_is_no_error(T, leaf, Keeps):
    def put(ctx, x, y):
        ctx.t = x * 3
        ctx.t.mul_(2)

    x = leaf([1.0, 2.0])
    Keeps.apply(x, put, lambda ctx: ctx.t).sum().backward()
    assert x.grad.tolist() == [6, 12]


def test_backward_may_change_what_it_has_looked_at(T, leaf, Keeps):
    def use(ctx):
        ctx.buffer.mul_(2)
        return ctx.buffer

    x = leaf([1.0, 2.0])
    Keeps.apply(x, put(buffer=lambda x, y: x * 3), use).sum().backward()
    assert x.grad.tolist() == [6, 12]


def test_but_a_second_backward_would_see_that():
    class Spends(Function):
        def forward(ctx, x):
            ctx.buffer = x * 3
            return x * 2

        def backward(ctx, g):
            return ctx.buffer.mul_(g)

    x = gradwright.ones(2, requires_grad=True)
    y = Spends.apply(x)
    y.backward(gradwright.full((2,), 5.0))
    with pytest.raises(RuntimeError, match=r"saved it as 'ctx.buffer'[^$]*changed at .*test_ctx_attributes"):
        y.backward(gradwright.full((2,), 5.0))
    assert x.grad.tolist() == [15, 15]


def test_what_backward_sets_stays(T, leaf, Keeps):
    def use(ctx):
        before = ctx.t
        ctx.t = before * 2
        ctx.new = before
        return before

    x = leaf([1.0, 2.0])
    y = Keeps.apply(x, put(t=lambda x, y: x * 3), use)
    y.backward(T.ones(2, dtype=T.float64))
    assert y.grad_fn.t.tolist() == [6, 12]
    y.backward(T.ones(2, dtype=T.float64))
    assert y.grad_fn.t.tolist() == [12, 24]
    assert y.grad_fn.new.tolist() == [6, 12]


def test_ctx_attributes_can_be_deleted(T, leaf, Keeps):
    def use(ctx):
        t = ctx.t
        del ctx.t
        assert not hasattr(ctx, "t")
        return t

    x = leaf([1.0, 2.0])
    y = Keeps.apply(x, put(t=lambda x, y: x * 3, u=lambda x, y: x), use)
    assert {"t", "u"} <= set(dir(y.grad_fn))
    y.sum().backward()
    assert not hasattr(y.grad_fn, "t")
    del y.grad_fn.u
    with pytest.raises(AttributeError, match=r"object has no attribute '?u'?"):
        y.grad_fn.u
    with pytest.raises(AttributeError, match=r"t|u"):
        del y.grad_fn.u


def test_lists_stay_themselves(T, leaf, Keeps):
    """They may be added to by others, so a copy would be another list."""
    shared = defaultdict(list)
    x = leaf([1.0, 2.0])
    h = x * 1

    def put(ctx, x, y):
        shared["before"].append(x)
        ctx.shared = shared

    y = Keeps.apply(h, put, lambda ctx: sum(ctx.shared["after"], start=ctx.shared["before"][0]))
    shared["after"].append(T.ones(2, dtype=T.float64).add_(3))
    assert y.grad_fn.shared is shared
    y.sum().backward()
    assert x.grad.tolist() == [5, 6]


def test_double_backward_through_attributes(T, leaf):
    class Exp(functions(T)):
        def forward(ctx, x):
            ctx.many = {"out": (x.exp(),), "x": [x]}
            return ctx.many["out"][0]

        def backward(ctx, g):
            return g * ctx.many["out"][0] + 0 * ctx.many["x"][0]

    x = leaf(0.5)
    g = y = Exp.apply(x * 1)
    for _ in range(3):
        (g,) = T.autograd.grad(g, x, create_graph=True)
        assert g.item() == pytest.approx(y.item(), rel=1e-15)


def test_several_outputs(T, leaf):
    class SinCos(functions(T)):
        def forward(ctx, x):
            ctx.s, ctx.c = x.sin(), x.cos()
            return ctx.s, ctx.c

        def backward(ctx, gs, gc):
            return gs * ctx.c - gc * ctx.s

    x = leaf(0.7)
    c = SinCos.apply(x)[1]  # the other output is dropped
    (g,) = T.autograd.grad(c, x, create_graph=True)
    (h,) = T.autograd.grad(g, x)
    assert h.item() == pytest.approx(-c.item(), rel=1e-14)


def test_an_input_changed_in_place_and_declared(T, leaf):
    class Exp_(functions(T)):
        def forward(ctx, x):
            x.exp_()
            ctx.mark_dirty(x)
            ctx.y = x
            return x

        def backward(ctx, g):
            return g * ctx.y

    x = leaf([0.5, 1.0])
    for make in (lambda h: h, lambda h: h[:]):
        x.grad = None
        y = Exp_.apply(make(x * 1))
        (g,) = T.autograd.grad(y.sum(), x, create_graph=True)
        g.sum().backward()
        assert x.grad.tolist() == pytest.approx(x.exp().tolist(), rel=1e-15)


def test_a_list_that_holds_itself_is_no_obstacle(T, leaf, Keeps):
    loop = []
    loop.append(loop)
    x = leaf([1.0, 2.0])
    y = Keeps.apply(x, put(loop=lambda x, y: loop), lambda ctx: len(ctx.loop))
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]


CYCLES = {
    "output": lambda x, y: y,
    "in a list": lambda x, y: [y],
    "in a tuple in a dict": lambda x, y: {"k": (y, x)},
    "view of the output": lambda x, y: y[1:],
    "alias of the output": lambda x, y: y.detach(),
    "input": lambda x, y: x,
    "leaf in a tuple": lambda x, y: (x,),
}


@pytest.mark.parametrize("name", CYCLES)
def test_ctx_attributes_keep_nothing_alive(no_gc, name):
    class Keeps(Function):
        def forward(ctx, x):
            y = x * 2
            ctx.kept = CYCLES[name](x, y)
            return y

        def backward(ctx, g):
            return g * 2 + 0 * ctx.kept if name in ("output", "input") else (ctx.kept, g * 2)[1]

    x = gradwright.ones(3, requires_grad=True)
    y = Keeps.apply(x)
    y.sum().backward(create_graph=True)
    y.grad_fn.kept
    node, array, leaf = weakref.ref(y.grad_fn), weakref.ref(y.array), weakref.ref(x)
    del x, y
    assert (node(), array(), leaf()) == (None, None, None)


def test_other_memory_for_a_tensor_leaves_what_was_kept():
    """An invertible network frees the values between its parts, and gives them back by ``set_`` in backward."""

    class Twice(Function):
        def forward(ctx, x):
            y = x.detach() * 2
            x.storage().resize_(0)
            ctx.inputs, ctx.outputs = [(x,)], [(y,)]
            return y

        def backward(ctx, g):
            (x,), (y,) = ctx.inputs.pop(), ctx.outputs.pop()
            x.storage().resize_(x.numel())
            x.set_(y / 2)
            seen.append(y.tolist())
            return g * 2

    seen = []
    x = gradwright.tensor([1.0, 2.0], requires_grad=True)
    Twice.apply(Twice.apply(x * 1)).sum().backward()
    assert seen == [[4.0, 8.0], [2.0, 4.0]]
    assert x.grad.tolist() == [4.0, 4.0]


@pytest.mark.parametrize("name", ["_mask", "_values", "_shape", "_input", "_axis"])
def test_names_with_an_underscore_are_the_users(name):
    class Part(Function):
        def forward(ctx, x):
            setattr(ctx, name, x > 0)
            return x.clamp(min=0)

        def backward(ctx, g):
            return g * getattr(ctx, name)

    x = gradwright.tensor([1.0, -2.0], requires_grad=True)
    Part.apply(x).sum().backward()
    assert x.grad.tolist() == [1, 0]
