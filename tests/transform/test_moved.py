"""Users' Functions in forward mode, in both of their forms, beside PyTorch's where it has them."""

from pathlib import Path

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import Function, forward_ad
from gradwright.autograd import forward_ad as fw
from gradwright.function.contract.containers import flatten, unflatten
from gradwright.verify.check.battery.inputs import trials
from gradwright.verify.check.calls import flat
from gradwright.verify.check.discover import load, subjects
from gradwright.verify.numeric.draws import drawn
from tests.transform.programs import by_slope, function, keeping, kept

X, V, U = np.array([0.5, -1.0, 2.0]), np.array([1.0, 3.0, -2.0]), np.array([0.3, 0.2, -1.0])


def x_and_v(grad=False):
    return gw.tensor(X, requires_grad=grad), gw.tensor(V)


def tangent(f, x, v, **named):
    with fw.dual_level():
        return fw.unpack_dual(f(fw.make_dual(x, v), **named)).tangent


thrice = by_slope(lambda x: 3 * x**2)
power = keeping(lambda x: x**3)
in_numpy = keeping(lambda x: gw.from_numpy(x.numpy() ** 3))
Cube = function("Cube", power, thrice, jvp=thrice)


class CubeOfKept(Function):
    """Whose derivatives use what forward has kept, which is neither input nor output."""

    @staticmethod
    def forward(ctx, x):
        square = x * x
        ctx.save_for_backward(square)
        ctx.save_for_forward(square)
        ctx.third = square * x / 3
        return square * x

    backward = jvp = staticmethod(by_slope(lambda square: 3 * square))


class CubeOfOutput(Function):
    """Whose derivatives use the output, and an attribute."""

    @staticmethod
    def forward(ctx, x):
        y = gw.from_numpy(x.numpy() ** 3)
        ctx.save_for_backward(x, y)
        ctx.save_for_forward(y)
        ctx.x = x
        return y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return 3 * y / x * g

    @staticmethod
    def jvp(ctx, t):
        (y,) = ctx.saved_tensors
        return 3 * y / ctx.x * t


CUBES = [
    Cube,
    function("CubeApart", lambda x: x**3, thrice, jvp=thrice, setup_context=kept),
    function("CubeByBackward", power, thrice),
    function("CubeInNumPy", in_numpy, thrice, jvp=thrice),
    function("CubeInNumPyByBackward", in_numpy, thrice),
    CubeOfKept,
    CubeOfOutput,
]
each = pytest.mark.parametrize("cube", CUBES)


@each
def test_tangents(cube):
    x, v = x_and_v()
    assert np.allclose(tangent(cube.apply, x, v).numpy(), 3 * X**2 * V)
    x.requires_grad_()
    t = tangent(cube.apply, x, v)
    t.sum().backward()
    assert np.allclose(x.grad.numpy(), 6 * X * V)


@each
def test_forward_over_reverse(cube):
    x, v = x_and_v(grad=True)
    with fw.dual_level():
        y = cube.apply(fw.make_dual(x, v))
        assert y.grad_fn.name() == f"{cube.__name__}Backward"
        g, moved = fw.unpack_dual(gw.autograd.grad(y.sum(), x)[0])
    assert np.allclose(g.numpy(), 3 * X**2)
    assert np.allclose(moved.numpy(), 6 * X * V)


@each
def test_forward_over_forward(cube):
    """Row 24 of the pain points: a Function with its own jvp, nested."""
    x, v = x_and_v()
    with fw.dual_level():
        a = fw.make_dual(x, gw.tensor(U))
        with fw.dual_level():
            y = cube.apply(fw.make_dual(a, v))
            value, first = fw.unpack_dual(y)
        second = fw.unpack_dual(first).tangent
        assert np.allclose(fw.unpack_dual(value).tangent.numpy(), 3 * X**2 * U)
        assert np.allclose(fw.unpack_dual(first).primal.numpy(), 3 * X**2 * V)
    assert np.allclose(second.numpy(), 6 * X * U * V)


@each
def test_func_jvp_and_grad_nested(cube):
    x, v = x_and_v()
    assert np.allclose(gw.func.jvp(cube.apply, (x,), (v,))[1].numpy(), 3 * X**2 * V)
    slope = gw.func.grad(lambda x: cube.apply(x).sum())
    assert np.allclose(gw.func.jvp(slope, (x,), (v,))[1].numpy(), 6 * X * V)

    def along(x):
        return gw.func.jvp(cube.apply, (x,), (v,))[1]

    assert np.allclose(gw.func.jvp(along, (x,), (gw.tensor(U),))[1].numpy(), 6 * X * U * V)
    assert np.allclose(gw.func.grad(lambda x: along(x).sum())(x).numpy(), 6 * X * V)


def test_nested_jvps_of_a_power_that_lost_its_derivatives_elsewhere():
    """PT#197867: [108, 0, 0] there."""

    class Power(Function):
        @staticmethod
        def forward(x):
            return x**4

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, t):
            (x,) = ctx.saved_tensors
            return 4 * x**3 * t

    def derivative(f):
        return lambda x: gw.func.jvp(f, (x,), (gw.ones_like(x),))[1]

    x, found, f = gw.tensor(3.0), [], Power.apply
    for _ in range(3):
        f = derivative(f)
        found.append(f(x).item())
    assert found == [108.0, 108.0, 72.0]


def test_what_forward_keeps_of_numpy_has_no_derivatives_and_says_so():
    class Kept(Function):
        @staticmethod
        def forward(ctx, x):
            square = gw.from_numpy(x.numpy() ** 2)
            ctx.save_for_backward(square)
            ctx.save_for_forward(square)
            return square * x

        backward, jvp = CubeOfKept.backward, CubeOfKept.jvp

    x, v = x_and_v()
    assert np.allclose(tangent(Kept.apply, x, v).numpy(), 3 * X**2 * V)
    with fw.dual_level(), fw.dual_level():
        dual = fw.make_dual(fw.make_dual(x, v, level=0), v)
        with pytest.raises(RuntimeError, match="carries a tangent") as error:
            Kept.apply(dual)
    assert "Kept.forward was run again" in error.value.__notes__[0]
    x.requires_grad_()
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        with pytest.raises(RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad") as error:
            Kept.apply(dual)
    assert "Kept.forward was run again" in error.value.__notes__[0]


class Double(Function):
    @staticmethod
    def forward(ctx, x, in_place=True):
        ctx.mark_dirty(x)
        ctx.in_place = in_place
        return x.mul_(2)

    @staticmethod
    def backward(ctx, g):
        return 2 * g

    @staticmethod
    def jvp(ctx, t, _=None):
        return t.mul_(2) if ctx.in_place else 2 * t


class DoubleByBackward(Function):
    forward, backward = Double.forward, Double.backward


@pytest.mark.parametrize("double", [Double, DoubleByBackward])
@pytest.mark.parametrize("grad", [False, True])
def test_what_is_written_in_place_moves_along(double, grad):
    x, v = x_and_v(grad)
    with fw.dual_level():
        dual = fw.make_dual(x, v).clone()
        view = dual[:2]
        y = double.apply(dual)
        assert y is dual
        value, t = fw.unpack_dual(dual * 1)
        assert np.allclose(value.detach().numpy(), 2 * X)
        assert np.allclose(t.detach().numpy(), 2 * V)
        assert np.allclose(fw.unpack_dual(view * 1).tangent.detach().numpy(), 2 * V[:2])
        if grad:
            assert gw.autograd.grad(y.sum(), x)[0].tolist() == [2.0, 2.0, 2.0]


def test_a_tangent_that_is_not_written_in_place_with_its_value_is_refused():
    x, v = x_and_v()
    for grad in (False, True):
        with fw.dual_level(), pytest.raises(RuntimeError, match="inplace custom Function is not modifying the forward"):
            Double.apply(fw.make_dual(x.clone().requires_grad_(grad), v).clone(), False)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t, part: part, None),
        (lambda t, part: part.clone(), "jvp is not returning a view"),
        (lambda t, part: part.clone().view_as(part), "jvp is not returning a view of the given"),
    ],
)
def test_the_tangent_of_a_view_is_a_view(change, message):
    class Part(Function):
        @staticmethod
        def forward(ctx, x):
            return x[:2]

        @staticmethod
        def backward(ctx, g):
            return gw.cat([g, g.new_zeros(1)])

        @staticmethod
        def jvp(ctx, t):
            return change(t, t[:2])

    for grad in (False, True):
        x, v = x_and_v(grad)
        with fw.dual_level():
            dual = fw.make_dual(x, v)
            if message is not None:
                with pytest.raises(RuntimeError, match=message):
                    Part.apply(dual)
                continue
            y = Part.apply(dual)
            assert fw.unpack_dual(y).tangent.tolist() == V[:2].tolist()
            if grad:
                with pytest.raises(RuntimeError, match="is being modified inplace"):
                    y.mul_(2)


def test_an_input_returned_as_it_is():
    class Both(Function):
        way = staticmethod(lambda t: t.view_as(t))

        @staticmethod
        def forward(ctx, x, y):
            return x + y, x

        @staticmethod
        def backward(ctx, g, h):
            return g + h, g

        @staticmethod
        def jvp(ctx, t, s):
            return t + s, Both.way(t)

    x, v = x_and_v()
    for way in (Both.way, lambda t: t, lambda t: 2 * t):
        Both.way = staticmethod(way)
        with fw.dual_level():
            dual, other = fw.make_dual(x, v), fw.make_dual(gw.tensor(U), gw.tensor(U))
            if way is not Both.way or way(v)._base is not v:
                with pytest.raises(RuntimeError, match=r"returning a view \(or an input as-is\)"):
                    Both.apply(dual, other)
                continue
            total, same = Both.apply(dual, other)
            assert fw.unpack_dual(total).tangent.tolist() == (V + U).tolist()
            assert fw.unpack_dual(same).tangent._base is v


def test_undefined_and_refused_tangents():
    seen = []

    class Product(Function):
        @staticmethod
        def forward(ctx, x, n, y):
            ctx.set_materialize_grads(False)
            ctx.save_for_forward(x, y)
            sign = gw.sign(x)
            ctx.mark_non_differentiable(sign)
            return x * y * n, sign, x.long()

        @staticmethod
        def backward(ctx, g, *rest):
            raise AssertionError

        @staticmethod
        def jvp(ctx, t, n, s):
            seen.append((t is None, n, s is None))
            x, y = ctx.saved_tensors
            return t * y * 2, None, None

    x, v = x_and_v()
    with fw.dual_level():
        outs = Product.apply(fw.make_dual(x, v), 2, gw.tensor(U))
        parts = [fw.unpack_dual(o).tangent for o in outs]
        assert parts[0].tolist() == (2 * V * U).tolist()
        assert parts[1:] == [None, None]
    assert seen == [(False, None, True)]
    Product.jvp = staticmethod(lambda ctx, t, n, s: (t, t, None))
    with fw.dual_level(), pytest.raises(RuntimeError, match="is not a differentiable Tensor"):
        Product.apply(fw.make_dual(x, v), 2, gw.tensor(U))
    Product.jvp = staticmethod(lambda ctx, t, n, s: t)
    with fw.dual_level(), pytest.raises(RuntimeError, match="invalid number of forward gradients"):
        Product.apply(fw.make_dual(x, v), 2, gw.tensor(U))


def test_containers():
    class Weighed(Function):
        @staticmethod
        def forward(ctx, pair, w):
            ctx.save_for_forward(*pair.values(), w)
            ctx.save_for_backward(*pair.values(), w)
            return {"a": pair["a"] * w, "b": [pair["b"] + w]}

        @staticmethod
        def backward(ctx, g):
            a, b, w = ctx.saved_tensors
            return {"a": g["a"] * w, "b": g["b"][0]}, g["a"] * a + g["b"][0]

        @staticmethod
        def jvp(ctx, pair, s):
            a, b, w = ctx.saved_tensors
            return {"a": pair["a"] * w + a * s, "b": [pair["b"] + s]}

    class WeighedByBackward(Function):
        forward, backward = Weighed.forward, Weighed.backward

    a, b, w = (gw.tensor(z) for z in (X, U, V))
    for cls in (Weighed, WeighedByBackward):
        for grad in (False, True):
            with fw.dual_level():
                pair = {"a": fw.make_dual(a.clone().requires_grad_(grad), w), "b": b}
                out = cls.apply(pair, fw.make_dual(w, b))
                assert np.allclose(fw.unpack_dual(out["a"]).tangent.detach().numpy(), V * V + X * U)
                assert np.allclose(fw.unpack_dual(out["b"][0]).tangent.detach().numpy(), U)


def test_a_backward_that_cannot_be_differentiated_says_what_to_do():
    class Once(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        @gw.autograd.once_differentiable
        def backward(ctx, g):
            return g * 2

    class InNumPy(Function):
        forward = Once.forward

        @staticmethod
        def backward(ctx, g):
            return gw.from_numpy(g.detach().numpy() * 2)

    x, v = x_and_v()
    for cls in (Once, InNumPy):
        with fw.dual_level(), pytest.raises(RuntimeError) as error:
            cls.apply(fw.make_dual(x, v))
        assert any(f"{cls.__name__} has no jvp" in note for note in error.value.__notes__)


def test_custom_ops():
    @gw.autograd.custom_op
    def cube(x: gw.Tensor) -> gw.Tensor:
        return gw.from_numpy(x.numpy() ** 3)

    cube.vjp(x=lambda xp, g, x: 3 * x**2 * g)
    x, v = x_and_v()
    for _ in range(2):
        assert np.allclose(tangent(cube, x, v).numpy(), 3 * X**2 * V)
        x.requires_grad_()
        t = tangent(cube, x, v)
        assert np.allclose(gw.autograd.grad(t.sum(), x)[0].numpy(), 6 * X * V)
        with fw.dual_level():
            g = gw.autograd.grad(cube(fw.make_dual(x, v)).sum(), x)[0]
            assert np.allclose(fw.unpack_dual(g).tangent.numpy(), 6 * X * V)
        x = x.detach()
        cube.jvp(x=lambda xp, t, x: 3 * x**2 * t)


def test_no_grad_keeps_tangents_in_forward_ad_and_stops_them_in_func():
    """Row 25: there both modes differentiate the same function."""
    x, v = x_and_v()

    def f(x):
        with gw.no_grad():
            a = Cube.apply(x)
        return a * x

    assert np.allclose(tangent(f, x, v).numpy(), 4 * X**3 * V)
    assert np.allclose(gw.func.jvp(f, (x,), (v,))[1].numpy(), X**3 * V)
    forward, reverse = gw.func.jacfwd(f)(x), gw.func.jacrev(f)(x)
    assert np.allclose(forward.numpy(), reverse.numpy())


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
def test_a_function_with_two_outputs_beside_pytorch():
    torch = pytest.importorskip("torch")

    def program(T, fw):
        class Both(T.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                ctx.save_for_backward(x, y)
                ctx.save_for_forward(x, y)
                return x * y, x.exp()

            @staticmethod
            def backward(ctx, g, h):
                x, y = ctx.saved_tensors
                return g * y + h * x.exp(), g * x

            @staticmethod
            def jvp(ctx, t, s):
                x, y = ctx.saved_tensors
                return t * y + x * s, t * x.exp()

        x, v, u = (T.tensor(a.tolist(), dtype=T.float64, requires_grad=True) for a in (X, V, U))
        with fw.dual_level():
            a, b = Both.apply(fw.make_dual(x, v), u)
            ts = [fw.unpack_dual(o).tangent for o in (a, b)]
            gs = T.autograd.grad(ts[0].sum() + ts[1].sum(), (x, v, u), retain_graph=True)
            g, moved = fw.unpack_dual(T.autograd.grad((a * b).sum(), x)[0])
            return [z.detach().numpy() for z in (*ts, *gs, g, moved)]

    mine, theirs = program(gw, forward_ad), program(torch, torch.autograd.forward_ad)
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, 1e-12, 1e-12)


def test_outputs_have_tangents_in_memory_of_their_own():
    class Same(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g.view(-1).view(3)

        @staticmethod
        def jvp(ctx, t):
            return t

    class SameByBackward(Function):
        forward, backward = Same.forward, Same.backward

    for cls in (Same, SameByBackward):
        x, v = x_and_v()
        with fw.dual_level():
            dual = fw.make_dual(x, v)
            y = cls.apply(dual)
            assert not fw.unpack_dual(y).tangent.requires_grad
            y.mul_(2)
            assert fw.unpack_dual(dual).tangent.tolist() == V.tolist()
            assert fw.unpack_dual(y).tangent.tolist() == (2 * V).tolist()


# ---- the Functions of the examples -----------------------------------------------------------------------------

EXAMPLES = Path(__file__).parents[2] / "examples"
INPUTS = {"heat_rod", "lltm", "ode_fit", "wrong_functions", "wrong_derivative", "graph_pages", "fortran_tridiagonal"}
"""Those without inputs that can be drawn, or that are wrong, or need a compiler."""
ONCE = {"SineInNumPy"}
"""Whose backward is marked with once_differentiable, and that have no jvp."""


def functions_of_examples():
    for path in sorted(EXAMPLES.glob("*.py")):
        if path.stem not in INPUTS and "Function" in (text := path.read_text()) and "class " in text:
            yield path


@pytest.mark.parametrize("path", list(functions_of_examples()), ids=lambda path: path.stem)
def test_functions_of_the_examples_move_as_their_backward_says(path, monkeypatch):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    try:
        found = subjects(load(str(path))[0])
    except LookupError:
        pytest.skip("it has none")
    except ModuleNotFoundError as e:
        pytest.skip(f"it needs {e.name}")
    for subject in found:
        trial = trials(subject, lambda doing: None)[0][0]
        moves = [drawn(np.random.default_rng(5), a.array) if a.grad else None for a in trial.call.args]
        trial.seed()
        arguments, leaves = trial.call.tensors(gw, [False] * len(moves))
        with fw.dual_level():
            duals = [t if m is None else fw.make_dual(t, gw.tensor(m)) for t, m in zip(leaves, moves, strict=True)]
            inputs = unflatten(flatten(tuple(arguments), []), iter(duals))
            if subject.name in ONCE:
                with pytest.raises(RuntimeError, match="once_differentiable"):
                    trial.apply(*inputs)
                continue
            said = [fw.unpack_dual(o).tangent for o in flat(trial.apply(*inputs), gw)]
        run = trial.run()
        ws = trial.cotangents(run)
        ts = [t for v, t in zip(run.values, said, strict=True) if v.requires_grad]
        here = [np.vdot(w, t.numpy()).real for w, t in zip(ws, ts, strict=True) if t is not None]
        back = zip(trial.backward(run, ws), [m for m in moves if m is not None], strict=True)
        there = sum(np.vdot(g, m).real for g, m in back if g is not None)
        assert sum(here) == pytest.approx(there, rel=1e-10, abs=1e-10), subject.name
