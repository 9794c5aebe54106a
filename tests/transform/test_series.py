"""Series of every operation against nested forward mode, and the table's rules against known series."""

from math import factorial

import numpy as np
import pytest

import gradwright as gw
from gradwright.engine.base import wrap
from gradwright.op import table
from gradwright.transform.forward import jvp
from gradwright.transform.taylor import jet
from gradwright.verify.testing.samples import draw
from tests.thorough import some

ORDER = 3


def calls():
    for op in table.values():
        if op.rules:
            for sample in some(op.samples, 2):
                yield pytest.param(op, sample, id=f"{op.name}-{sample}")


def nested(f, order):
    """The derivatives of f at 0, a function of one number that returns a list, by forward mode within forward mode."""
    one = wrap(np.ones(()))

    def all_to(k):
        if not k:
            return lambda t: [f(t)]
        lower = all_to(k - 1)

        def found(t):
            values, slopes = jvp(lower, (t,), (one,))
            return [*values, slopes[-1]]

        return found

    return all_to(order)(wrap(np.zeros(())))[1:]


def directions(generator, like):
    parts = 0.3 * generator.standard_normal((2, *like.shape))
    return wrap(np.asarray(parts[0] + 1j * parts[1] if like.dtype.kind == "c" else parts[0]).astype(like.dtype))


@pytest.mark.parametrize(("op", "sample"), list(calls()))
def test_every_operation_has_the_series_that_nested_forward_mode_gives(op, sample):
    try:
        arrays, static = draw(sample, dtype="float64")
    except RuntimeError:
        pytest.skip("it has no samples of this dtype")
    generator = np.random.default_rng(5)
    names = op.names_of(len(arrays))
    which = [k for k, a in enumerate(arrays) if names[k] in op.rules and a.dtype.kind in "fc"]
    terms = {k: [directions(generator, arrays[k]) for _ in range(ORDER)] for k in which}

    def of(*moving):
        given = dict(zip(which, moving, strict=True))
        out = op(*[given.get(k, wrap(a)) for k, a in enumerate(arrays)], **static)
        outs = [o for o in (out if op.several else [out]) if o is not None]
        return [o for o in outs if o.dtype.is_floating_point or o.dtype.is_complex]

    def along(t):
        first, half, sixth = t, t * t / 2.0, t**3 / 6.0
        return of(*[wrap(arrays[k]) + c[0] * first + c[1] * half + c[2] * sixth for k, c in terms.items()])

    values, found = jet(of, [wrap(arrays[k]) for k in which], [terms[k] for k in which])
    expected = nested(along, ORDER)
    plain = of(*[wrap(arrays[k]) for k in which])
    for i, (value, mine) in enumerate(zip(values, found, strict=True)):
        np.testing.assert_allclose(value.numpy(), plain[i].numpy())
        for k in range(ORDER):
            theirs = expected[k][i].numpy()
            scale = max(1.0, float(np.abs(theirs).max(initial=0.0)))
            np.testing.assert_allclose(mine[k].numpy() / scale, theirs / scale, atol=1e-9)


@gw.op(kind="elementwise", node="ThirdBackward0", samples=[])
def third(xp, x):
    """y = x**3, by a rule that writes in place."""
    return x * x * x


third.vjp(x=lambda xp, g, x: (3.0 * g).mul_(x).mul_(x))


def test_a_rule_may_write_in_place_but_not_to_a_view():
    x = gw.tensor(LINE)
    line = [gw.ones_like(x), *[gw.zeros_like(x)] * 3]
    for mine, theirs in zip(jet(third, (x,), (line,))[1], jet(lambda x: x**3, (x,), (line,))[1], strict=True):
        np.testing.assert_allclose(mine.numpy(), theirs.numpy())
    third.vjp(x=lambda xp, g, x: g[:].mul_(x))
    with pytest.raises(RuntimeError, match="writes to a view"):
        jet(third, (x,), (line,))


LINE = np.linspace(0.2, 0.8, 4)
KNOWN = {
    "exp": lambda x, k: np.exp(x),
    "exp2": lambda x, k: np.exp2(x) * np.log(2.0) ** k,
    "expm1": lambda x, k: np.exp(x),
    "log": lambda x, k: (-1) ** (k + 1) * factorial(k - 1) / x**k,
    "log1p": lambda x, k: (-1) ** (k + 1) * factorial(k - 1) / (1 + x) ** k,
    "log2": lambda x, k: (-1) ** (k + 1) * factorial(k - 1) / x**k / np.log(2.0),
    "log10": lambda x, k: (-1) ** (k + 1) * factorial(k - 1) / x**k / np.log(10.0),
    "sin": lambda x, k: np.sin(x + k * np.pi / 2),
    "cos": lambda x, k: np.cos(x + k * np.pi / 2),
    "sinh": lambda x, k: np.sinh(x) if k % 2 == 0 else np.cosh(x),
    "cosh": lambda x, k: np.cosh(x) if k % 2 == 0 else np.sinh(x),
    "reciprocal": lambda x, k: (-1) ** k * factorial(k) / x ** (k + 1),
    "sqrt": lambda x, k: falling(0.5, k) * x ** (0.5 - k),
    "rsqrt": lambda x, k: falling(-0.5, k) * x ** (-0.5 - k),
    "square": lambda x, k: falling(2, k) * x ** float(2 - k),
}


def falling(p, k):
    return np.prod([p - j for j in range(k)])


@pytest.mark.parametrize("name", KNOWN)
def test_derivatives_along_a_line_to_order_10_are_the_known_ones(name):
    x = wrap(LINE)
    line = [gw.ones_like(x), *[gw.zeros_like(x)] * 9]
    _, found = jet(getattr(gw, name), (x,), (line,))
    for k, mine in enumerate(found, 1):
        np.testing.assert_allclose(mine.numpy(), KNOWN[name](LINE, k), rtol=1e-11)


@pytest.mark.parametrize("name", ["tan", "tanh", "sigmoid"])
def test_what_solves_a_differential_equation_agrees_with_quotients(name):
    made = {
        "tan": lambda x: x.sin() / x.cos(),
        "tanh": lambda x: (x.exp() - (-x).exp()) / (x.exp() + (-x).exp()),
        "sigmoid": lambda x: 1.0 / (1.0 + (-x).exp()),
    }
    x = wrap(LINE)
    line = [gw.ones_like(x), *[gw.full_like(x, 0.1)] * 6]
    mine, theirs = (jet(f, (x,), (line,))[1] for f in (getattr(gw, name), made[name]))
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-9)


@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 5, 7, 64, 65])
def test_whole_powers_have_series_at_zero(exponent):
    x = gw.zeros(2, dtype=gw.float64)
    line = [gw.ones_like(x), *[gw.zeros_like(x)] * 7]
    _, found = jet(lambda x: x**exponent, (x,), (line,))
    for k, c in enumerate(found, 1):
        np.testing.assert_allclose(c.numpy(), factorial(k) if k == exponent else 0.0)


@pytest.mark.parametrize("exponent", [-2, -1, 0.5, 1.5, 2.5, -0.3])
def test_other_powers_have_the_binomial_series(exponent):
    x = wrap(LINE)
    line = [gw.ones_like(x), *[gw.zeros_like(x)] * 5]
    _, found = jet(lambda x: x**exponent, (x,), (line,))
    for k, c in enumerate(found, 1):
        np.testing.assert_allclose(c.numpy(), falling(exponent, k) * LINE ** (exponent - k), rtol=1e-12)
