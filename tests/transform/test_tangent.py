"""Tangents of every operation: against its cotangents, against finite differences, and second derivatives four ways."""

import numpy as np
import pytest

import gradwright as gw
from gradwright import func
from gradwright.autograd import Function
from gradwright.engine.base import wrap
from gradwright.engine.calls import grad
from gradwright.op import table
from gradwright.transform.tangent import Tangents
from gradwright.utils._pytree import tree_leaves
from gradwright.verify.testing.derivatives import leaf
from gradwright.verify.testing.samples import draw
from tests.thorough import some


class Call:
    """An operation, one of its samples, and directions and cotangents for it."""

    def __init__(self, op, sample, dtype):
        self.op = op
        self.arrays, self.static = draw(sample, dtype=dtype)
        self.generator = np.random.default_rng(3)
        names = op.names_of(len(self.arrays))
        moves = [a if n in op.rules and a.dtype.kind in "fc" else None for n, a in zip(names, self.arrays, strict=True)]
        self.v = [None if a is None else self._random(a) for a in moves]
        self.u = [None if a is None else self._random(a) for a in moves]
        self.w = [self._random(o.array) if o.array.dtype.kind in "fc" else None for o in self(*map(wrap, self.arrays))]

    def _random(self, like):
        parts = self.generator.standard_normal((2, *like.shape))
        return np.asarray(parts[0] + 1j * parts[1] if like.dtype.kind == "c" else parts[0]).astype(like.dtype)

    def __call__(self, *inputs):
        out = self.op(*inputs, **self.static)
        return list(out) if self.op.several else [out]

    def leaves(self):
        return [wrap(a) if v is None else leaf(a) for a, v in zip(self.arrays, self.v, strict=True)]

    def flows(self, outs):
        """Those outputs that have a history, and their cotangents."""
        pairs = [(o, wrap(w)) for o, w in zip(outs, self.w, strict=True) if w is not None and o is not None]
        return [o for o, _ in pairs if o._node is not None], [w for o, w in pairs if o._node is not None]

    def moved(self, level, inputs, directions):
        """The inputs, moving so at a level."""
        return [x if v is None else level.dual(x, wrap(v)) for x, v in zip(inputs, directions, strict=True)]

    def tangents(self, v):
        """The values of the outputs, and their tangents when the inputs move by ``v``: zeros for None."""
        with Tangents(stops=False).running() as level:
            outs = self(*self.moved(level, map(wrap, self.arrays), v))
        pairs = [level.unpack(o) for o in outs]
        return [x.array for x, _ in pairs], [zeros(x.array) if t is None else t.array for x, t in pairs]


def zeros(like):
    return np.zeros(like.shape, like.dtype)


def inner(g, dy):
    """dL = Re(conj(g) dy)."""
    return 0.0 if g is None or dy is None else np.sum(np.conj(g) * dy).real


OF_REAL = ("astype", "to_complex", "view_as_complex")  # their samples are of real arrays


def calls(dtype):
    for op in table.values():
        if not op.rules or (dtype == "complex128" and (op.complex is None or op.name in OF_REAL)):
            continue
        for sample in some(op.samples, 2, dtype == "complex128"):
            yield pytest.param(op, sample, dtype, id=f"{op.name}-{sample}")


def made(op, sample, dtype):
    try:
        call = Call(op, sample, dtype)
    except RuntimeError:
        assert dtype == "complex128"
        pytest.skip("this call has no meaning for complex numbers")
    if all(v is None for v in call.v):
        pytest.skip("nothing moves")
    return call


def flowing(xs):
    return [x for x in xs if x._node is not None]


def check_transpose_of_cotangents(call, values, ts):
    xs = call.leaves()
    plain = call(*xs)
    outs, ws = call.flows(plain)
    gs = iter(grad(outs, flowing(xs), ws, allow_unused=True))
    there = sum(inner(g.array, v) for v in call.v if v is not None and (g := next(gs)) is not None)
    reached = [w if o._node is not None else None for o, w in zip(plain, call.w, strict=True)]
    here = sum(inner(w, t) for w, t in zip(reached, ts, strict=True))
    assert here == pytest.approx(there, rel=1e-10, abs=1e-10)
    for value, t, o in zip(values, ts, plain, strict=True):
        np.testing.assert_array_equal(value, o.array)
        assert (t.shape, t.dtype) == (value.shape, value.dtype)


def check_each_input_moves_alone_and_together_they_add_up(call, found):
    moving = [k for k, v in enumerate(call.v) if v is not None]
    if len(moving) == 1:
        return
    alone = [call.tangents([v if j == k else None for j, v in enumerate(call.v)])[1] for k in moving]
    for k, t in enumerate(found):
        np.testing.assert_allclose(sum(ts[k] for ts in alone), t, 1e-10, 1e-10)


def check_differences(call, ts):
    def at(h):
        pairs = zip(call.arrays, call.v, strict=True)
        return [o.array for o in call(*[wrap(a if v is None else a + h * v) for a, v in pairs])]

    for t, a, b, c, d in zip(ts, *map(at, (1e-4, -1e-4, 2e-4, -2e-4)), strict=True):
        if t.dtype.kind in "fc":
            slope = (8 * (a - b) - (c - d)) / 12e-4
            np.testing.assert_allclose(t, slope, 0, 2e-7 * max(1, np.max(np.abs(slope), initial=0)))


def forward_over_reverse(call):
    with Tangents(stops=False).running() as level:
        xs = call.moved(level, leaves := call.leaves(), call.v)
        for x, origin in zip(xs, leaves, strict=True):
            x._node = origin._node
        outs, ws = call.flows(call(*xs))
        gs = grad(outs, flowing(xs), ws, allow_unused=True) if outs else ()
    return [None if g is None else level.unpack(g)[1] for g in gs]


def reverse_over_forward(call):
    xs = call.leaves()
    with Tangents(stops=False).running() as level:
        ts = [level.unpack(o)[1] for o in call(*call.moved(level, xs, call.v))]
    outs, ws = call.flows(ts)
    return grad(outs, flowing(xs), ws, allow_unused=True) if outs else ()


def reverse_over_reverse(call):
    xs = call.leaves()
    outs, ws = call.flows(call(*xs))
    gs = grad(outs, flowing(xs), ws, create_graph=True, allow_unused=True)
    pairs = [(g, wrap(v)) for g, v in zip(gs, [v for v in call.v if v is not None], strict=True)
             if g is not None and g._node is not None]  # fmt: skip
    return grad([g for g, _ in pairs], flowing(xs), [v for _, v in pairs], allow_unused=True) if pairs else ()


def forward_over_forward(call):
    """The second derivative along both directions, weighed by the cotangents."""
    with Tangents(stops=False).running() as outer:
        xs = call.moved(outer, map(wrap, call.arrays), call.u)
        with Tangents(stops=False).running() as inner_level:
            ts = [inner_level.unpack(o)[1] for o in call(*call.moved(inner_level, xs, call.v))]
        both = [None if t is None else outer.unpack(t)[1] for t in ts]
    return sum(inner(w, None if t is None else t.array) for w, t in zip(call.w, both, strict=True))


def check_modes_agree_on_second_derivatives(call):
    moving = [(a, u) for a, u in zip(call.arrays, call.u, strict=True) if u is not None]
    ways = [way(call) or [None] * len(moving)
            for way in (reverse_over_reverse, forward_over_reverse, reverse_over_forward)]  # fmt: skip
    found = [[zeros(a) if t is None else t.array for (a, _), t in zip(moving, way, strict=True)] for way in ways]
    for there, *others in zip(*found, strict=True):
        for other in others:
            assert other.dtype == there.dtype
            np.testing.assert_allclose(other, there, 0, 1e-10 * max(1, np.max(np.abs(there), initial=0)))
    along = sum(inner(u, h) for (_, u), h in zip(moving, found[0], strict=True))
    assert forward_over_forward(call) == pytest.approx(along, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(("op", "sample", "dtype"), [*calls("float64"), *calls("complex128")])
def test_tangents(op, sample, dtype):
    call = made(op, sample, dtype)
    values, ts = call.tangents(call.v)
    check_transpose_of_cotangents(call, values, ts)
    check_each_input_moves_alone_and_together_they_add_up(call, ts)
    check_differences(call, ts)
    check_modes_agree_on_second_derivatives(call)


# ---- what a Function writes in place, where only some of it moved before -----------------------------------------


class Times(Function):
    """x y, in place of x."""

    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x.clone(), y)
        ctx.save_for_forward(x.clone(), y)
        ctx.mark_dirty(x)
        return x.mul_(y)

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        return g * y, g * x


class TimesByJvp(Times):
    @staticmethod
    def jvp(ctx, t, u):
        x, y = ctx.saved_tensors
        if t is None:
            return u * x
        t.mul_(y)
        return t if u is None else t.add_(u * x)


WRITTEN = {
    "all": lambda t: t,
    "a part": lambda t: t[1:],
    "a part of a part": lambda t: t[:, 1:][1:],
    "transposed": lambda t: t.t(),
    "an entry": lambda t: t[0, 1],
    "a row": lambda t: t[1],
}
START = {
    "moving": lambda x: x * 1,
    "standing": lambda x: gw.ones(2, 3, dtype=gw.float64) * 2,
    "written before": lambda x: gw.zeros(2, 3, dtype=gw.float64).copy_(x),
    "a view": lambda x: (x * 1).view(3, 2).t().reshape(2, 3).view(2, 3),
}


@pytest.mark.parametrize("cls", [Times, TimesByJvp])
@pytest.mark.parametrize("factor", ["moving", "standing"])
@pytest.mark.parametrize("start", START)
@pytest.mark.parametrize("part", WRITTEN)
def test_what_a_function_writes_in_place_moves_as_where_nothing_is_written(cls, factor, start, part):
    x = gw.arange(1.0, 7.0, dtype=gw.float64).view(2, 3) / 5
    ones = gw.ones(2, 3, dtype=gw.float64)
    mask = gw.zeros(2, 3, dtype=gw.float64)
    WRITTEN[part](mask).fill_(1)

    def by(x):
        return x.exp() if factor == "moving" else ones.exp()

    def written(x):
        t = START[start](x)
        shown = WRITTEN[part](t)
        assert cls.apply(shown, WRITTEN[part](by(x))) is shown
        return (t * t).sum(1), shown.sum()

    def told(x):
        t = START[start](x)
        t = t * (mask * by(x) + 1 - mask)
        return (t * t).sum(1), (mask * t).sum()

    found, expected = (tree_leaves(func.jvp(f, (x,), (x.cos(),))) for f in (written, told))
    for a, b in zip(found, expected, strict=True):
        assert gw.allclose(a, b, 1e-12, 1e-12)
