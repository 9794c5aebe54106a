"""Numbers that are only returned are given anew by a program; those that code goes by are looked at before it is run."""

import dataclasses
import json
import math
import shutil
import warnings
from itertools import product

import numpy as np
import pytest

import gradwright as gw
from tests.thorough import some

BACKENDS = ["plan", *(["c"] if shutil.which("cc") else [])]


def helper(x):
    return x.sum().item()


def in_variables(x):
    found = x.sum().item()
    other = found
    out = {"a": [other, found], "b": (x.tolist(),)}
    return out  # noqa: RET504 - it is about variables


def unpacked(x):
    count, total = (x > 0).sum().item(), helper(x)
    return total, count


def after_a_branch(x):
    if x.shape[0] > 1:
        total = x.sum().item()
    else:
        total = x.prod().item()
    return total


def twice(x):
    total = x.sum().item()
    return total, total


def first_of(x):
    found = x[0].item()
    for k in range(2):
        found = x[k].item()
    return found


RETURNED = {
    "item": lambda x: x.sum().item(),
    "of one element": lambda x: (x[:1].item(), x[:1, None].item()),
    "an int": lambda x: (x > 0).sum().item(),
    "a bool": lambda x: (x > 0).any().item(),
    "small": lambda x: (x.half().sum().item(), x.to(gw.uint8).sum().item(), x.to(gw.complex64).sum().item()),
    "tolist": lambda x: x.tolist(),
    "tolist, nested": lambda x: {"rows": x.reshape(2, 1, 2).tolist(), "one": x.sum().tolist(), "x": x * 2},
    "tolist, empty": lambda x: (x[:0].tolist(), x[:0, None].expand(0, 2).tolist()),
    "float": lambda x: float(x.sum()),
    "float of an int": lambda x: (float((x > 0).sum()), (x > 0).sum()),
    "dict": lambda x: {"loss": x.sum().item(), "x": x * 2, "n": (x > 0).sum().item()},
    "tuple": lambda x: (x * 2, x.sum().item()),
    "list": lambda x: [x.sum().item(), [x.prod().item()]],
    "a comprehension": lambda x: [v.item() for v in x],
    "a dictionary of each": lambda x: {k: v.item() for k, v in enumerate(x)},
    "by another function": helper,
    "in variables": in_variables,
    "unpacked": unpacked,
    "after a branch": after_a_branch,
    "twice": twice,
    "in a loop": first_of,
}


def given(n):
    rng = np.random.default_rng(0)
    return [gw.tensor(rng.uniform(-3, 3, 4), dtype=gw.float32) for _ in range(n)]


def plain(value):
    """A result as text: classes, numbers and structure."""
    if isinstance(value, gw.Tensor):
        return f"tensor{value.tolist()}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {plain(v)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(plain, value))})"
    return f"{type(value).__name__} {value:.5g}" if isinstance(value, float) else f"{type(value).__name__} {value!r}"


@pytest.mark.parametrize(("name", "check", "backend"), some(product(RETURNED, ["first", "always"], BACKENDS), 3))
def test_numbers_that_are_returned_are_given_anew_by_one_program(name, check, backend):
    f = RETURNED[name]
    step = gw.compile(f, backend=backend, check=check)
    for x in given(6):
        assert plain(step(x)) == plain(f(x))
    assert not step.programs.reason
    assert len(step.programs.traced) == 1


@dataclasses.dataclass
class Result:
    loss: float
    x: gw.Tensor


def goes_by(x):
    total = x.sum().item()
    return x * 2 if total > 0 else x * 3


def goes_by_one(x):
    out = [x.sum().item()]
    return x * 2 if out[0] > 0 else x * 3


def goes_by_a_float(x):
    total = float(x.sum())
    return (x * 2 if total > 0 else x * 3), total


def goes_by_its_place(x):
    rows = x.tolist()
    rows.append(1.0)
    return rows


def caught(x):
    total = x.sum().item()
    try:
        return math.sqrt(total)
    except Exception:  # noqa: BLE001 - what a user's code may do
        return -1.0


def is_it(x):
    total = x.sum().item()
    return x * 2 if total is None or type(total) is not float or not isinstance(total, float) else x * 3


def by_locals(x):
    total = x.sum().item()
    return x * 2 if locals()["total"] > 0 else x * 3


def by_locals_before(x):
    seen = locals()
    total = x.sum().item()
    return x * 2 if {**seen, **locals()}["total"] > 0 else x * 3


def shared(x):
    total = x.sum().item()

    def sign():
        return 2 if total > 0 else 3

    return x * sign()


def matched(x):
    match x.tolist():
        case [a, *_] if a > 0:
            return x * 2
        case _:
            return x * 3


def as_default(x):
    def times(y, by=x.sum().item()):
        return y * by

    return times(x)


def sort_key(x):
    return sorted([x, x + 1], key=lambda t: -float(t.abs().sum()))[0]


def sort_key_of_unknown(x):
    known = {"sort": sorted}
    return known["sort"]([x, x * 0.5], key=lambda t: float(t.sum()))[0]


def generated(x):
    return sum(v.item() for v in x) * x


def as_attribute(x):
    class Holder:
        pass

    holder = Holder()
    holder.total = x.sum().item()
    return x * 2 if holder.total > 0 else x * 3


def truth(x):
    return x * 2 if x.clamp(0, 1).floor().sum().item() else x * 3


def either(x):
    return x.clamp(0, 1).floor().sum().item() or -1.0


USED = {
    "branch": goes_by, "branch on one of a list": goes_by_one, "branch on a float": goes_by_a_float,
    "a list is changed": goes_by_its_place, "caught": caught, "is": is_it, "locals": by_locals,
    "locals before": by_locals_before, "a closure": shared, "match": matched, "default argument": as_default,
    "sorted": sort_key, "sorted, unknown": sort_key_of_unknown, "generator": generated, "attribute": as_attribute,
    "truth": truth, "or": either,
    "arithmetic": lambda x: x.sum().item() * 2,
    "arithmetic of a float": lambda x: float(x.sum()) * 2,
    "text": lambda x: f"{x.sum().item():.3f}",
    "repr": lambda x: repr(x.tolist()),
    "json": lambda x: json.dumps({"x": x.tolist()}),
    "round": lambda x: round(x.sum().item(), 2),
    "max": lambda x: max(x[0].item(), x[1].item()),
    "math": lambda x: math.exp(float(x.sum())),
    "key": lambda x: {x.sum().item(): x},
    "in a set": lambda x: len({x[0].item(), 1.0}),
    "compared with a list": lambda x: [x.sum().item()] == [1.0],
    "negated": lambda x: -x.sum().item(),
    "a slice": lambda x: x[slice(0, (x > 0).sum().item())],
    "an index": lambda x: x[(x > 0).sum().item() - 1],
    "a scalar in an operation": lambda x: x * x.sum().item(),
    "a dataclass": lambda x: Result(x.sum().item(), x * 2).x,
    "a chained comparison": lambda x: x * (0 < x.sum().item() < 2),
    "unpacked and used": lambda x: (lambda a, b: a + b)(*x[:2].tolist()),
    "formatted": lambda x: "%s" % x.sum().item(),  # noqa: UP031
    "a conditional": lambda x: x.sum().item() if x[0].item() > 0 else 0.0,
    "the length": lambda x: len(x.tolist()),
    "two of a kind": lambda x: x.sum().item() is x.sum().item(),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::gradwright.errors.GradientWarning")
@pytest.mark.parametrize("name", USED)
def test_numbers_that_code_goes_by_are_never_old(name):
    f = USED[name]
    step = gw.compile(f, backend="plan")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for x in given(12):
            assert plain(step(x)) == plain(f(x))


def test_a_number_that_is_used_at_one_place_is_returned_at_another():
    def f(x):
        if x.sum().item() == 1e9:  # noqa: SIM108 - it is about the branch
            x = x * 3
        return x.abs().sum().item()

    step = gw.compile(f, backend="plan")
    x = gw.ones(3)
    for k in range(5):
        assert step(x) == 3.0, k
    assert len(step.programs.traced) == 1
    assert step(x + 1) == 6.0
    assert len(step.programs.traced) == 2


def test_what_varies_is_told_once_with_the_line_and_the_mend():
    def f(x):
        loss = x.sum()
        if loss.item() > 1e9:
            loss = loss * 2
        return loss

    step = gw.compile(f, backend="plan")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        for x in given(10):
            assert step(x).item() == x.sum().item()
    assert len(step.programs.traced) == 3
    assert len(told) == 1
    text = str(told[0].message)
    assert "if loss.item() > 1e9:" in text
    assert "Return the tensor, and call .item() outside of the step" in text


def test_a_step_in_the_middle_of_training():
    def trained(wrap):
        gw.manual_seed(0)
        net = gw.nn.Sequential(gw.nn.Linear(4, 8), gw.nn.Dropout(0.5), gw.nn.Tanh(), gw.nn.Linear(8, 3))
        optimizer = gw.optim.Adam(net.parameters())

        @wrap
        def step(x, y):
            optimizer.zero_grad()
            out = net(x)
            loss = gw.nn.functional.cross_entropy(out, y)
            loss.backward()
            optimizer.step()
            return loss.item(), (out.argmax(1) == y).sum().item()

        y = gw.tensor([0, 1, 2, 0, 1])
        return step, [step(gw.randn(5, 4), y) for _ in range(8)]

    _, expected = trained(lambda f: f)
    for backend in BACKENDS:
        step, found = trained(lambda f: gw.compile(f, backend=backend, check="always"))  # noqa: B023
        assert not step.programs.reason
        assert len(step.programs.traced) == 1
        np.testing.assert_allclose(found, expected, rtol=1e-5)
        assert {type(v) for pair in found for v in pair} == {float, int}


def test_a_result_with_a_history_beside_numbers_goes_on_backward():
    step = gw.compile(lambda x: (x.tolist(), (x * x).sum()), backend="plan")
    for k in range(5):
        x = gw.full((2,), float(k), requires_grad=True)
        numbers, y = step(x)
        y.backward()
        assert numbers == [k, k]
        assert x.grad.tolist() == [2 * k, 2 * k]
        x = gw.full((2,), float(k), requires_grad=True)
        (g,) = gw.autograd.grad(step(x)[1], x, create_graph=True)
        (h,) = gw.autograd.grad(g.sum(), x)
        assert h.tolist() == [2, 2]


# -- what a step makes for the first time after its first call --


def accumulated(backend, optimizer, returned):
    """Ten calls of a step that updates every other time: what it returns, the weights and the state."""
    w = gw.tensor([1.0, -2.0, 3.0], dtype=gw.float64, requires_grad=True)
    optim = optimizer([w])

    def step(x, update):
        y = w * x
        loss = (y * y).sum() / 2
        loss.backward()
        if update:
            optim.step()
            optim.zero_grad()
        return returned(loss, y)

    step = step if backend is None else gw.compile(step, backend=backend)
    x = gw.tensor([1.0, 1.0, -1.0], dtype=gw.float64)
    found = [step(x * (1 + 0.1 * k), k % 2 == 1) for k in range(10)]
    state = [v.tolist() for s in optim.state.values() for v in s.values() if isinstance(v, gw.Tensor)]
    return [float(f) if isinstance(f, gw.Tensor) else f for f in found], w.tolist(), state


@pytest.mark.parametrize(("returned", "optimizer", "backend"), some(product([
    lambda loss, y: loss, lambda loss, y: loss.item(), lambda loss, y: (loss.item(), (y > 0).sum().item() / 3),
    lambda loss, y: f"{loss.item():.9f}", lambda loss, y: [v + 1 for v in y.tolist()],
    lambda loss, y: loss.item() if loss > 3 else -1.0,
], [
    lambda p: gw.optim.SGD(p, lr=0.1, momentum=0.9), lambda p: gw.optim.Adam(p, lr=0.1),
    lambda p: gw.optim.RMSprop(p, lr=0.1),
], BACKENDS), 5))  # fmt: skip
def test_state_that_is_made_in_a_later_call_is_made_once(backend, optimizer, returned):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found, expected = accumulated(backend, optimizer, returned), accumulated(None, optimizer, returned)
    if isinstance(found[0][0], str):
        assert found[0] == expected[0]
    else:
        np.testing.assert_allclose(np.array(found[0], float), np.array(expected[0], float), rtol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-12)
    for a, b in zip(found[2], expected[2], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("returned", [lambda x: x.sum(), lambda x: x.sum().item()])
def test_what_is_written_to_a_tensor_made_in_a_later_call_stays(backend, returned):
    kept = {}

    def step(x):
        if x.sum() > 0:
            if "m" not in kept:
                kept["m"] = gw.zeros(())
            kept["m"].add_(x.sum())
        return returned(x)

    step = gw.compile(step, backend=backend)
    for k in range(6):
        step(gw.ones(2) * k)
    assert kept["m"].item() == 2 * sum(range(6))
