"""State of a compiled step on a device of JAX: it is donated, and who else holds it keeps what it held."""

import numpy as np
import pytest

import gradwright as gw

pytest.importorskip("jax", reason="arrays that are not written are JAX's: pip install jax")

D = "jax:0"


def ones(*size):
    return gw.ones(*size, device=D, dtype=gw.float64)


def adding(w, calls=5):
    """A step that adds to ``w``, which has been called so often."""

    @gw.compile(fullgraph=True)
    def step(x):
        w.add_(x)
        return w.sum()

    for _ in range(calls):
        step(ones(*w.shape))
    return step


def pointer(t):
    return t.array.unsafe_buffer_pointer()


def test_state_stays_where_it_is():
    w = ones(1000)
    step, x = adding(w), ones(1000)
    before = pointer(w)
    for _ in range(3):
        step(x)
        assert pointer(w) == before
    assert w.eq(9).all()


def test_parameters_and_state_of_an_optimiser_stay_where_they_are():
    net = gw.nn.Sequential(gw.nn.Linear(50, 40), gw.nn.Tanh(), gw.nn.Linear(40, 1)).to(D)
    optimizer = gw.optim.Adam(net.parameters())

    @gw.compile(fullgraph=True)
    def step(x):
        optimizer.zero_grad()
        net(x).square().mean().backward()
        optimizer.step()

    x = gw.ones(3, 50, device=D)
    for _ in range(6):
        step(x)
    held = [net[0].weight, net[2].weight, optimizer.state[net[0].weight]["exp_avg"]]
    before = [pointer(t) for t in held]
    step(x)
    assert [pointer(t) for t in held] == before


@pytest.mark.parametrize("hold", [
    lambda w: w.array,
    np.from_dlpack,
    lambda w: w.detach().cpu().numpy(),
    lambda w: w.clone().array,
    lambda w: w.clone(),
    lambda w: np.asarray(w.array),
], ids=["array", "dlpack", "numpy", "clone's array", "clone", "NumPy's view of it"])  # fmt: skip
def test_what_somebody_holds_keeps_its_values(hold):
    w = ones(1000)
    step, x = adding(w), ones(1000)
    held = hold(w)
    for _ in range(3):
        step(x)
    np.testing.assert_array_equal(np.asarray(held), np.full(1000, 6.0))
    assert w.eq(9).all()


def test_views_and_aliases_show_what_is_written():
    w = ones(6)
    step = adding(w)
    view, alias = w[2:4], w.detach()
    step(ones(6))
    assert (view.tolist(), alias[0].item(), w._version) == ([7.0, 7.0], 7.0, 6)


def test_a_captured_view_is_written():
    w = ones(4)
    view = w[1:3]

    @gw.compile(fullgraph=True)
    def step():
        view.mul_(2)
        return w.sum()

    assert [step().item() for _ in range(6)] == [2 + 2 * 2**k for k in range(1, 7)]
    assert w.tolist() == [1, 64, 64, 1]


def test_batches_that_are_views_share_one_program():
    data, w = gw.arange(12.0, device=D), gw.zeros((), device=D)

    @gw.compile(fullgraph=True)
    def step(x):
        w.add_(x.sum())

    for k in range(6):
        step(data[2 * k : 2 * k + 2])
    assert (w.item(), step.programs.traced) == (66.0, [""])


def test_a_view_of_what_is_written_is_another_program():
    w = gw.ones(4, device=D)

    @gw.compile
    def step(x):
        w.add_(1)
        return (x * 1).sum()

    for _ in range(5):
        step(gw.zeros(2, device=D))
    assert step(w[:2]).item() == 14.0  # which shows what has been added


def test_results_are_nobody_elses():
    w = ones(4)
    look, copy = gw.compile(lambda: w.clone()), gw.compile(lambda: (w.clone(), w * 1.0, w.clone()))
    step, x = adding(w), ones(4)
    for _ in range(5):
        seen = [look(), *copy()]
    for _ in range(3):
        step(x)
    assert [t[0].item() for t in seen] == [6.0] * 4


def test_what_was_and_what_is():
    w = ones(4)

    @gw.compile(fullgraph=True)
    def step(x):
        old = w.clone()
        w.add_(x)
        return old, w.clone()

    for _ in range(5):
        old, new = step(ones(4))
    step(ones(4))
    assert (old[0].item(), new[0].item(), w[0].item()) == (5.0, 6.0, 7.0)


def test_a_saved_tensor_that_is_written_is_an_error():
    w = gw.ones(3, device=D, requires_grad=True)

    @gw.compile(fullgraph=True)
    def double():
        with gw.no_grad():
            w.mul_(2)

    for _ in range(5):
        double()
    y = (w * w).sum()
    double()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward()


def test_state_may_be_exchanged_between_calls():
    w = ones(3)
    step = adding(w)
    w.data = gw.zeros(3, device=D, dtype=gw.float64)
    step(ones(3))
    assert w.tolist() == [1.0, 1.0, 1.0]


def test_an_interrupted_call_leaves_the_state():
    w = ones(3)
    step = adding(w)
    (entry,) = [entry for entries in step.programs.entries.values() for entry in entries]
    commit = entry.commit

    def interrupted(*args):
        raise KeyboardInterrupt

    entry.commit = interrupted
    with pytest.raises(KeyboardInterrupt):
        step(ones(3))
    entry.commit = commit
    assert w.tolist() == [7.0, 7.0, 7.0]
    step(ones(3))
    assert w.tolist() == [8.0, 8.0, 8.0]


def test_a_transposed_result_lies_as_it_does_eagerly():
    def f(x):
        return (x * 1).t_()

    made = gw.compile(f, fullgraph=True)
    for _ in range(4):
        y = made(gw.arange(6.0, device=D).reshape(2, 3))
    expected = f(gw.arange(6.0, device=D).reshape(2, 3))
    assert (y.stride(), y.tolist()) == (expected.stride(), expected.tolist())
    y[0, 1] = 7
    assert y[0].tolist() == [0.0, 7.0]
