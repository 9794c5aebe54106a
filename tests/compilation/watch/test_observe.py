"""Steps as people write them: nothing is refused, and all guards hold afterwards. And what else a run promises."""

from __future__ import annotations

import contextlib
import dataclasses
import enum
import functools
import gc
import math
import sys
import threading
import weakref
from typing import Any, NamedTuple

import numpy as np
import pytest

import gradwright as gw
import gradwright.nn.functional as F
from gradwright import nn
from gradwright.compilation.watch.guards import EQUAL, compiled_guards
from gradwright.compilation.watch.observe import observed
from gradwright.engine import memory, saved_hooks
from gradwright.ops.declare import table
from gradwright.utils.checkpoint import checkpoint as ck
from tests.compilation.watch.seen import quiet

CASES: dict[str, Any] = {}


def case(f):
    CASES[f.__name__] = f
    return f


def data():
    return gw.randn(6, 4), gw.randn(6, 1)


def fit(net, opt, x, y, lossf=F.mse_loss):
    def step():
        opt.zero_grad()
        loss = lossf(net(x), y)
        loss.backward()
        opt.step()
        return loss

    return step


for name in "SGD Adam AdamW NAdam RAdam Adamax Adagrad Adadelta RMSprop Rprop ASGD Adafactor Muon".split():

    def mk(name=name):
        x, y = data()
        net = nn.Sequential(nn.Linear(4, 5, bias=False), nn.Tanh(), nn.Linear(5, 1, bias=False))
        return fit(net, getattr(gw.optim, name)(net.parameters(), lr=1e-3), x, y)

    CASES["opt_" + name] = mk


@case
def sgd_momentum():
    x, y = data()
    net = nn.Linear(4, 1)
    return fit(net, gw.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-2), x, y)


@case
def dropout_bn():
    x, y = data()
    net = nn.Sequential(
        nn.Linear(4, 5), nn.BatchNorm1d(5), nn.ReLU(), nn.Dropout(0.3), nn.LayerNorm(5), nn.Linear(5, 1)
    )
    return fit(net, gw.optim.Adam(net.parameters()), x, y)


@case
def modulelist():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
            self.head = nn.Linear(4, 1)
            self.acts = nn.ModuleDict({"a": nn.ReLU()})
            self.p = 0.1
            self.sizes = [1, 2]

        def helper(self, x):
            return self.acts["a"](x)

        def forward(self, x):
            for i, l in enumerate(self.layers):
                x = self.helper(l(x))
                if i in self.sizes:
                    x = F.dropout(x, self.p, self.training)
            x = x + self.layers[-1](x) + self.layers[0](x)
            return self.head(x)

    class Sub(Net):
        def forward(self, x):
            return super().forward(x) * 2

    x, y = data()
    net = Sub()
    return fit(net, gw.optim.SGD(net.parameters(), lr=0.1), x, y)


@case
def dict_losses():
    x, y = data()
    net = nn.Linear(4, 1)
    weights = {"a": 1.0, "b": 0.5}

    def step():
        out = net(x)
        losses = {"a": ((out - y) ** 2).mean(), "b": out.abs().mean()}
        losses["c"] = losses["a"] * 2
        total = sum(weights[k] * v for k, v in losses.items() if k in weights)
        total.backward()
        for p in net.parameters():
            with gw.no_grad():
                p -= 0.01 * p.grad
            p.grad = None
        msg = f"loss {float(total):.3f} {weights['a']:.2f}"
        return {"total": total, **losses}

    return step


@dataclasses.dataclass
class Out:
    loss: object
    parts: list = dataclasses.field(default_factory=list)

    def total(self):
        return sum(self.parts, self.loss)


class Pair(NamedTuple):
    a: object
    b: object


@dataclasses.dataclass(frozen=True)
class Cfg:
    lr: float = 0.1
    n: int = 3


class Mode(enum.Enum):
    A = 1
    B = 2


@case
def dataclass_step():
    x, y = data()
    w = gw.randn(4, 1, requires_grad=True)
    cfg = Cfg()
    mode = Mode.A

    def step():
        o = Out((x @ w - y).square().mean())
        o.parts.append(o.loss * cfg.lr)
        if mode is Mode.A:
            o.parts.append(o.loss)
        t = o.total()
        p = Pair(t, o.loss)
        a, b = p
        c = Cfg(lr=cfg.lr * 2)
        return p.a + b * c.lr

    return step


@case
def misc():
    x, y = data()
    w = gw.randn(4, 1, requires_grad=True)

    def act(v, slope=0.1, *, k=2.0):
        return F.leaky_relu(v, slope) * k

    relu = functools.partial(act, slope=0.2)
    fns = [relu, lambda v: v * 2, F.relu]
    opts = dict(k=3.0)

    def step():
        h = x @ w
        for f in fns:
            h = f(h)
        h = act(h, **opts)
        hs = [h * i for i in range(3)]
        h = gw.stack([t for t in hs if t is not None]).sum(0)
        try:
            h = h + math.sqrt(2.0) * math.pi
        except ValueError as e:
            raise RuntimeError from e
        finally:
            z = 1
        if (n := h.shape[0]) > 3:
            h = h / n

        def inner(q):
            return q + z + n

        h = inner(h)
        s = sorted([3, 1, 2])
        m = max(s)
        q = [*map(lambda v: v + 1, s)]
        a, *rest = q
        d = {k: v for k, v in zip("ab", rest)}
        for k in d:
            d[k] += 1
        with contextlib.suppress(ValueError):
            h = h * 1.0
        with gw.enable_grad():
            h = h + 1
        x1, x2 = h, h
        x1, x2 = x2, x1
        assert h.dim() == 2, f"bad {h.shape}"
        while n > 4:
            n -= 1
        return (h if m > 2 else -h).mean() + any(v > 1 for v in s)

    return step


@case
def function_cls():
    class Sq(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.save_for_backward(x)
            ctx.k = k
            return x * x * k

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return 2 * g * x * ctx.k, None

    w = gw.randn(3, requires_grad=True)

    def step():
        y = Sq.apply(w, 3.0).sum()
        y.backward()
        g = w.grad
        w.grad = None
        return y, g

    return step


@case
def hooks():
    x, y = data()
    net = nn.Linear(4, 1)
    scale = 2.0
    net.register_forward_hook(lambda m, i, o: o * scale)
    w = net.weight
    w.register_hook(lambda g: g * scale)
    return fit(net, gw.optim.SGD(net.parameters(), lr=0.1), x, y)


@case
def clip():
    x, y = data()
    net = nn.Linear(4, 1)
    opt = gw.optim.SGD(net.parameters(), lr=0.1)

    def step():
        opt.zero_grad(set_to_none=False)
        loss = F.mse_loss(net(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        return loss.item()

    return step


@case
def lstm():
    net = nn.LSTM(3, 4, 2, batch_first=True)
    x = gw.randn(2, 5, 3)

    def step():
        o, (h, c) = net(x)
        l = o.sum() + h.sum()
        l.backward()
        return l

    return step


@case
def transformer():
    net = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    x = gw.randn(2, 5, 8)

    def step():
        l = net(x).sum()
        l.backward()
        return l

    return step


@case
def conv():
    net = nn.Sequential(
        nn.Conv2d(1, 2, 3, padding=1), nn.BatchNorm2d(2), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(8, 3)
    )
    x = gw.randn(2, 1, 4, 4)
    t = gw.tensor([0, 2])
    opt = gw.optim.AdamW(net.parameters())
    return fit(net, opt, x, t, nn.CrossEntropyLoss(label_smoothing=0.1))


@case
def hvp():
    w = gw.randn(3, requires_grad=True)
    v = gw.randn(3)

    def step():
        y = (w**4).sum()
        (g,) = gw.autograd.grad(y, w, create_graph=True)
        (h,) = gw.autograd.grad((g * v).sum(), w)
        return h

    return step


@case
def funcs():
    w = gw.randn(3)

    def step():
        return gw.func.grad(lambda p: (p**3).sum())(w), gw.func.vmap(lambda p: p * 2)(w)

    return step


@case
def cls_step():
    class Trainer:
        clip = 1.0

        def __init__(self):
            self.net = nn.Linear(4, 1)
            self.opt = gw.optim.SGD(self.net.parameters(), lr=0.1)
            self.x, self.y = data()
            self.w = {"l2": 0.1}

        @property
        def l2(self):
            return self.w["l2"]

        @staticmethod
        def loss(a, b):
            return F.mse_loss(a, b)

        @classmethod
        def k(cls):
            return cls.clip

        def step(self):
            self.opt.zero_grad()
            l = self.loss(self.net(self.x), self.y) * self.k() + self.l2 * sum(
                p.pow(2).sum() for p in self.net.parameters()
            )
            l.backward()
            self.opt.step()
            return l

        __call__ = step

    t = Trainer()
    t.step()
    return t.step


@case
def cls_call():
    t = cls_step().__self__
    return t


@case
def generator_inside():
    w = gw.randn(3, requires_grad=True)

    def chunks(t, n):
        for i in range(n):
            yield t[i:]

    @contextlib.contextmanager
    def scaled(k):
        yield k * 2

    def step():
        s = 0
        for c in chunks(w, 3):
            s = s + c.sum()
        with scaled(2.0) as k:
            s = s * k

        def yy():
            yield from chunks(w, 2)

        for c in yy():
            s = s + c.mean()
        return s

    return step


@case
def numpy_inside():
    w = gw.randn(3, requires_grad=True)

    def step():
        a = np.linspace(0, 1, 3).astype(np.float32)
        a[0] = 2.0
        return (w * gw.from_numpy(a)).sum() * np.pi

    return step


@case
def checkpoint():
    net = nn.Linear(3, 3)
    x = gw.randn(2, 3)

    def step():
        l = ck(net, x, use_reentrant=False).sum()
        l.backward()
        return l

    return step


@case
def match_():
    w = gw.randn(3)
    kind = "a"
    cfg = {"k": 1}

    def step():
        match kind:
            case "a":
                r = w * 2
            case _:
                r = w
        match cfg:
            case {"k": v}:
                r = r * v
        return r

    return step


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore")
def test_a_plain_step_is_not_refused(name):
    quiet(CASES[name]())


def read(seen):
    """The guards, but those on the code of functions and on switches."""
    return [g for g in seen.guards if g.key != "__code__" and g.of != "switch"]


def test_tensors_are_adopted_as_soon_as_they_are_read():
    a, b, c = gw.ones(2), gw.ones(2), gw.ones(2)
    held = {"c": [c]}
    seen = []

    def step(x):
        y = a * x
        return y + gw.stack(held["c"]).sum()

    observed(step, (b,), None, seen.append)
    assert {id(t) for t in (a, b, c)} <= {id(t) for t in seen}
    assert len({id(t) for t in seen}) == len(seen)
    assert seen.index(next(t for t in seen if t is b)) == 0


def test_the_state_of_an_optimiser_is_adopted():
    net = nn.Linear(2, 1)
    step = fit(net, gw.optim.Adam(net.parameters()), gw.randn(3, 2), gw.randn(3, 1))
    step()
    seen = []
    opt = step.__closure__[step.__code__.co_freevars.index("opt")].cell_contents
    observed(step, (), None, seen.append)
    state = [t for held in opt.state.values() for t in held.values()]
    assert {id(t) for t in (*state, *net.parameters())} <= {id(t) for t in seen}


def test_what_is_made_in_the_call_has_no_guard():
    def step():
        held = {"k": [2.0]}
        held["k"].append(3.0)
        return held["k"][0]

    assert read(quiet(step)) == []


def test_a_named_tuple_that_gradwright_makes_has_no_guard():
    w = gw.ones(3, requires_grad=True)

    @gw.compile
    def step():
        (w * w).sum().backward()
        w.grad = None

    for _ in range(4):
        step()
        for op in table.values():
            op.ways.clear()  # quick callables are made anew in each run
    assert [guard for guard in map(str, step.guards()) if "Call" in guard or "<string>" in guard] == []


def test_the_result_comes_back_and_an_exception_goes_through():
    assert observed(lambda x, y=1: x + y, (2,), {"y": 3}).result == 5
    with pytest.raises(ZeroDivisionError):
        observed(lambda: 1 // 0)
    assert gc.isenabled()


def test_a_trace_function_that_was_there_is_put_back():
    before = sys.gettrace()

    def mine(frame, event, arg):
        return None

    sys.settrace(mine)
    try:
        observed(lambda: 1)
        assert sys.gettrace() is mine
        with pytest.raises(KeyError):
            observed(lambda: {}["a"])
        assert sys.gettrace() is mine
    finally:
        sys.settrace(before)


def test_a_guard_names_what_was_read_where():
    scale = 3.0

    def step():
        return scale

    (guard,) = read(observed(step))
    line = step.__code__.co_firstlineno + 1
    assert str(guard) == f"scale = 3.0 (closure of step), read at {__file__}:{line}: return scale"
    assert guard.value == 3.0
    assert guard.key is None
    assert guard.container.cell_contents == 3.0


def test_a_number_that_the_step_changes_is_named_with_its_line():
    class Counter:
        count = 0

        def step(self):
            self.count += 1
            return self.count

    counter = Counter()
    counter.step()
    found = observed(counter.step).refusals
    assert any("the number `Counter.count`" in r.reason or "count" in r.reason for r in found)
    assert {r.place.line for r in found} == {Counter.step.__code__.co_firstlineno + 1}


def test_options_of_optimisers_are_guards_with_their_group():
    w = gw.ones(2, requires_grad=True)
    opt = gw.optim.SGD([w], lr=0.1, momentum=0.9)

    def step():
        opt.zero_grad()
        (w * w).sum().backward()
        opt.step()

    step()
    guards = quiet(step).guards
    group = opt.param_groups[0]
    options = {g.key: g.value for g in guards if g.container is group and g.kind is EQUAL}
    assert options["lr"] == 0.1
    assert options["momentum"] == 0.9
    check = compiled_guards([g for g in guards if not (g.container is group and g.key == "lr")])
    group["lr"] = 0.2
    assert check() is None
    group["momentum"] = 0.5
    assert check().key == "momentum"


def test_nothing_is_kept_alive_by_guards():
    net = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    held = [net]

    def step(x):
        return held[0](x)

    check = compiled_guards(observed(step, (gw.ones(2),)).guards)
    assert check() is None
    gone = [weakref.ref(net), weakref.ref(net[0].weight)]
    held.clear()
    del net
    gc.collect()
    assert [r() for r in gone] == [None, None]
    assert check() is not None


def test_arguments_are_the_callers_to_compare_and_not_to_be_changed():
    def step(batch):
        return batch["x"] * batch["k"][0]

    assert read(quiet(step, {"x": gw.ones(2), "k": [2.0]})) == []

    def changes(batch):
        batch["y"] = 1

    assert observed(changes, ({},)).refusals


def test_every_read_is_guarded_once():
    k = [1.0, 2.0]

    def step():
        return sum(k[0] for _ in range(100)) + k[0]

    guards = read(quiet(step))
    assert len(guards) == len({str(g) for g in guards}) <= 4


def test_a_run_inside_of_another_is_part_of_it():
    b = [2.0]
    inner = []

    def step():
        inner.append(observed(lambda: b[0]))
        return inner[-1].result

    found = observed(step)
    assert found.result == 2.0
    assert inner[0].refusals
    assert any(g.value == 2.0 for g in found.guards)


def test_what_an_import_does_is_not_observed(tmp_path, monkeypatch):
    (tmp_path / "module_that_counts.py").write_text("import sys\nCOUNT = [0]\nCOUNT[0] += 1\nsys.flag = 1\n")
    monkeypatch.syspath_prepend(tmp_path)

    def step():
        import module_that_counts

        return module_that_counts.COUNT[0]

    found = observed(step)
    assert found.result == 1
    assert [r.place.line for r in found.refusals] == [step.__code__.co_firstlineno + 1]
    assert quiet(step).result == 1


@pytest.mark.parametrize("told", [
    lambda of: functools.partial(memory._gone, of, 0), lambda of: functools.partial(saved_hooks._forgotten, of, 0, 0),
], ids=["memory", "saved_hooks"])  # fmt: skip
def test_code_that_is_told_that_an_object_is_freed_is_no_part_of_the_step(told):
    class Ring:
        def __init__(self):
            self.ring = self

    def step():
        gc.collect()  # at any instruction, as far as the step knows
        return gw.ones(2)

    table, ring = {0: {0: 1.0}}, Ring()
    ref = weakref.ref(ring, told(table))
    gc.collect()  # what is young is freed before a run begins
    del ring
    alone = len(observed(step, (), {}).guards)
    assert ref() is None
    assert len(observed(step, (), {}).guards) == alone


def test_code_that_is_exchanged_is_noticed():
    def step():
        return 1.0

    check = compiled_guards(observed(step).guards)
    assert check() is None
    step.__code__ = (lambda: 2.0).__code__
    assert check() is not None


def test_steps_in_two_threads_are_observed_apart():
    held = {"a": 1.0, "b": 2.0}
    found = {}

    def run(name):
        found[name] = observed(lambda: held[name])

    threads = [threading.Thread(target=run, args=(name,)) for name in held]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: f.result for name, f in found.items()} == held
    assert all(any(g.value == held[name] for g in f.guards) for name, f in found.items())
