"""A backward pass as it was recorded, beside what it is known to be."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import gradwright as gw
from gradwright import viz
from gradwright.viz.play import CELLS, SIDE, Play, Step, play, values
from tests.functions import function


def named(p: Play, name: str) -> list[Step]:
    return [s for s in p.steps if name in (p.graph.nodes[s.node].name, p.graph.nodes[s.node].label)]


def entries(v: Any) -> np.ndarray[Any, Any]:
    """What was recorded whole."""
    assert v.whole
    return np.array(v.cells, float).reshape(v.shape)


# ---- what flows -------------------------------------------------------------------------------------------


def test_each_step_has_the_gradient_that_calculus_says() -> None:
    x = gw.tensor([0.5, -1.0, 2.0], dtype=gw.float64, requires_grad=True)
    w = gw.tensor([2.0, 3.0, 4.0], dtype=gw.float64, requires_grad=True)
    p = play((x * w).sin().sum(), params={"x": x, "w": w})
    assert [p.graph.nodes[s.node].name for s in p.steps] == [
        "Output", "SumBackward0", "SinBackward0", "MulBackward0", "AccumulateGrad", "AccumulateGrad"]  # fmt: skip
    cosine = np.cos(x.detach().numpy() * w.detach().numpy())
    (mul,) = named(p, "MulBackward0")
    assert entries(mul.incoming[0][1]) == pytest.approx(cosine, rel=1e-5)
    to_x, to_w = (entries(f.values) for f in mul.flows)
    assert to_x == pytest.approx(cosine * w.detach().numpy(), rel=1e-5)
    assert to_w == pytest.approx(cosine * x.detach().numpy(), rel=1e-5)
    assert entries(named(p, "w")[0].after) == pytest.approx(to_w)


def test_intermediate_gradients_are_torchs(torch: Any) -> None:
    def program(L: Any) -> tuple[Any, list[Any]]:
        x = L.tensor([[0.3, -0.7], [1.1, 0.2]], dtype=L.float64, requires_grad=True)
        h = x.tanh()
        k = (h @ h.t()).exp()
        return (k * h).sum(), [h, k]

    loss, kept = program(torch)
    for t in kept:
        t.retain_grad()
    loss.backward()
    p = play(program(gw)[0])
    for name, t in zip(("TanhBackward0", "ExpBackward0"), kept, strict=True):
        assert entries(named(p, name)[0].incoming[0][1]) == pytest.approx(t.grad.numpy(), rel=1e-5)


@st.composite
def programs(draw: Any) -> Any:
    """Values made of one another."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    made = [gw.tensor(rng.normal(size=3), requires_grad=True) for _ in range(2)]
    unary = (gw.sin, gw.tanh, lambda t: t * 0.5, lambda t: t.unbind(0)[0] * t, lambda t: t.detach())
    binary = (gw.add, gw.mul, gw.sub, lambda a, b: gw.stack([a, b]).sum(0))
    for _ in range(draw(st.integers(1, 12))):
        a, b = (made[rng.integers(len(made))] for _ in "ab")
        made.append(unary[rng.integers(5)](a) if rng.random() < 0.4 else binary[rng.integers(4)](a, b))
    return (made[-1] * made[0]).sum(), made[:2]


@given(programs())
def test_what_reaches_a_node_is_the_sum_of_what_was_sent_there(program: Any) -> None:
    loss, leaves = program
    p = play(loss)
    arrived: dict[tuple[int, int], Any] = {}
    for step in p.steps:
        for output, v in step.incoming:
            assert entries(v) == pytest.approx(arrived.pop((step.node, output)), rel=1e-4, abs=1e-4)
        for flow in step.flows:
            if flow.values is not None:
                e = p.graph.edges[flow.edge]
                assert e.source == step.node
                key = e.target, e.output
                arrived[key] = arrived.get(key, 0) + entries(flow.values)
    assert not arrived, "all of it arrives"
    for g in gw.autograd.grad(loss, leaves, allow_unused=True):
        if g is not None:
            ends = [s for s in p.steps if p.graph.nodes[s.node].kind == "accumulate"]
            assert any(entries(s.incoming[0][1]) == pytest.approx(g.numpy(), rel=1e-4, abs=1e-4) for s in ends)


def test_what_a_node_does_not_send_is_none() -> None:
    First = function("First", lambda ctx, x, y: x * 1, lambda ctx, g: (g, None))

    x, y = (gw.ones(2, requires_grad=True) for _ in "xy")
    p = play(First.apply(x, y).sum(), params={"x": x, "y": y})
    assert [f.values is None for f in named(p, "FirstBackward")[0].flows] == [False, True]
    assert [p.graph.nodes[s.node].label for s in p.steps if s.after] == ["x"]


def test_the_starts_are_ones_or_what_is_given() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    a, b = x * 2, x * 3
    p = play([a, b], [None, gw.tensor([10.0, 0.0])], params={"x": x})
    assert entries(named(p, "x")[0].after).tolist() == [32.0, 2.0]
    assert [entries(s.flows[0].values).tolist() for s in named(p, "Output")] == [[1.0, 1.0], [10.0, 0.0]]


def test_a_second_derivative_can_be_played() -> None:
    x = gw.tensor(0.5, dtype=gw.float64, requires_grad=True)
    (g,) = gw.autograd.grad(x.sinh(), x, create_graph=True)
    p = play(g, params={"x": x})
    assert named(p, "x")[0].after is not None
    assert entries(named(p, "x")[0].after) == pytest.approx(math.sinh(0.5), rel=1e-5)


def test_complex_gradients_are_told_by_their_size() -> None:
    z = gw.tensor([3 + 4j], requires_grad=True)
    p = play((z * z.conj()).real.sum(), params={"z": z})
    assert entries(named(p, "z")[0].after) == pytest.approx([10.0])


def test_an_output_may_be_a_leaf_or_have_no_history() -> None:
    x = gw.ones(2, requires_grad=True)
    assert entries(play(x).steps[-1].after).tolist() == [1.0, 1.0]
    assert play([gw.ones(2)]).steps == ()
    assert len(play([gw.ones(2), x * 1]).steps) == 3


# ---- what it leaves alone ---------------------------------------------------------------------------------


def test_nothing_is_changed() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    y = x * x
    y.retain_grad()
    loss = y.sum()
    p = play(loss, params={"x": x})
    assert x.grad is None
    assert y.grad is None
    loss.backward(retain_graph=True)
    before = x.grad.clone(), y.grad.clone()
    again = play(loss, params={"x": x})
    assert x.grad.tolist() == before[0].tolist()
    assert y.grad.tolist() == before[1].tolist()
    assert named(p, "x")[0].before is None
    assert entries(named(again, "x")[0].before).tolist() == [2.0, 4.0]
    assert entries(named(again, "x")[0].after).tolist() == [4.0, 8.0]


def test_gradients_are_accumulated_if_that_is_asked_for() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    loss = (x * x).sum()
    for k in (1, 2):
        p = play(loss, params={"x": x}, accumulate=True)
        step = named(p, "x")[0]
        assert x.grad.tolist() == [2.0 * k, 4.0 * k]
        assert entries(step.incoming[0][1]).tolist() == [2.0, 4.0]
        assert entries(step.after).tolist() == x.grad.tolist()


def test_no_memory_is_held() -> None:
    import gc
    import weakref

    x = gw.ones(1000, requires_grad=True)
    y = x * 2
    p = play(y.sum())
    ref = weakref.ref(y.grad_fn)
    del y
    gc.collect()
    assert ref() is None
    assert p.steps


# ---- passes that fail -------------------------------------------------------------------------------------


def test_a_pass_that_fails_is_told_up_to_there() -> None:
    x = gw.tensor([1.0, 2.0], requires_grad=True)
    y = x * 1
    z = y.exp()
    loss = (z.sin() + 1).sum()
    z.add_(1)
    p = play(loss)
    assert p.stopped is not None
    assert "modified by an inplace operation" in p.stopped
    last = p.graph.nodes[p.steps[-1].node]
    assert (last.name, p.steps[-1].flows) == ("SinBackward0", ())


def test_what_the_users_own_code_raises_is_raised() -> None:
    class Odd(gw.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 1

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        play(Odd.apply(gw.ones(1, requires_grad=True)))


# ---- the record of an array -------------------------------------------------------------------------------

FINITE = arrays.arrays(np.float64, arrays.array_shapes(max_dims=3, max_side=40),
                       elements=st.floats(-1e100, 1e100, allow_subnormal=False))  # fmt: skip


@given(FINITE)
def test_a_record_tells_the_size_of_an_array(a: Any) -> None:
    v = values(a)
    assert v.norm == pytest.approx(np.linalg.norm(a.ravel()))
    assert v.rms == pytest.approx(np.sqrt(np.mean(a**2)))
    assert (v.minimum, v.maximum) == (a.min(), a.max())
    assert v.mean == pytest.approx(a.mean(), abs=1e-9 * abs(a).max())
    assert len(v.cells) == v.rows * v.columns <= max(CELLS, 4 * SIDE)
    if v.whole:
        assert entries(v) == pytest.approx(a, rel=1e-5)
    else:
        assert max(abs(float(c)) for c in v.cells) == pytest.approx(abs(a).max(), rel=1e-5), "the largest is shown"


def test_tiles_stand_where_their_entries_do() -> None:
    a = np.zeros((100, 100))
    a[-1, 0] = -7.0
    v = values(a)
    assert (v.rows, v.columns) == (SIDE, SIDE)
    assert v.cells[(SIDE - 1) * SIDE] == -7.0
    assert sum(c != 0 for c in v.cells) == 1


def test_numbers_that_are_none_are_words() -> None:
    v = values(np.array([1.0, np.nan, np.inf]))
    assert v.cells == (1.0, "nan", "inf")
    assert math.isnan(v.norm)


def test_large_and_small_numbers_keep_their_norm() -> None:
    assert values(np.array([3e200, 4e200])).norm == pytest.approx(5e200)
    assert values(np.array([3e-200, 4e-200])).norm == pytest.approx(5e-200)
    assert values(np.zeros(3)).norm == 0.0
    assert values(np.zeros((0, 3))).cells == ()


def test_the_public_name() -> None:
    assert viz.play is play


@pytest.mark.parametrize(("given", "kind", "message"), [
    (gw.ones(3), RuntimeError, "Mismatch in shape"), ([3], TypeError, "gradients can be either Tensors or None"),
    ([None, None], ValueError, "got 2 grad_outputs for 1 tensors"),
])  # fmt: skip
def test_cotangents_that_do_not_fit(given, kind, message):
    x = gw.ones(2, requires_grad=True)
    with pytest.raises(kind, match=message):
        viz.play(x * 2, given)
