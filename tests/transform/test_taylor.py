"""Taylor coefficients: against nested derivatives, PyTorch, JAX and known series; nested with other transforms."""

from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gradwright as gw
import gradwright.backends.strict  # makes its arrays known
from gradwright.transform.forward import jvp
from gradwright.transform.reverse import grad
from gradwright.transform.taylor import jet
from gradwright.transform.vmap import vmap
from tests.transform.programs import by_slope, function, keeping, kept

POINT = np.array([0.4, 0.7, 0.9])
TERMS = np.array([[0.3, -1.0, 0.5], [0.2, 0.1, -0.6], [1.0, 0.0, 0.4], [-0.7, 0.3, 0.2]])


def tensors(*arrays):
    return [gw.tensor(a) for a in arrays]


def composed(m):
    """A function of a vector, by the names of a library."""
    return lambda x: m.tanh(m.sin(x) * x / (1.0 + m.exp(-x))).sum() * m.sqrt(x) + m.log(x[0] * x + 2.0)


def of_number(f, order, zero):
    """The derivatives of a function of one number, by a library's grad within grad, one entry after another."""
    rows = []
    for i in range(len(POINT)):
        each, row = (lambda t, i=i: f(t)[i]), []
        for _ in range(order):
            each = grad(each)
            row.append(each(zero).item())
        rows.append(row)
    return np.array(rows).T


def slope_by(torch, f):
    return lambda t: torch.func.jvp(f, (t,), (torch.ones_like(t),))[1]


def along(m, tensor, t):
    return tensor(POINT) + sum(tensor(c) * (t**k / factorial(k)) for k, c in enumerate(TERMS, 1))


def test_the_terms_are_derivatives_not_divided_coefficients():
    x, one, zero = tensors(0.0, 1.0, 0.0)
    value, terms = jet(lambda x: x**3, (x,), ([one, zero, zero, zero],))
    assert value.item() == 0.0
    assert [c.item() for c in terms] == [0.0, 0.0, 6.0, 0.0]


def test_divided_coefficients_if_asked():
    x, one, zero = tensors(0.0, 1.0, 0.0)
    _, terms = jet(gw.exp, (x,), ([one, zero, zero],), factorial_scaled=False)
    assert [c.item() for c in terms] == pytest.approx([1.0, 1 / 2, 1 / 6])


def test_it_agrees_with_nested_grad():
    _, terms = jet(composed(gw), tensors(POINT), [tensors(*TERMS)])
    expected = of_number(lambda t: composed(gw)(along(gw, gw.tensor, t)), 4, gw.tensor(0.0, dtype=gw.float64))
    np.testing.assert_allclose([c.numpy() for c in terms], expected, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
def test_it_agrees_with_pytorch_nested():
    torch = pytest.importorskip("torch")
    _, terms = jet(composed(gw), tensors(POINT), [tensors(*TERMS)])
    f = lambda t: composed(torch)(along(torch, torch.tensor, t))
    zero = torch.zeros((), dtype=torch.float64)
    for mine in terms:
        f = slope_by(torch, f)
        np.testing.assert_allclose(mine.numpy(), f(zero).numpy(), rtol=1e-9)
    back = torch.zeros((), dtype=torch.float64, requires_grad=True)
    out = composed(torch)(along(torch, torch.tensor, back))[0]
    for mine in terms:
        (out,) = torch.autograd.grad(out, back, create_graph=True)
        assert mine[0].item() == pytest.approx(out.item(), rel=1e-9)


@pytest.mark.parametrize("scaled", [True, False])
def test_it_agrees_with_jax(scaled):
    jax = pytest.importorskip("jax")
    from jax.experimental.jet import jet as jax_jet

    with jax.enable_x64(True):
        terms = [jax.numpy.asarray(c) for c in TERMS]
        value, expected = jax_jet(composed(jax.numpy), (jax.numpy.asarray(POINT),), (terms,), factorial_scaled=scaled)
        expected = [np.asarray(c) for c in expected]
    mine, found = jet(composed(gw), tensors(POINT), [tensors(*TERMS)], factorial_scaled=scaled)
    np.testing.assert_allclose(mine.numpy(), np.asarray(value), rtol=1e-12)
    np.testing.assert_allclose([c.numpy() for c in found], expected, rtol=1e-9)


UNARY = ["sin", "cos", "tanh", "sigmoid", "exp", "erf", "atan", "square", "softplus", "sinh"]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(UNARY), min_size=1, max_size=3), st.floats(-1.0, 1.0))
def test_a_composition_has_the_series_of_the_series(names, at):
    functions = [getattr(gw, n, None) or getattr(gw.nn.functional, n) for n in names]

    def whole(x):
        for f in functions:
            x = gw.sin(f(x))
        return x

    x, one, zero = tensors(np.asarray(at), np.asarray(1.0), np.asarray(0.0))
    terms = [one, zero, zero, zero]
    at_once = jet(whole, (x,), (terms,))[1]
    value = x
    for f in functions:
        for g in (f, gw.sin):
            value, terms = jet(g, (value,), (terms,))
    np.testing.assert_allclose([c.item() for c in at_once], [c.item() for c in terms], rtol=1e-10, atol=1e-12)
    f = whole
    for mine in at_once:
        f = grad(f)
        assert mine.item() == pytest.approx(f(x).item(), rel=1e-8, abs=1e-10)


@pytest.mark.parametrize(
    ("kind", "near"),
    [({"device": "array-api-strict", "dtype": gw.float64}, 1e-12), ({"dtype": gw.float16}, 5e-3)],
)
def test_other_libraries_and_half_precision(kind, near):
    mine, theirs = (jet(composed(gw), *made) for made in (
        ((gw.tensor(POINT, **kind),), ([gw.tensor(c, **kind) for c in TERMS[:2]],)),
        (tensors(POINT), [tensors(*TERMS[:2])]),
    ))  # fmt: skip
    for a, b in zip(mine[1], theirs[1], strict=True):
        assert a.device == gw.tensor(0.0, **kind).device
        np.testing.assert_allclose(a.cpu().numpy(), b.numpy(), rtol=near, atol=near)


double = by_slope(lambda x: 2.0 * x)
Square = function("Square", lambda x: x * x, double, setup_context=kept, jvp=double)


def test_a_function_goes_by_its_jvp():
    x, one, zero = tensors(1.0, 1.0, 0.0)
    _, terms = jet(lambda x: Square.apply(Square.apply(x)), (x,), ([one, zero, zero, zero],))
    assert [c.item() for c in terms] == [4.0, 12.0, 24.0, 24.0]


def test_a_module_and_a_checkpoint_have_series():
    module = gw.nn.Sequential(gw.nn.Linear(3, 4), gw.nn.GELU(), gw.nn.Linear(4, 2)).double()
    args = tensors(POINT), [tensors(*TERMS[:3])]
    plain = jet(module, *args)[1]
    kept = jet(lambda x: gw.utils.checkpoint.checkpoint(module, x, use_reentrant=False), *args)[1]
    nested = lambda t: module(along(gw, gw.tensor, t) - gw.tensor(TERMS[3]) * (t**4 / 24.0))
    for k in range(3):
        nested = (lambda f: lambda t: jvp(f, (t,), (gw.ones_like(t),))[1])(nested)  # noqa: PLC3002
        np.testing.assert_allclose(plain[k].detach().numpy(), kept[k].detach().numpy())
        theirs = nested(gw.tensor(0.0, dtype=gw.float64)).detach().numpy()
        np.testing.assert_allclose(plain[k].detach().numpy(), theirs, rtol=1e-9)


def test_an_ode_is_solved_by_its_own_series():
    """y' = y (1 - y): each order of y follows from that of y', which the series of the right side gives."""
    rhs = lambda y: y * (1.0 - y)
    y = gw.tensor(0.2, dtype=gw.float64)
    terms = [rhs(y)]
    while len(terms) < 12:
        terms.append(jet(rhs, (y,), (terms,))[1][-1])
    h = 0.3
    at = y.item() + sum(c.item() * h**k / factorial(k) for k, c in enumerate(terms, 1))
    assert at == pytest.approx(1.0 / (1.0 + 4.0 * np.exp(-h)), rel=1e-9)


def test_several_arguments_and_outputs_in_containers():
    x, y = tensors(0.5, 2.0)
    one, zero = tensors(1.0, 0.0)
    value, terms = jet(lambda x, y: {"a": x * y, "b": (y, gw.tensor(3.0))}, (x, y), ([one, zero], [one, one]))
    assert value["a"].item() == 1.0
    assert [c.item() for c in terms["a"]] == [2.5, 0.5 + 2.0]
    assert [c.item() for c in terms["b"][0]] == [1.0, 1.0]
    assert [c.item() for c in terms["b"][1]] == [0.0, 0.0]


def test_order_one_is_jvp_and_order_zero_the_function():
    x, v = tensors(POINT, TERMS[0])
    value, (term,) = jet(composed(gw), (x,), ([v],))
    expected = jvp(composed(gw), (x,), (v,))
    np.testing.assert_allclose(value.numpy(), expected[0].numpy())
    np.testing.assert_allclose(term.numpy(), expected[1].numpy())
    value, terms = jet(composed(gw), (x,), ([],))
    np.testing.assert_allclose(value.numpy(), expected[0].numpy())
    assert terms == []


def second(x, v):
    """The second derivative of a sum of sines along v."""
    return jet(lambda x: (x.sin() * x).sum(), (x,), ([v, gw.zeros_like(v)],))[1][1]


def test_jets_nest_with_vmap_jvp_grad_and_jets():
    x, v = tensors(POINT, TERMS[0])
    d3 = lambda a: -3 * np.sin(a) - a * np.cos(a)
    np.testing.assert_allclose(grad(second)(x, v).numpy(), d3(POINT) * TERMS[0] ** 2)
    np.testing.assert_allclose(jvp(second, (x, v), (v, gw.zeros_like(v)))[1].item(), d3(POINT) @ TERMS[0] ** 3)
    rows = vmap(second, in_dims=(None, 0))(x, gw.tensor(TERMS))
    np.testing.assert_allclose(rows.numpy(), [second(x, gw.tensor(t)).item() for t in TERMS])
    inner = lambda x: jet(lambda y: (x * y).sin().sum(), (v,), ([v, gw.zeros_like(v)],))[1][1]
    _, outer = jet(inner, (x,), ([v, gw.zeros_like(v)],))
    twice = grad(lambda t: grad(lambda t: inner(x + t * v))(t))(gw.tensor(0.0, dtype=gw.float64))
    np.testing.assert_allclose(outer[1].item(), twice.item())
    mapped = jet(vmap(lambda x: x.exp().sum()), (gw.tensor(TERMS),), ([gw.ones(4, 3, dtype=gw.float64)] * 2,))[1]
    np.testing.assert_allclose(mapped[1].numpy(), 2 * np.exp(TERMS).sum(1))
    inside = jet(lambda x: grad(lambda x: (x**3).sum())(x), (x,), ([v, gw.zeros_like(v)],))[1]
    np.testing.assert_allclose(inside[1].numpy(), 6 * TERMS[0] ** 2)


def test_terms_have_a_history_where_inputs_have_one():
    x = gw.tensor(POINT, requires_grad=True)
    _, terms = jet(gw.sin, (x,), (tensors(TERMS[0], np.zeros(3)),))
    terms[1].sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), -np.cos(POINT) * TERMS[0] ** 2)


def test_writes_in_place_and_views_carry_series():
    def written(x):
        y = gw.zeros(4, dtype=gw.float64)
        y[:3] = x * x
        y[3] += y[0]
        first, second = y.split(2)
        first *= x[2]
        second.sin_()
        return y

    def plain(x):
        y = gw.cat([x * x, (x[:1] * x[:1])])
        return gw.cat([y[:2] * x[2], y[2:].sin()])

    args = tensors(POINT), [tensors(*TERMS)]
    for mine, theirs in zip(jet(written, *args)[1], jet(plain, *args)[1], strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-12)


class Cube(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x, x + 1.0

    @staticmethod
    def backward(ctx, g, h):
        (x,) = ctx.saved_tensors
        return g * 3.0 * x * x + h


def test_a_function_goes_by_its_backward():
    f = lambda x: Cube.apply(x.sin())[0] * Cube.apply(x)[1]
    g = lambda x: x.sin() ** 3 * (x + 1.0)
    args = tensors(POINT), [tensors(*TERMS)]
    for mine, theirs in zip(jet(f, *args)[1], jet(g, *args)[1], strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-11)


def test_kinks_and_poles():
    x, one, zero = tensors(0.0, 1.0, 0.0)
    line = ([one, zero],)
    assert [c.item() for c in jet(gw.abs, (x,), line)[1]] == [0.0, 0.0]
    assert [c.item() for c in jet(gw.relu, (x,), line)[1]] == [0.0, 0.0]
    assert jet(gw.sqrt, (x,), line)[1][0].item() == np.inf
    assert jet(lambda x: gw.where(x > 0, x, x * x), (x,), line)[1][1].item() == 2.0


def test_what_is_computed_without_recording_is_constant():
    def f(x):
        with gw.no_grad():
            y = x * x
        return y * x + x.detach()

    assert [c.item() for c in jet(f, tensors(3.0), [tensors(1.0, 0.0)])[1]] == [9.0, 0.0]


def test_a_number_asked_of_a_series_is_refused():
    with pytest.raises(RuntimeError, match="carries a series"):
        jet(lambda x: x * x.item(), tensors(3.0), [tensors(1.0)])


@pytest.mark.parametrize(
    ("primals", "series", "error", "says"),
    [
        (gw.ones(2), ([gw.ones(2)],), TypeError, r"primals must be a tuple or list.*\(x,\)"),
        ((gw.ones(2),), gw.ones(2), TypeError, "series must be a tuple or list"),
        ((gw.ones(2),), (), ValueError, "1 primals and 0 lists"),
        ((2.0,), ([gw.ones(2)],), TypeError, r"primals\[0\] must be a tensor"),
        ((gw.ones(2).long(),), ([gw.ones(2)],), ValueError, r"primals\[0\] is of .*int64.*convert"),
        ((gw.ones(2),), (gw.ones(2),), TypeError, r"series\[0\] must be a list of tensors"),
        ((gw.ones(2),) * 2, ([gw.ones(2)], [gw.ones(2)] * 2), ValueError, r"series\[1\] 2: fill up with zeros"),
        ((gw.ones(2),), ([1.0],), TypeError, r"series\[0\]\[0\] must be a tensor like primals\[0\]"),
        ((gw.ones(2),), ([gw.ones(2), gw.ones(3)],), ValueError, r"series\[0\]\[1\] is of shape \(3,\)"),
        ((gw.ones(2),), ([gw.ones(2).double()],), ValueError, r"series\[0\]\[0\] is of .*float64.*convert"),
    ],
)
def test_bad_input_is_named_with_its_mend(primals, series, error, says):
    with pytest.raises(error, match=says):
        jet(lambda *x: x[0], primals, series)


def test_an_output_that_is_no_tensor_is_named():
    with pytest.raises(TypeError, match=r'returned float for outputs\["a"\]'):
        jet(lambda x: {"a": 1.0}, tensors(1.0), [tensors(1.0)])


Sine = function("Sine", keeping(lambda x: gw.from_numpy(np.sin(x.numpy()) + 0.0 * x[0].item())), by_slope(gw.cos))


def test_a_function_that_leaves_for_numpy_goes_by_its_backward():
    args = tensors(POINT), [tensors(*TERMS)]
    found, due = (jet(f, *args)[1] for f in (lambda x: Sine.apply(x * x), lambda x: (x * x).sin()))
    for mine, theirs in zip(found, due, strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-11)
    third, same = [grad(lambda x, f=f: jet(f, (x,), args[1])[1][2].sum())(*args[0]) for f in (Sine.apply, gw.sin)]
    np.testing.assert_allclose(third.numpy(), same.numpy(), rtol=1e-11)
    with pytest.raises(RuntimeError, match=r"numpy\(\) of a tensor that carries a series"):
        jet(lambda x: gw.from_numpy(x.numpy()), *args)


class Boxed(gw.autograd.Function):
    @staticmethod
    def forward(ctx, ws, x):
        ctx.save_for_backward(x, *ws)
        return {"a": ws[0] * x, "b": ws[1] + x}

    @staticmethod
    def backward(ctx, g):
        x, a, _ = ctx.saved_tensors
        return [g["a"] * x, g["b"]], g["a"] * a + g["b"]


def in_place(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


Double = function("Double", in_place, lambda ctx, g: 2 * g)


def doubled(x):
    y = x * x
    Double.apply(y)
    return y * x


def doubled_unrecorded(x):
    y = x * x
    with gw.no_grad():
        y.mul_(2)
    return y * x


def boxed(x):
    out = Boxed.apply([x * x, x], x)
    return out["a"] * out["b"]


def pushed(f, t):
    return lambda x: jvp(f, (x,), (t,))[1]


@pytest.mark.parametrize("f", [boxed, doubled, doubled_unrecorded])
def test_containers_and_writes_in_place_move_as_in_forward_mode(f):
    """Series of what containers held, and of what a Function wrote in place, were lost once."""
    x, one, zero = tensors(3.0, 1.0, 0.0)
    value, terms = jet(f, (x,), ([one, zero, zero],))
    for c in (value, *terms):
        assert c.item() == f(x).item()
        f = pushed(f, one)
