"""Operations with static arguments that the core is asked before, and without: all that can be seen is the same."""

from __future__ import annotations

import numpy as np
import pytest

import gradwright as gw
from gradwright import native
from gradwright.engine import apply
from gradwright.ops.declare import op, table
from tests.native.test_forms import same
from tests.native.test_quick import asked

pytestmark = pytest.mark.skipif(native.core is None, reason=f"core: {native.state()}")

OPS = {name: o for name, o in table.items() if not o.variadic and not o.several and len(o.inputs) <= 3}


def drawn(sample, dtype):
    """Arrays as a sample describes them."""
    rng = np.random.default_rng(0)
    for a in sample.arrays:
        if a.values is None:
            yield gw.tensor(rng.uniform(a.low, a.high, a.shape), dtype=dtype)
        else:
            yield gw.tensor(np.array(a.values))


def calls(o):
    """Its samples, in both dtypes, with and without a history."""
    call = apply.direct(o, len(o.inputs))
    for sample in o.samples:
        if any(a.complex for a in sample.arrays):
            continue
        for dtype in (gw.float32, gw.float64):
            plain = list(drawn(sample, dtype))
            leaves = [x.clone().requires_grad_() if x.dtype.is_floating_point else x for x in plain]
            static = o.defaults | sample.static
            yield from (
                (call, (*given, static)) for given in (plain, leaves, [x * 1 for x in leaves], [x[...] for x in leaves])
            )
            yield call, (*plain, {})
            yield call, (*leaves[:-1], None, static)


@pytest.mark.filterwarnings("ignore")
def test_every_operation():
    cases = {name: list(calls(o)) for name, o in OPS.items()}
    before = {name: asked(apply.direct(o, len(o.inputs))).taken for name, o in OPS.items()}
    same([case for many in cases.values() for case in many])
    left = {n for n, o in OPS.items() if cases[n] and asked(apply.direct(o, len(o.inputs))).taken == before[n]}
    assert left == set()


def test_of_whole_numbers_scalars_and_layouts():
    x = gw.rand(3, 4, requires_grad=True)
    there = [
        x,
        x.t(),
        x[:, ::2],
        x.sum(),
        gw.arange(6).view(2, 3),
        gw.ones(2, 2, dtype=gw.bool),
        gw.ones(2, dtype=gw.int8),
        gw.ones(2, dtype=gw.complex64),
        gw.ones(2, dtype=gw.float16),
    ]
    names = {
        "reshape": {"shape": (-1,)},
        "power": {"exponent": 2},
        "cumulative_sum": {"axis": 0},
        "copy": {},
        "flip": {"axis": (0,)},
    }
    same([(apply.direct(table[name], 1), (y, static)) for name, static in names.items() for y in there])


def test_formulas_of_users_and_what_they_raise():
    seen = []

    @op(kind="general")
    def halves(xp, x, *, where, how):
        seen.append(how)
        if how == "interrupt":
            raise KeyboardInterrupt
        if how != "quietly":
            raise {"value": ValueError, "zero": ZeroDivisionError}[how]("no")
        return x[where] / 2

    halves.vjp(x=lambda xp, g, x, out, where, x_shape, how: g)
    x = gw.rand(4, requires_grad=True)
    call = apply.direct(halves)
    same([(call, (x, {"where": slice(2), "how": how})) for how in ("quietly", "value", "zero")])
    before = seen.count("interrupt")
    with pytest.raises(KeyboardInterrupt):
        call(x, {"where": 0, "how": "interrupt"})
    assert seen.count("interrupt") == before + 1
    assert asked(call).taken == 1
