"""A compiled run that is not what the eager run is, is not believed."""

import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation import comparison
from gradwright.compilation.comparison import next_look as NEXT_LOOK
from gradwright.compilation.comparison import spreads
from gradwright.compilation.compiled import CompileWarning, Programs
from gradwright.compilation.node import Interpreted, Node, Program
from gradwright.compilation.trace.traced import space, traced


class Wrong(Interpreted):
    """Exponentials are a little too large."""

    def _run(self, arrays):
        nodes = {}

        def new(n):
            return nodes.get(n, n)

        made = []
        for n in self.program.nodes:
            args, kwargs = n.with_args(new)
            copy = Node(n.op, args, kwargs, None, n.place, n.name)
            copy.shape, copy.dtype = n.shape, n.dtype
            nodes[n] = copy
            made.append(copy)
            if n.op == "exp":
                nodes[n] = Node("multiply", (copy, 1.01), {}, None)
                nodes[n].shape, nodes[n].dtype = n.shape, n.dtype
                made.append(nodes[n])
        p = self.program
        return Interpreted(Program(made, [nodes[n] for n in p.inputs], [nodes[n] for n in p.outputs], p.writes))(arrays)


def programs(f, make=Wrong, **options):
    return Programs(f, make, **options)


@pytest.mark.parametrize("f", [lambda x: x.exp(), lambda x: {"y": [x + 1, x.exp().sum()]}])
def test_a_wrong_result_is_reported_with_its_node(f):
    step = programs(f)
    x = gw.tensor([1.0, 2.0])
    with pytest.warns(CompileWarning, match=r"first node that differs: %\d+ = exp.*test_comparison.py"):
        results = [step.call((x,), {}) for _ in range(4)]
    for r in results[1:]:
        np.testing.assert_equal(gw.utils._pytree.tree_leaves(r)[-1].tolist(),
                                gw.utils._pytree.tree_leaves(results[0])[-1].tolist())  # fmt: skip


def test_a_wrong_write_and_a_wrong_gradient():
    w = gw.tensor([1.0, 2.0], requires_grad=True)
    state = gw.zeros(2)

    def write(x):
        state.copy_(x.exp())

    step = programs(write)
    with pytest.warns(CompileWarning, match="from outside"):
        [step.call((gw.ones(2),), {}) for _ in range(3)]
    step = programs(lambda x: setattr(w, "grad", None) or (w * x.exp()).sum().backward())
    with pytest.warns(CompileWarning, match=r"\.grad"):
        [step.call((gw.ones(2),), {}) for _ in range(3)]


def test_a_wrong_backward_pass():
    w = gw.tensor([1.0, 2.0], requires_grad=True)

    class Half(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            return g.exp()

    step = programs(lambda: Half.apply(w))
    with pytest.warns(CompileWarning, match="the gradient by"):
        [step.call((), {}) for _ in range(3)]


def test_always_raises():
    step = programs(lambda x: x.exp(), check="always")
    step.call((gw.ones(2),), {})
    step.call((gw.ones(2),), {})
    with pytest.raises(AssertionError, match="exp"):
        step.call((gw.ones(2),), {})


def test_steps_of_rounding_noise_are_believed():
    """The bias before a batch norm has no gradient but rounding, of which Adam makes whole steps."""
    gw.manual_seed(0)
    net = gw.nn.Sequential(gw.nn.Linear(4, 8), gw.nn.BatchNorm1d(8), gw.nn.Tanh(), gw.nn.Linear(8, 3))
    optimizer = gw.optim.Adam(net.parameters())

    def step(x):
        optimizer.zero_grad()
        net(x).square().sum().backward()
        optimizer.step()

    step = programs(step, Interpreted)
    for _ in range(5):
        step.call((gw.randn(6, 4),), {})
    assert not step.reason


class InARow(Interpreted):
    """Sums are taken one by one, which NumPy does in pairs."""

    def compute(self, node, args, kwargs):
        return np.cumsum(args[0])[-1] if node.op == "sum" else super().compute(node, args, kwargs)


def test_a_sum_that_is_nothing_but_rounding_is_believed():
    """Values that cancel in pairs: NumPy's sum is 0, that of another order is not, however the values are moved."""
    half = np.random.default_rng(0).uniform(1, 3, 128).astype(np.float32)
    x = gw.tensor(np.concatenate([half, -half]))
    total = gw.tensor(0.0)

    def step():
        total.sub_(5e-6 * x.sum())

    step = programs(step, InARow)
    for _ in range(4):
        step.call((), {})
    assert total.item() == np.float32(-5e-6) * np.cumsum(x.numpy())[-1] != 0
    assert not step.reason
    program = traced(lambda x: space.sum(x), x.numpy())
    (spread,) = spreads(program, [x.numpy()], lambda: None)
    assert spread > np.finfo(np.float32).eps * 256


def test_what_is_masked_with_infinity_does_not_hide_what_rounding_does():
    def f(x):
        masked = space.where(x > 0, x, -np.inf)
        return [masked, space.sum(space.exp(masked))]

    x = np.random.default_rng(0).standard_normal(64)
    masked, total = spreads(traced(f, x), [x], lambda: None)
    assert 0 < masked < 1e-14
    assert 0 < total < 1e-12


# -- a second look later --


@pytest.fixture
def looks(monkeypatch):
    monkeypatch.setattr(comparison, "next_look", NEXT_LOOK)


@pytest.fixture
def deaf(monkeypatch, looks):
    """No guard sees anything."""
    made = Programs._entry
    monkeypatch.setattr(Programs, "_entry", lambda self, *given: made(self, *given[:-1], []))


class Held:
    rate, steps, mask = 0.5, [1, 2], np.array([1.0, 2.0])


class Doubled(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return gw.tensor([2 * v for v in x.tolist()])

    @staticmethod
    def backward(ctx, g):
        return gw.tensor([2 * v for v in g.tolist()])


def written(x):
    total.add_(x.sum() * Held.rate)


total = gw.zeros(())
CHANGES = [
    (lambda x: x * Held.rate, "rate", 0.25, "multiply.*0.5.*0.25"),
    (lambda x: x.sum() + sum(Held.steps), "steps", [1, 7], "add.*3.*8"),
    (lambda x: x * gw.tensor(Held.mask), "mask", np.array([1.0, 3.0]), r"multiply.*\[1.0, 3.0\]"),
    (lambda x: x.exp() if Held.rate < 1 else x.sin(), "rate", 2.0, "exp.*sin"),
    (lambda x: Doubled.apply(x) * Held.rate, "rate", 0.25, "multiply.*0.5.*0.25"),
    (lambda x: gw.nn.functional.dropout(x, Held.rate), "rate", 0.25, "0.5.*0.75"),
    (written, "rate", 0.25, "multiply.*0.5.*0.25"),
]
"""Steps, what they read, what that becomes, and what the warning names: the node, and what it was and is."""


@pytest.mark.parametrize(("f", "name", "value", "said"), CHANGES)
@pytest.mark.parametrize("at", [3, 9, 40])
def test_what_no_guard_has_seen_is_seen_by_a_later_look(monkeypatch, deaf, f, name, value, said, at):
    step = gw.compile(f, backend="plan")
    x = gw.ones(20) if f is CHANGES[5][0] else gw.tensor([1.0, 2.0])
    for _ in range(at):
        step(x)
    assert not step.programs.reason
    monkeypatch.setattr(Held, name, value)
    with pytest.warns(CompileWarning, match=rf"differs from the eager.*{said}.*test_comparison\.py.*reads something"):
        [step(x) for _ in range(3 * at + 3)]
    assert step.programs.reason


def test_a_look_is_taken_at_calls_4_16_64(monkeypatch, looks):
    seen, calls, compared = [], [0], Programs._compared
    monkeypatch.setattr(comparison, "clock", lambda: 0.0)
    monkeypatch.setattr(Programs, "_compared", lambda self, *args: (seen.append(calls[0]), compared(self, *args))[1])
    step = gw.compile(lambda x: x.exp() * gw.rand(2), backend="plan")
    gw.manual_seed(0)
    found = []
    for calls[0] in range(-1, 300):
        found.append(step(gw.ones(2)).tolist())
    gw.manual_seed(0)
    assert seen == [1, 4, 16, 64, 256]
    np.testing.assert_allclose(found, [(gw.ones(2).exp() * gw.rand(2)).tolist() for _ in found], rtol=1e-6)


def test_a_look_that_takes_too_much_of_the_time_is_put_off(monkeypatch, looks):
    """One takes as long as two calls: after the 64th call it waits until all have taken a hundredth."""
    seen, calls, compared = [], [0], comparison.of_run
    time = [0.0]

    def looked(*args):
        seen.append(calls[0])
        time[0] += 1.0
        return compared(*args)

    monkeypatch.setattr(comparison, "clock", lambda: time[0])
    monkeypatch.setattr(comparison, "of_run", looked)
    step = gw.compile(lambda x: x.exp(), backend="plan", fullgraph=True)
    for calls[0] in range(-1, 4200):
        step(gw.ones(2))
        time[0] += 0.5
    assert seen == [1, 4, 16, 64, 1024, 4096]


def test_what_keeps_a_count_is_not_run_twice(looks):
    class Counted(Doubled):
        calls = 0

        @staticmethod
        def forward(ctx, x):
            Counted.calls += 1
            return gw.tensor(x.numpy() * 2)

    step = gw.compile(lambda x: Counted.apply(x), backend="plan")
    for k in range(1, 40):
        assert step(gw.ones(2)).tolist() == [2, 2]
        assert Counted.calls == k
    assert not step.programs.reason


def test_a_count_that_goes_by_rounding_is_no_difference(looks):
    """An index of the largest of two that are equal but for rounding."""
    step = gw.compile(lambda x: ((x / 3) * 3 - x).argmax(), backend="c")
    with warnings.catch_warnings():
        warnings.simplefilter("error", CompileWarning)
        for k in range(70):
            step(gw.linspace(0.1, 1 + k, 50))


LONG = {
    "sum": lambda x: x.sum().double(), "mean": lambda x: x.mean().double(), "norm": lambda x: x.norm().double(),
    "product": lambda x: (x @ x).double(), "rows": lambda x: (x.view(3, -1) @ x.view(-1, 3)).double(),
    "two sums": lambda x: x.sum().double() - x.double().sum(), "variance": lambda x: x.var().double(),
}  # fmt: skip
"""Long sums of float32 that are then numbers of many digits, of which the last say nothing."""


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("backend", ["plan", "c"])
def test_long_sums_that_are_cast_are_no_false_alarm(compiler, name, backend):
    gw.manual_seed(0)
    x = gw.rand(3_000_000)
    step = gw.compile(LONG[name], backend=backend)
    found = [step(x).flatten()[0].item() for _ in range(3)]
    assert not step.programs.reason
    exact = LONG[name](x.double()).item() if name not in ("rows", "two sums") else None
    assert exact is None or abs(found[-1] - exact) <= 1e-5 * exact
