"""Which calls a program stands for, and what it does there."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.entry import Entry
from gradwright.compilation.node import Interpreted
from gradwright.compilation.trace.record import record
from gradwright.compilation.trace.trace import Before, Trace
from tests.compilation.checks import entries

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
    (entry,) = entries(step)
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


def entry_of(function, *args):
    trace = Trace(Before(), set())
    with trace:
        for t in args:
            if isinstance(t, gw.Tensor):
                trace.adopt(t)
        result = function(*args)
    found = record(trace, result, args)
    trace.restore()
    return Entry(found, Interpreted(found.program), args)


def test_a_program_is_run_again():
    w = gw.zeros(2)
    entry = entry_of(lambda x: w.add_(x), gw.tensor([1.0, 2.0]))
    args = (gw.tensor([5.0, 6.0]),)
    out = entry.commit(entry.runner(entry.gather(args)), args, entry.gather(args))
    assert out is w
    assert w.tolist() == [5.0, 6.0]
    assert w._version == 1


w = gw.tensor([1.0, 2.0], requires_grad=True)


@pytest.mark.parametrize(("x", "what"), [
    (gw.zeros(3), "shape"),
    (gw.zeros(2, dtype=gw.float64), "dtype"),
    (gw.zeros(4)[::2], "strides"),
    (gw.zeros(2, requires_grad=True), "history 'leaf'"),
    (gw.zeros(2, requires_grad=True) * 1, "history 'made'"),
    (None, "None now"),
])  # fmt: skip
def test_an_argument_of_another_kind_is_noticed(x, what):
    entry = entry_of(lambda x: x * 2, gw.tensor([1.0, 2.0]))
    assert entry.gather((x,)) is None
    assert what in entry.moved((x,))


@pytest.mark.parametrize("value", [2.0, 1, True, "1.0", None])
def test_an_argument_that_is_no_tensor_is_a_part_of_the_program(value):
    x = gw.tensor([1.0])
    entry = entry_of(lambda x, k: x * k, x, 1.0)
    assert entry.gather((x, 1.0)) is not None
    assert entry.gather((x, value)) is None


def test_a_hook_that_comes_later_is_noticed():
    entry = entry_of(lambda x: (w * x).sum().backward(), gw.tensor([1.0, 1.0]))
    assert entry.gather((gw.tensor([1.0, 1.0]),)) is not None
    handle = w.register_hook(lambda g: g * 2)
    assert entry.gather((gw.tensor([1.0, 1.0]),)) is None
    handle.remove()


def test_written_memory_that_becomes_that_of_another_is_noticed():
    b = gw.zeros(4)
    entry = entry_of(lambda x: b.add_(x), gw.ones(4))
    assert entry.gather((gw.ones(4),)) is not None
    assert entry.gather((b.detach(),)) is None


class Scale:
    """Equal to every other one."""

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return True

    def __hash__(self):
        return 0


def asked_whether_it_is_another_one():
    w = gw.tensor([1.0, 2.0])
    return (lambda x: x * 2 if x is w else x), lambda k: (w if k > 4 else gw.ones(2),)


def found_by_a_tensor_as_a_key():
    w, y = gw.tensor([1.0, 2.0]), gw.tensor([3.0, 4.0])
    factors = {w: 2.0, y: 3.0}
    return (lambda x: x * factors[x]), lambda k: (y if k > 4 else w,)


def a_gradient_that_is_read_too():
    w, y = gw.tensor([1.0, 2.0], requires_grad=True), gw.tensor([3.0, 4.0])
    w.grad = gw.tensor([5.0, 6.0])
    return (lambda g: w.grad * 10 + g), lambda k: (y if k > 4 else w.grad,)


def an_array_that_is_written():
    a = np.array([1.0, 2.0])

    def args(k):
        a[0] = 1.0 if k < 5 else 7.0
        return gw.ones(2), a

    return (lambda x, a: x * gw.tensor(a)), args


def equal_objects():
    return (lambda x, s: x * s.value), lambda k: (gw.ones(2), Scale(3.0 if k > 4 else 2.0))


def a_zero_of_another_sign():
    return (lambda x, c: x / c), lambda k: (gw.ones(2), np.float32(-0.0 if k > 4 else 0.0))


ARGUMENTS = [asked_whether_it_is_another_one, found_by_a_tensor_as_a_key, a_gradient_that_is_read_too,
             an_array_that_is_written, equal_objects, a_zero_of_another_sign]  # fmt: skip


@pytest.mark.parametrize("make", ARGUMENTS, ids=[f.__name__ for f in ARGUMENTS])
def test_another_argument_is_never_taken_for_the_traced_one(make):
    step, args = make()
    compiled = gw.compile(step, backend="plan")
    for k in range(7):
        given = args(k)
        assert compiled(*given).tolist() == step(*given).tolist()


def test_a_version_that_is_read_is_looked_at():
    w = gw.zeros(1)
    step = gw.compile(lambda x: x * w._version)
    for k in range(7):
        if k > 4:
            w.add_(1)
        assert step(gw.ones(1)).tolist() == [float(w._version)]


# -- what Python asks of a tensor beside its values --


QUESTIONS = {
    "_base": lambda x: x * (1 if x._base is None else 2),
    "_is_view": lambda x: x * (1 if x._is_view() else 2),
    "of its base": lambda x: x if x._base is None else x + x._base.sum(),
    "_version": lambda x: x * (1 + x._version),
    "is_contiguous": lambda x: x * (1 if x.is_contiguous() else 2),
    "stride": lambda x: x * x.stride(0),
    "stride of a copy": lambda x: x * x.clone().stride(0),
    "contiguous": lambda x: x * (1 if x.contiguous() is x else 2),
    "view": lambda x: x * (1 if x.reshape(16)._base is None else 2),
    "storage_offset": lambda x: x * (1 + x.storage_offset()),
    "data_ptr": lambda x: x * (1 if x.data_ptr() == ASKED[0].data_ptr() else 2),
    "storage": lambda x: x * x.untyped_storage().nbytes(),
    "requires_grad": lambda x: x * (1 if x.requires_grad else 2),
    "is_leaf": lambda x: x * (1 if x.is_leaf else 2),
    "grad": lambda x: x * (1 if x.grad is None else 2),
    "element_size": lambda x: x * x.element_size(),
}
_whole, _written = gw.ones(8, 8), gw.ones(4, 4)
_written.add_(0)
ASKED = [gw.ones(4, 4), gw.ones(4, 4).T, _whole[:4, :4], _whole[4:, 4:], gw.zeros(8, 4)[:4], _written,
         gw.ones(4, 4, requires_grad=True), gw.ones(4, 4, dtype=gw.float64)]  # fmt: skip


@pytest.mark.filterwarnings("ignore:compile")
@pytest.mark.parametrize(("question", "held"), [*((q, False) for q in QUESTIONS), ("_base", True), ("stride", True)])
def test_what_a_step_asks_of_a_tensor_is_guarded(question, held):
    f, box = QUESTIONS[question], [None]
    step = gw.compile((lambda x: f(box[0])) if held else f, backend="plan", check="never")
    step.programs.limit = 20
    for _ in range(2):
        for x in ASKED:
            box[0] = x
            for _ in range(2):
                assert step(x).tolist() == f(x).tolist()
