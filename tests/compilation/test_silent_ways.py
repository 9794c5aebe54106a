"""The ways in which compiled programs go wrong silently elsewhere: here the result is right, or it is said why not.

Each program is called again and again, eagerly and compiled, with what it reads changed in between.
"""

import itertools
import random
import time
import warnings

import numpy as np
import pytest

import gradwright as gw
from tests.thorough import some

F64 = gw.float64
SCALE = 2.0


def results(make, wrap, calls=8):
    """What a program gives over some calls. ``make`` returns the step and what is done between calls."""
    gw.manual_seed(0)
    random.seed(0)
    step, between = make()
    step = wrap(step)
    found = []
    for k in range(calls):
        out = step(gw.full((3,), 1.0 + k, dtype=F64))
        found.append(np.array(out.detach().numpy() if isinstance(out, gw.Tensor) else out))
        between(k)
    return found


def nothing(k):
    """Nothing is changed between calls."""


def train_and_eval():
    net = gw.nn.Sequential(gw.nn.Linear(3, 3), gw.nn.Dropout(0.5), gw.nn.BatchNorm1d(3)).double()
    return lambda x: net(gw.stack([x, 2 * x])).sum(0), lambda k: net.train(k % 2 == 0)


def new_data():
    w = gw.tensor([1.0, 2.0, 3.0], dtype=F64, requires_grad=True)

    def between(k):
        w.data = gw.full((3,), float(k), dtype=F64)

    return lambda x: (w * x).sum(), between


def data_set_inside():
    w = gw.zeros(3, dtype=F64)

    def step(x):
        w.data = x * 2
        return w + 1

    return step, nothing


def python_counter():
    state = {"n": 0}

    def step(x):
        state["n"] += 1
        return x * state["n"]

    return step, nothing


def number_changed_outside():
    scale = [2.0]

    def between(k):
        scale[0] += 1.0

    return lambda x: x * scale[0], between


def global_number():
    def between(k):
        globals()["SCALE"] = 2.0 + (k // 3)

    between(0)
    return lambda x: x * SCALE, between


def rebound_name():
    hidden = gw.zeros(3, dtype=F64)

    def step(x):
        nonlocal hidden
        hidden = hidden + x
        return hidden * 1

    return step, nothing


def grads_add_up():
    w = gw.tensor([1.0, 2.0, 3.0], dtype=F64, requires_grad=True)

    def step(x):
        (w * x).sum().backward()
        return w.grad.clone()

    def between(k):
        if k == 4:
            w.grad = None

    return step, between


def writes_through_views():
    base = gw.zeros(6, dtype=F64)
    part = base[2:5]

    def step(x):
        part.add_(x)
        return base.sum() + part.sum()

    return step, nothing


def view_made_inside():
    base = gw.zeros(6, dtype=F64)

    def step(x):
        base[2:5].add_(x)
        base.view(2, 3)[0] = x
        return base * 1

    return step, nothing


def numpy_of_a_leaf():
    w = gw.tensor([1.0, 2.0, 3.0], dtype=F64)
    array = w.numpy()

    def between(k):
        array[...] += 1

    return lambda x: x * gw.from_numpy(w.numpy().copy()), between


def array_outside():
    array = np.ones(3)

    def between(k):
        array[k % 3] += 1

    return lambda x: x * gw.from_numpy(array), between


def array_copied():
    array = np.ones(3)

    def between(k):
        array[k % 3] += 1

    return lambda x: x * gw.tensor(array), between


def scalar_seed():
    w = gw.tensor([1.0, 2.0, 3.0], dtype=F64, requires_grad=True)
    seed = np.array(2.0)

    def step(x):
        w.grad = None
        (w * x).sum().backward(gw.tensor(seed, dtype=F64))
        return w.grad.clone()

    def between(k):
        seed[...] = 3.0 + k

    return step, between


def label_ranges():
    labels = gw.tensor([0, 1, 2])

    def between(k):
        labels[0] = k % 3

    return lambda x: gw.nn.functional.cross_entropy(gw.outer(x, x), labels), between


def step_count_as_a_number():
    class Optimizer:
        def __init__(self):
            self.t = 0
            self.w = gw.ones(3, dtype=F64)

        def step(self, x):
            self.t += 1
            self.w = self.w - x / self.t
            return self.w

    one = Optimizer()
    return lambda x: one.step(x), nothing


def learning_rate():
    w = gw.tensor([1.0, 2.0, 3.0], dtype=F64, requires_grad=True)
    optimizer = gw.optim.SGD([w], lr=0.1, momentum=0.9)

    def step(x):
        optimizer.zero_grad()
        (w * x).square().sum().backward()
        optimizer.step()
        return w.detach() * 1

    def between(k):
        optimizer.param_groups[0]["lr"] *= 0.5
        if k == 5:
            optimizer.param_groups[0]["momentum"] = 0.1

    return step, between


def loaded_state():
    w = gw.tensor([1.0, 2.0, 3.0], dtype=F64, requires_grad=True)
    optimizer = gw.optim.Adam([w], lr=0.1)
    saved = []

    def step(x):
        optimizer.zero_grad()
        (w * x).square().sum().backward()
        optimizer.step()
        return w.detach() * 1

    def between(k):
        if k == 3:
            saved.append({key: dict(value) if key == "state" else value
                          for key, value in optimizer.state_dict().items()})  # fmt: skip
            saved[0]["state"] = {p: {n: v.clone() for n, v in s.items()} for p, s in saved[0]["state"].items()}
        if k == 5:
            optimizer.load_state_dict(saved[0])

    return step, between


def random_numbers():
    return lambda x: gw.nn.functional.dropout(x, 0.5) + gw.randn(3, dtype=F64), nothing


def pythons_random():
    return lambda x: x * random.random(), nothing


def numpys_random():
    rng = np.random.default_rng(0)
    return lambda x: x * rng.random(), nothing


def a_generator():
    numbers = itertools.count(1)
    return lambda x: x * next(numbers), nothing


def item_and_branch():
    def step(x):
        total = x.sum().item()
        return x * 2 if total > 12 else x * total

    return step, nothing


def branch_on_a_value():
    return lambda x: x * 2 if x.sum() > 12 else x * 3, nothing


def shape_from_values():
    return lambda x: gw.arange(int(x[0])).sum() + x[x > 4].sum(), nothing


def length_of_what_a_mask_names():
    return lambda x: gw.zeros(3, dtype=F64) + x[x > 1.5 + x.mean() - 1].shape[0] + len((x > 4).nonzero()), nothing


def mean_of_what_a_mask_names():
    w = gw.tensor([1.0, -2.0, 3.0], dtype=F64, requires_grad=True)

    def step(x):
        y = w * x - 5
        return gw.autograd.grad(y[y > 0].mean() + y.masked_select(y < -8).sum(), w)[0]

    return step, nothing


def length_of_what_numpy_returns():
    class Keep(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            a = x.detach().numpy()
            return gw.from_numpy(a[a * [1, 2, 3] > 7])

        @staticmethod
        def backward(ctx, g):
            return gw.zeros(3, dtype=F64)

    return lambda x: Keep.apply(x).reshape(-1, 1).sum(0) / (1 + Keep.apply(x).shape[0]), nothing


def written_before_a_length():
    seen = gw.zeros(1, dtype=F64)

    def step(x):
        seen.add_(1)
        return seen * (x > 4).nonzero().shape[0]

    return step, nothing


def same_tensor_twice():
    w = gw.tensor([1.0, 2.0, 3.0], dtype=F64, requires_grad=True)

    def inner(a, b):
        return (a * b).sum()

    def step(x):
        return gw.autograd.grad(inner(w, w) * x.sum(), w)[0]

    return step, nothing


def dirty_function():
    class Double(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx, g):
            return 2 * g

    w = gw.tensor([1.0, 2.0, 3.0], dtype=F64, requires_grad=True)

    def step(x):
        w.grad = None
        y = w * x
        Double.apply(y)
        (y * y).sum().backward()
        return w.grad.clone()

    return step, nothing


def hook_added_later():
    w = gw.tensor([1.0, 2.0, 3.0], dtype=F64, requires_grad=True)
    handles = []

    def step(x):
        w.grad = None
        (w * x).sum().backward()
        return w.grad.clone()

    def between(k):
        if k == 4:
            handles.append(w.register_hook(lambda g: g * 10))
        if k == 6:
            handles.pop().remove()

    return step, between


def module_hook_added_later():
    net = gw.nn.Linear(3, 3).double()

    def between(k):
        if k == 4:
            net.register_forward_hook(lambda module, args, out: out * 10)

    return lambda x: net(x).sum(), between


def layer_exchanged():
    net = gw.nn.Sequential(gw.nn.Linear(3, 3), gw.nn.Tanh()).double()

    def between(k):
        if k == 4:
            net[1] = gw.nn.Sigmoid()
        if k == 5:
            net[0].weight = gw.nn.Parameter(gw.ones(3, 3, dtype=F64))
        if k == 6:
            net.append(gw.nn.ReLU())

    return lambda x: net(x).sum(), between


def frozen_later():
    w = gw.tensor([1.0, 2.0, 3.0], dtype=F64, requires_grad=True)
    v = gw.tensor([1.0, 2.0, 3.0], dtype=F64, requires_grad=True)

    def step(x):
        (w * v * x).sum().backward()
        out = gw.stack([gw.zeros(3, dtype=F64) if t.grad is None else t.grad.clone() for t in (w, v)])
        w.grad = v.grad = None
        return out

    return step, lambda k: w.requires_grad_(k != 4)


def own_jvp():
    class Odd(gw.autograd.Function):
        @staticmethod
        def forward(x):
            return x * 1

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, g):
            return 3 * g

        @staticmethod
        def jvp(ctx, t):
            return 5 * t

    return lambda x: gw.func.jvp(Odd.apply, (x,), (x,))[1], nothing


def vmap_inside():
    w = gw.tensor([1.0, 2.0, 3.0], dtype=F64)
    return lambda x: gw.vmap(lambda a: (a * w).sum())(gw.stack([x, x + 1])), lambda k: w.add_(1)


def a_clock():
    begun = time.time()
    return lambda x: x * (1.0 if time.time() > begun - 1 else 2.0), nothing


def default_argument():
    options = {"scale": 2.0}

    def step(x, options=options):
        return x * options["scale"]

    def between(k):
        options["scale"] += 1

    return step, between


def a_log():
    log = []

    def step(x):
        log.append(float(x.sum()))
        return gw.tensor([float(len(log))])

    return step, nothing


OURS = [value for value in dict(globals()).values() if getattr(value, "__module__", "") == __name__]
PROGRAMS = [f for f in OURS if not f.__code__.co_argcount]


@pytest.mark.parametrize(("make", "backend"), [
    pytest.param(f, backend, id=f"{f.__name__}-{backend}")
    for k, f in enumerate(PROGRAMS) for backend in some(["plan", "c"], 2, k)
])  # fmt: skip
def test_compiled_results_are_the_eager_ones(make, backend):
    expected = results(make, lambda step: step)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = results(make, lambda step: gw.compile(step, backend=backend))
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-13)


COMPILED = [train_and_eval, new_data, number_changed_outside, grads_add_up, view_made_inside, label_ranges,
            learning_rate, random_numbers, branch_on_a_value, same_tensor_twice, hook_added_later, vmap_inside,
            own_jvp]  # fmt: skip


@pytest.mark.parametrize("make", COMPILED, ids=[f.__name__ for f in COMPILED])
def test_these_are_compiled(make):
    steps = []
    results(make, lambda step: steps.append(gw.compile(step, backend="plan")) or steps[0], calls=5)
    assert not steps[0].programs.reason
    assert steps[0].programs.entries


TOLD = [(python_counter, "state"), (rebound_name, "hidden"), (pythons_random, "random"), (a_clock, "time"),
        (a_generator, "next"), (a_log, "append"), (step_count_as_a_number, "t")]  # fmt: skip


@pytest.mark.parametrize(("make", "word"), TOLD, ids=[f.__name__ for f, _ in TOLD])
def test_these_stay_eager_and_say_why(make, word):
    with pytest.warns(UserWarning, match=rf"runs eagerly from now on.*test_silent_ways(.|\n)*{word}"):
        results(make, gw.compile)
