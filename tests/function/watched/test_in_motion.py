"""Every road to a second derivative, through backwards that cut it off and such as only seem to.

Where something is cut off, the derivative is right, or the error (where numbers left, the warning) names the cut; where
what was cut off cancels, or does not matter, it is right. What it should be is known: the cube's is 6 x.
"""

import re
import warnings
from copy import copy

import pytest

import gradwright as gw
from gradwright import func
from gradwright.autograd import Function, forward_ad, functional
from gradwright.autograd import grad as backward
from gradwright.errors import CutError, GradientWarning
from tests.function.watched.test_in_backward import CUTS, RIGHT, cube

X, V = gw.tensor([0.5, 2.0], dtype=gw.float64), gw.tensor([1.0, -0.5], dtype=gw.float64)
TRUE = 6 * X * V


def graph(f):
    x = X.clone().requires_grad_()
    (g,) = backward(f(x), x, create_graph=True)
    return backward(g, x, V)[0]


def batched(f):
    x = X.clone().requires_grad_()
    (g,) = backward(f(x), x, create_graph=True)
    return backward(g, x, gw.stack([V, V]), is_grads_batched=True)[0][1]


def duals(f):
    with forward_ad.dual_level():
        x = forward_ad.make_dual(X.clone().requires_grad_(), V)
        (g,) = backward(f(x), x, create_graph=True)
        return forward_ad.unpack_dual(g).tangent


def duals_alone(f):
    with forward_ad.dual_level():
        x = forward_ad.make_dual(X.clone(), V)
        return forward_ad.unpack_dual(func.grad(f)(x)).tangent


def push(f, v=V):
    return lambda x: func.jvp(f, (x,), (v,))[1]


def tangents(f, v):
    return lambda x: func.linearize(f, x)[1](v)


def both(x):
    return gw.stack([x, x])


ROADS = {
    "create_graph": graph,
    "is_grads_batched": batched,
    "dual numbers": duals,
    "dual numbers of grad": duals_alone,
    "jvp(grad)": lambda f: push(func.grad(f))(X),
    "jvp(jvp)": lambda f: gw.stack([push(push(f, e))(X) for e in gw.eye(2, dtype=gw.float64)]),
    "jvp(vjp)": lambda f: push(lambda x: func.vjp(f, x)[1](gw.ones((), dtype=gw.float64))[0])(X),
    "jvp(linearize)": lambda f: gw.stack([push(tangents(f, e))(X) for e in gw.eye(2).double()]),
    "grad(jvp)": lambda f: func.grad(push(f))(X),
    "grad(grad)": lambda f: func.grad(lambda x: func.grad(f)(x) @ V)(X),
    "vjp(grad)": lambda f: func.vjp(func.grad(f), X)[1](V)[0],
    "linearize(grad)": lambda f: func.linearize(func.grad(f), X)[1](V),
    "linearize(jvp)": lambda f: gw.stack([func.linearize(push(f, e), X)[1](V) for e in gw.eye(2).double()]),
    "grad_and_value": lambda f: push(lambda x: func.grad_and_value(f)(x)[0])(X),
    "hessian": lambda f: func.hessian(f)(X) @ V,
    "jacrev(jacrev)": lambda f: func.jacrev(func.jacrev(f))(X) @ V,
    "jacfwd(jacfwd)": lambda f: func.jacfwd(func.jacfwd(f))(X) @ V,
    "jacrev(jacfwd)": lambda f: func.jacrev(func.jacfwd(f))(X) @ V,
    "jacfwd(grad)": lambda f: func.jacfwd(func.grad(f))(X) @ V,
    "jacrev(grad)": lambda f: func.jacrev(func.grad(f))(X) @ V,
    "jacrev in chunks": lambda f: func.jacrev(func.grad(f), chunk_size=1)(X) @ V,
    "functional.hvp": lambda f: functional.hvp(f, X, V)[1],
    "functional.vhp": lambda f: functional.vhp(f, X, V)[1],
    "functional.jvp": lambda f: functional.jvp(func.grad(f), X, V)[1],
    "functional.vjp": lambda f: functional.vjp(func.grad(f), X, V)[1],
    "functional.hessian": lambda f: functional.hessian(f, X) @ V,
    "functional.hessian, vectorised": lambda f: functional.hessian(f, X, vectorize=True) @ V,
    "functional.hessian, forward": lambda f: functional.hessian(
        f, X, vectorize=True, outer_jacobian_strategy="forward-mode") @ V,
    "jet": lambda f: func.jet(func.grad(f), (X,), ((V,),))[1][0],
    "vmap(grad(grad))": lambda f: func.vmap(func.grad(lambda x: func.grad(f)(x) @ V))(both(X))[1],
    "vmap(jvp(grad))": lambda f: func.vmap(push(func.grad(f)))(both(X))[1],
    "jvp(vmap(grad))": lambda f: func.jvp(func.vmap(func.grad(f)), (both(X),), (both(V),))[1][1],
    "grad(vmap(grad))": lambda f: func.grad(lambda x: (func.vmap(func.grad(f))(x) @ V).sum())(both(X))[1],
    "vmap(hessian)": lambda f: func.vmap(func.hessian(f))(both(X))[1] @ V,
    "compile(grad(grad))": lambda f: [c(X) for c in [gw.compile(func.grad(lambda x: func.grad(f)(x) @ V))]
                                      for _ in range(3)][-1],
}  # fmt: skip


def in_forward(keep, slope):
    """A cube whose forward keeps something for its backward, which makes the slope of it."""

    def forward(ctx, x):
        keep(ctx, x)
        return x * x * x

    return lambda: cube(lambda ctx, g: g * slope(ctx), forward)


class Place:
    """Where a forward may leave things: here, and not on ctx."""

    slope = None
    slopes: list = []


def in_place(ctx, x):
    Place.slope = 3 * x * x


def in_list(ctx, x):
    Place.slopes.append(3 * x * x)


KEPT = {
    "on a class": in_forward(in_place, lambda ctx: Place.slope),
    "in a list": in_forward(in_list, lambda ctx: Place.slopes[-1]),
    "on ctx": in_forward(lambda ctx, x: setattr(ctx, "slope", 3 * x * x), lambda ctx: ctx.slope),
    "saved": in_forward(lambda ctx, x: ctx.save_for_backward(3 * x * x), lambda ctx: ctx.saved_tensors[0]),
    "saved twice": in_forward(lambda ctx, x: ctx.save_for_backward(x, x),
                              lambda ctx: 3 * ctx.saved_tensors[0] * ctx.saved_tensors[1].detach()),
    "detached": in_forward(lambda ctx, x: setattr(ctx, "x", x.detach()), lambda ctx: 3 * ctx.x**2),
    "in a dictionary": in_forward(lambda ctx, x: setattr(ctx, "x", {"x": x}), lambda ctx: 3 * ctx.x["x"].detach() ** 2),
    "as numbers": in_forward(lambda ctx, x: setattr(ctx, "x", x.tolist()),
                             lambda ctx: 3 * gw.tensor(ctx.x, dtype=gw.float64) ** 2),
    "as a float": in_forward(lambda ctx, x: setattr(ctx, "x", float(x.detach()[0])), lambda ctx: 3 * ctx.x**2),
    "as an array": in_forward(lambda ctx, x: setattr(ctx, "x", x.detach().numpy()),
                              lambda ctx: 3 * gw.from_numpy(ctx.x) ** 2),
}  # fmt: skip

CLEAR = r"of a tensor that carries a series|vmap: .* stands for a whole batch|support the deepcopy protocol|under vmap"
"""What else is said where values leave by a way that a transform has none for."""


def outcome(road, F):
    """What comes of a road: right, caught, refused, warned, or else what was returned."""
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            found = ROADS[road](lambda x: F.apply(x).sum())
        except CutError:
            return "caught"
        except RuntimeError as error:
            return "refused" if re.search(CLEAR, str(error)) else str(error)
    if found is not None and found.shape == TRUE.shape and gw.allclose(found, TRUE):
        return "right" if not found.requires_grad or "dual" in road or "(vmap" in road else "requires grad"
    said = any(isinstance(w.message, GradientWarning) and "cut" in str(w.message) for w in seen)
    return "warned" if said else f"silently {found}"


@pytest.mark.parametrize("road", ROADS)
def test_what_is_cut_off_is_never_missed_in_silence(road):
    functions = {name: cube(rule) for name, rule in CUTS.items()} | {name: make() for name, make in KEPT.items()}
    found = {name: outcome(road, F) for name, F in functions.items()}
    numbers = {"item()", "float()", "as a float"}
    assert {name: came for name, came in found.items()
            if came not in {"right", "caught", "refused"} and not (came == "warned" and name in numbers)} == {}


@pytest.mark.parametrize("road", ROADS)
def test_what_only_seems_to_be_cut_off_is_right(road):
    found = {name: outcome(road, cube(rule)) for name, rule in RIGHT.items()}
    reads = {"control", "a mask from NumPy"} if "vmap" in road else set()  # numbers of a batch
    assert {name: came for name, came in found.items()
            if came != "right" and not (came == "refused" and name in reads)} == {}


class LogSumExp(Function):
    """Subtracts a constant that cancels, as each stable softmax does."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.logsumexp(0)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        e = (x - x.detach().amax()).exp()
        return g * e / e.sum()


@pytest.mark.parametrize("road", ROADS)
def test_a_shift_that_cancels_is_right(road):
    p = X.softmax(0)
    found = ROADS[road](LogSumExp.apply)
    assert gw.allclose(found, (gw.diag(p) - gw.outer(p, p)) @ V)


def _delete(ctx):
    factor = ctx.factor
    del ctx.factor
    return factor


def _count(ctx):
    ctx.factor += 1
    return ctx.factor


def _draw(ctx):
    return 3 + 0 * gw.rand(1).item()


USED_UP = {
    "popped": ([3.0], lambda ctx: ctx.factor.pop()),
    "popped of a dictionary": ({"factor": 3.0}, lambda ctx: ctx.factor.pop("factor")),
    "a popped tensor": ([gw.tensor(3.0)], lambda ctx: ctx.factor.pop()),
    "deleted": (3.0, _delete),
    "counted": (2.0, _count),
    "drawn": (None, _draw),
}


@pytest.mark.parametrize("name", USED_UP)
@pytest.mark.parametrize("of", ["backward", "jvp"])
@pytest.mark.parametrize("road", ["jvp(grad)", "jvp(jvp)", "hessian", "jacfwd(jacfwd)", "jet", "vmap(jvp(grad))"])
def test_what_a_derivative_uses_up_is_there_again_when_it_is_looked_at_once_more(road, of, name):
    given, use = USED_UP[name]
    runs = []

    def slope(ctx, g):
        (x,) = ctx.saved_tensors
        shift = x.detach().amax()
        runs.append(name)
        return g * use(ctx) * (x - shift + shift) ** 2

    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            ctx.factor = copy(given)
            return x**3

        backward = staticmethod(slope)
        if of == "jvp":
            jvp = staticmethod(slope)

    gw.manual_seed(0)
    before = gw.get_rng_state()
    if name == "drawn" and road in ("hessian", "jacfwd(jacfwd)", "vmap(jvp(grad))"):
        return  # random numbers are refused under vmap
    assert gw.allclose(ROADS[road](lambda x: Cube.apply(x).sum()), TRUE)
    if name == "drawn":
        assert len(runs) > 1
        after = gw.get_rng_state()
        gw.set_rng_state(before)
        drawn = 0
        while not gw.equal(gw.get_rng_state(), after):
            gw.rand(1)
            drawn += 1
        assert drawn < len(runs)


def test_what_is_used_up_outside_of_ctx_is_told():
    factors = [3.0, 3.0]

    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * factors.pop() * (x - x.detach().amax() + x.detach().amax()) ** 2

    with pytest.raises(IndexError) as caught:
        ROADS["jvp(grad)"](lambda x: cube(backward).apply(x).sum())
    assert "run once more to" in caught.value.__notes__[0].replace(",", "")
    assert "detach()" in caught.value.__notes__[0]


THIRD = {  # derivatives by a weight of what is differentiated twice by x, as the loss of a differential equation is
    "jvp(grad)": lambda f, w: push(func.grad(lambda x: f(x, w)), gw.ones_like(X))(X).sum(),
    "jvp(jvp)": lambda f, w: push(push(lambda x: f(x, w), gw.ones_like(X)), gw.ones_like(X))(X),
    "hessian": lambda f, w: func.hessian(lambda x: f(x, w))(X).sum(),
    "jacrev(jacrev)": lambda f, w: func.jacrev(func.jacrev(lambda x: f(x, w)))(X).sum(),
    "jacfwd(jacfwd)": lambda f, w: func.jacfwd(func.jacfwd(lambda x: f(x, w)))(X).sum(),
    "grad(grad)": lambda f, w: func.grad(lambda x: func.grad(lambda x: f(x, w))(x).sum())(X).sum(),
    "vmap(hessian)": lambda f, w: func.vmap(func.hessian(lambda x: f(x, w)))(both(X))[0].sum(),
}
WITH_WEIGHT = {
    "a cut that cancels": lambda x, y, m: y + (m - m),
    "a cut that is not used": lambda x, y, m: y,
}


@pytest.mark.parametrize("by", ["func.grad", "backward", "jvp"])
@pytest.mark.parametrize("road", THIRD)
@pytest.mark.parametrize("name", WITH_WEIGHT)
def test_a_harmless_cut_stands_in_no_way_of_derivatives_by_a_weight(name, road, by):
    class Product(Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            return g * WITH_WEIGHT[name](x, y, x.detach().amax()), g * x

    def loss(w):
        return THIRD[road](lambda x, w: Product.apply(x, x * w).sum(), w)

    w = gw.tensor([1.0, 3.0], dtype=gw.float64)
    if by == "func.grad":
        found = func.grad(loss)(w)
    elif by == "jvp":
        found = gw.stack([func.jvp(loss, (w,), (e,))[1] for e in gw.eye(2, dtype=gw.float64)])
    else:
        found = backward(loss(w.requires_grad_()), w)[0]
    assert found.tolist() == pytest.approx([2, 2])


def test_results_of_harmless_cuts_have_no_history():
    assert not ROADS["jvp(jvp)"](LogSumExp.apply).requires_grad
    assert not ROADS["hessian"](LogSumExp.apply).requires_grad


def test_a_derivative_that_goes_another_way_is_right():
    w = gw.tensor([2.0, 3.0], dtype=gw.float64)
    cut = cube(CUTS["detach()"]).apply
    found = func.jvp(lambda w: func.grad(lambda x: (cut(x) * w).sum())(X), (w,), (V,))[1]
    assert gw.allclose(found, 3 * X**2 * V)


SAVED = {
    "saved": (lambda ctx, x: ctx.save_for_backward(x) or x, lambda ctx: ctx.saved_tensors[0]),
    "saved twice": (lambda ctx, x: ctx.save_for_backward(x, x) or x, lambda ctx: ctx.saved_tensors[1]),
    "an attribute": (lambda ctx, x: setattr(ctx, "x", x) or x, lambda ctx: ctx.x),
    "in a dictionary": (lambda ctx, x: setattr(ctx, "kept", {"x": x}) or x, lambda ctx: ctx.kept["x"]),
    "one of two": (lambda ctx, x: ctx.save_for_backward(x) or (x, x * 1), lambda ctx: ctx.saved_tensors[0]),
    "a view": (lambda ctx, x: ctx.save_for_backward(x) or x.view_as(x), lambda ctx: ctx.saved_tensors[0]),
}


@pytest.mark.parametrize("road", ROADS)
def test_an_input_that_is_returned_as_it_came_is_saved_as_the_input(road):
    for name, (forward, read) in SAVED.items():
        F = cube(lambda ctx, g, *more, read=read: g * read(ctx) ** 2, forward)
        found = ROADS[road](lambda x, F=F, name=name: (F.apply(x)[0] if name == "one of two" else F.apply(x)).sum())
        assert gw.allclose(found, 2 * X * V), name


def in_no_grad(x):
    with gw.no_grad():
        return x**2


def shifted(x):
    e = (x - x.detach().amax()).exp()
    return x**2 * (e / e)


IN_JVP = {
    "nothing": lambda x: x**2,
    "a shift": shifted,
    "detach()": lambda x: x.detach() ** 2,
    ".data": lambda x: x.data**2,
    "no_grad()": in_no_grad,
    "numpy()": lambda x: gw.from_numpy(x.detach().numpy() ** 2),
    "tolist()": lambda x: gw.tensor(x.tolist(), dtype=gw.float64) ** 2,
}


def with_jvp(factor):
    class Cube(Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            ctx.save_for_forward(x)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

        @staticmethod
        def jvp(ctx, t):
            return t * 3 * factor(ctx.saved_tensors[0])

    return Cube


@pytest.mark.parametrize("road", ROADS)
def test_a_jvp_that_is_cut_off_is_never_missed_in_silence(road):
    found = {name: outcome(road, with_jvp(factor)) for name, factor in IN_JVP.items()}
    assert {name: came for name, came in found.items()
            if came != "right" and (name in ("nothing", "a shift") or came not in {"caught", "refused"})} == {}
