"""Passes that the core runs beside the same ones without it: gradients, errors, warnings, what is kept and freed."""

from __future__ import annotations

import gc
import signal
import sys
import threading
import weakref

import numpy as np
import pytest

import gradwright as gw
from gradwright import native
from gradwright.engine.apply import apply
from gradwright.engine.general import general
from gradwright.engine.nodes_of_ops import recorder
from gradwright.ops.declare import op, table
from gradwright.verify.testing import draw
from tests.native.ways import both, outcome, seen

pytestmark = pytest.mark.skipif(native.core is None, reason=f"core: {native.state()}")

DIFFERENTIABLE = [o for o in table.values() if o.rules]


@pytest.mark.parametrize("o", DIFFERENTIABLE, ids=lambda o: o.name)
def test_every_operation(o):
    def program():
        found = []
        for sample in o.samples:
            for dtype in ("float32", "float64"):
                arrays, static = draw(sample, dtype=dtype)
                rules = [n in o.rules for n in o.names_of(len(arrays))]
                xs = [gw.tensor(a, requires_grad=r and a.dtype.kind == "f") for a, r in zip(arrays, rules, strict=True)]
                for _ in range(2):  # the second adds to what the first has written
                    outs = apply(o, xs, static)
                    outs = [t for t in (outs if isinstance(outs, (list, tuple)) else [outs]) if t.requires_grad]
                    nodes = [t.grad_fn for t in outs]
                    gw.autograd.backward(outs, [gw.tensor(np.cos(np.arange(t.numel())).reshape(t.shape), dtype=t.dtype)
                                                for t in outs])  # fmt: skip
                    found.append([seen(x.grad) for x in xs])
                    found += [getattr(n, "_saved", None) for n in nodes]
        return found

    both(program)


def test_most_elementwise_derivatives_run_in_the_core():
    """And what runs is counted."""
    able = [o for o in DIFFERENTIABLE if o.kind == "elementwise" and len(o.inputs) < 4]
    classes = []
    for o in able:
        record = recorder(o, tuple(n in o.rules for n in o.inputs))
        classes.append(record.plan and record.plan[0])
    ready = [c for c in classes if c is not None and c._rules is not None]
    assert len(ready) > 60
    before = {c: c._rules.taken for c in ready}
    x = gw.tensor([0.3, 0.4], requires_grad=True)
    (x.exp() * x + x.tanh() - x.log() / x).sum().backward()
    ran = {c.__name__ for c in ready if c._rules.taken > before[c]}
    assert ran == {"ExpBackward0", "MulBackward0", "AddBackward0", "TanhBackward0", "SubBackward0", "DivBackward0",
                   "LogBackward0"}  # fmt: skip
    written, _ = native.core.counts()
    (x * 2.0).sum().backward()
    assert native.core.counts()[0] == written + 1


def leaves(*shape, n=2, dtype=gw.float64):
    rng = np.random.default_rng(len(shape))
    return [gw.tensor(rng.random(shape) + 0.5, dtype=dtype, requires_grad=True) for _ in range(n)]


def grads(*tensors):
    return [seen(t.grad) for t in tensors]


def shared():
    x, y = leaves(3)
    a = x * y
    b = a.exp() + a
    (b * a - b / y).sum().backward()
    return grads(x, y)


def large():
    x, y = leaves(200, 200)
    a = x * y
    (a * 2.0 + a.exp() + a * y).sum().backward()
    a = (x * 1.0).retain_grad() or x * 1.0
    (a + a + a * y).sum().backward()
    return grads(x, y)


def hooked():
    log = []
    x, y = leaves(3)
    x.register_hook(lambda g: log.append(("leaf", g.tolist())))
    x.register_post_accumulate_grad_hook(lambda t: log.append(("after", t.grad.tolist())))
    a = x * y
    a.register_hook(lambda g: log.append(("tensor", g.tolist())) or g * 2)
    b = a.exp()
    b.retain_grad()
    b.grad_fn.register_prehook(lambda g: log.append(("pre", g[0].tolist())))
    b.grad_fn.register_hook(lambda gi, go: log.append(("post", gi[0].tolist(), go[0].tolist())))
    (b * a * y).sum().backward()
    return log, grads(x, y, b)


def hook_that_raises():
    x, y = leaves(3)
    a = x * y

    def hook(g):
        raise ValueError("no")

    a.register_hook(hook)
    b = a.exp()
    try:
        (b * y).sum().backward()
    except ValueError as e:
        return str(e), e.__notes__, grads(x, y), b.grad_fn._saved


def targets():
    x, y = leaves(3)
    a = x * y
    b = a.exp() * y
    found = gw.autograd.grad(b.sum(), [a, x], retain_graph=True)
    found += gw.autograd.grad(b.sum(), [y, b], retain_graph=True)
    b.sum().backward(inputs=[a, y])
    return list(map(seen, found)), grads(x, y, a)


def freed():
    x, y = leaves(3)
    a = (x * y).exp()
    a.sum().backward(retain_graph=True)
    a.sum().backward()
    a.sum().backward()


def written_in_between():
    x, y = leaves(3)
    a = x * y
    b = a.exp()
    b.mul_(2)
    c = x * b
    with gw.no_grad():
        b.add_(1)
    c.sum().backward()


def own_grad():
    x, y = leaves(3)
    found = []
    kept = x * y
    for grad in (gw.ones(3).double(), x.detach(), gw.ones(3), gw.ones(1).double().expand(3), gw.ones(2, 3).double()[0],
                 kept.detach(), np.ones(3)):  # fmt: skip

        def once(grad=grad):
            x.grad = gw.from_numpy(grad) if isinstance(grad, np.ndarray) else grad
            (x * y).sum().backward()
            return seen(x.grad)

        found.append(outcome(once))
    return found


def held_grads():
    x, y = leaves(3)
    (x * y).sum().backward()
    held = [x.grad, x.grad.array, y.grad.detach(), y.grad[0]]
    saved = y.grad * x
    (x * y).sum().backward()
    return grads(x, y), [seen(t) if isinstance(t, gw.Tensor) else t.tolist() for t in held], seen(saved.detach())


def numbers():
    x, y = leaves()
    (x * y + x).backward()
    (x * y.exp()).backward()
    z = gw.ones(1, requires_grad=True)
    (z.sum() * x.float()).backward()
    return grads(x, y, z)


def broadcasting():
    x, y = leaves(3, 2)[0], leaves(2)[0]
    z, w = leaves(3, 1)[0], leaves()[0]
    ((x + y) * z - w / x + w).sum().backward()
    return grads(x, y, z, w)


def other_layouts():
    x = gw.tensor(np.random.default_rng(0).random((3, 4)).T, requires_grad=True)
    x.data = gw.tensor(np.asfortranarray(np.ones((4, 3))))
    y = leaves(4, 3)[0]
    (x.t() * y.t()).sum().backward()
    (x * 2.0 + y).sum().backward()
    (x[:, ::2] * 2.0).sum().backward()
    return grads(x, y)


def several_dtypes():
    x, y = gw.ones(2, requires_grad=True), gw.ones(2, requires_grad=True, dtype=gw.float64)
    h = gw.ones(2, requires_grad=True, dtype=gw.float16)
    c = gw.ones(2, requires_grad=True, dtype=gw.complex64)
    ((x * y).sum() + (h * x).sum().double() + (c * c).real.sum()).backward()
    return grads(x, y, h, c)


def ends_at_a_leaf():
    x, y = leaves()
    x.backward()
    gw.autograd.backward([x * y, x], [None, None])
    return grads(x, y)


def several_roots():
    x, y = leaves(3)
    a, b = x * y, x + y
    gw.autograd.backward([a, b, a.exp()], [gw.ones(3, dtype=gw.float64)] * 3)
    return grads(x, y)


def errors_asked_for():
    x = gw.tensor([0.0, 1.0], requires_grad=True)
    found = []
    for how in ("raise", "warn", "ignore"):
        with np.errstate(all=how):
            y = x * 1.0
            z = gw.tensor([0.0, 2.0])
            found.append(outcome(lambda z=z, y=y: (y * (z + 1e-30) * 1e-30).sum().backward() or grads(x)))
            found.append(outcome(lambda y=y: (y.sqrt() * 1e30 * 1e30).sum().backward() or grads(x)))
            found.append(np.geterr())
    return found


def frozen():
    x, y = leaves(3)
    a = x * y
    x.requires_grad_(False)
    a.sum().backward()
    return grads(x, y)


def dropped():
    x, y = leaves(3)
    a = x * y
    end = a.grad_fn.next_functions[0][0]
    del x
    a.sum().backward(retain_graph=True)
    a.sum().backward()
    return grads(y, end.variable)


def passes_within():
    x, y = leaves(3)
    inner = []

    class Inner(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            with gw.enable_grad():
                z = leaves(3)[0]
                (z * z).sum().backward()
            inner.append(seen(z.grad))
            return g

    (Inner.apply(x) * y).sum().backward()
    return inner, grads(x, y)


def two_results():
    x, y = leaves(3, 4)
    a, b, c = (x * y).unbind(0)
    (a * b).sum().backward(retain_graph=True)
    (c.max(0)[0] + a.sum()).backward()
    return grads(x, y)


def in_place():
    x, y = leaves(3, 4)
    a = x * y
    a[0] = y[1] * 2
    a[1:].mul_(x[1:])
    a.exp_()
    a.sum().backward()
    return grads(x, y)


def watched():
    x, y = leaves(3)
    with gw.autograd.detect_anomaly():
        a = (x * y - 5).log()
        a.sum().backward()


def inside_modes():
    x, y = leaves(3)
    a = (x * y).exp()
    with gw.no_grad():
        a.backward(gw.ones(3, dtype=gw.float64), retain_graph=1)
    with gw.inference_mode():
        a.backward(gw.ones(3, dtype=gw.float64))
    return grads(x, y), x.grad.is_inference()


def recorded():
    x, y = leaves(3)
    (g,) = gw.autograd.grad((x * y).exp().sum(), x, create_graph=True)
    g.sum().backward()
    return grads(x, y)


def parameters():
    net = gw.nn.Sequential(gw.nn.Linear(3, 4), gw.nn.ReLU(), gw.nn.Linear(4, 2))
    with gw.no_grad():
        for k, p in enumerate(net.parameters()):
            p.copy_(gw.tensor(np.cos(np.arange(p.numel()) + k).reshape(p.shape)))
    for _ in range(2):
        gw.nn.functional.cross_entropy(net(gw.ones(5, 3)), gw.tensor([0, 1, 1, 0, 1])).backward()
    return grads(*net.parameters())


def selecting():
    x = gw.tensor([0.0, 1.0], requires_grad=True)
    gw.where(x > 0, x.sqrt(), gw.zeros(2)).sum().backward()
    return grads(x)


@op(kind="elementwise")
def odd(xp, x):
    return x * 1


odd.vjp(x=lambda xp, g, x: 1 / 0 if float(x[0]) > 2 else g[:1] if float(x[0]) > 1 else xp.astype(g, xp.float32))


def wrong_derivatives(start=0.0):
    def once(start):
        x = gw.tensor([start, 1.0], requires_grad=True, dtype=gw.float64)
        y = leaves(2)[0]
        try:
            (general(odd, (x * y,), {}) * y).sum().backward()
        finally:
            found.append(grads(x, y))

    found = []
    return [outcome(lambda s=s: once(s)) for s in (0.0, 2.0, 5.0)], found


PROGRAMS = [shared, large, hooked, hook_that_raises, targets, freed, written_in_between, own_grad, held_grads, numbers,
            broadcasting, other_layouts, several_dtypes, ends_at_a_leaf, several_roots, errors_asked_for, frozen,
            dropped, passes_within, two_results, in_place, watched, inside_modes, recorded, parameters, selecting,
            wrong_derivatives]  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*[Aa]nomaly:UserWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs(program):
    both(program)


def test_what_has_run_is_freed(no_gc):
    def program():
        x, y = leaves(3)
        a = x * y
        b = a.exp()
        c = (b * b).sum()
        refs = [weakref.ref(b.array), weakref.ref(a.grad_fn), weakref.ref(c.grad_fn)]
        del a, b
        alive = []
        x._node.register_prehook(lambda g: alive.append([r() is not None for r in refs]))
        c.backward()
        alive.append([r() is not None for r in refs])
        del c
        return alive, [r() is not None for r in refs]

    assert both(program)[1][1] == ("list", [False] * 3)


def test_nothing_is_kept():
    """What many passes leave behind: as many references and objects as before."""
    x, y = leaves(3)
    watched = [x, y, x._node, y._node, x.array, y.array, x._counter, None, gw.Tensor, table["multiply"]]

    def work(n):
        for k in range(n):
            x.grad = None
            a = (x * y).exp()
            (a * a + y * 2.0).sum().backward()
            if k % 5 == 0:
                gw.autograd.grad((x * y).sum(), [x, y])
                outcome(freed)
                outcome(hook_that_raises)

    work(20)
    gc.collect()
    objects, before = len(gc.get_objects()), [sys.getrefcount(w) for w in watched]
    work(1000)
    gc.collect()
    found = [sys.getrefcount(w) for w in watched]
    assert found[:7] + found[8:] == before[:7] + before[8:]
    assert abs(found[7] - before[7]) < 50  # None
    assert abs(len(gc.get_objects()) - objects) < 50


def test_an_interrupt_comes_between_two_nodes():
    x = gw.ones(1, requires_grad=True)
    y = x
    for _ in range(200_000):
        y = y * 1.0

    def handler(number, frame):
        raise KeyboardInterrupt

    def again():
        while True:
            y.backward(retain_graph=True)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005)
        with pytest.raises(KeyboardInterrupt):
            again()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    x.grad = None
    y.backward()
    assert x.grad.item() == 1


@pytest.mark.parametrize("n", [3, 5000])
def test_threads_lose_no_gradient(n):
    x = gw.ones(n, requires_grad=True)

    def work(python):
        for _ in range(200):
            y = x * 2.0
            if python:
                y.register_hook(lambda g: g)
            (y * 1.0).sum().backward()

    threads = [threading.Thread(target=work, args=(k % 2,)) for k in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert x.grad.tolist() == [1600.0] * n


def test_what_is_saved_of_a_number_is_made_once():
    """For all nodes that save it alone; but not of one that no table holds, which would keep itself alive."""
    x = gw.ones(1, requires_grad=True)
    (a, b), (c, d) = (x * 2.5, (x * 1.0) * 2.5), (x * float("nan"), x * float("nan"))
    assert a.grad_fn._saved is b.grad_fn._saved
    assert c.grad_fn._saved is not d.grad_fn._saved
    a.backward()
    (b * 1.0).backward(retain_graph=True)
    assert a.grad_fn._saved is None
    assert b.grad_fn._saved[0][0] == 2.5
    assert x.grad.tolist() == [5.0]


def test_a_gradient_lives_while_something_is_added_to_it():
    """Even where another thread takes it from its leaf meanwhile: else the loop would write to memory that is freed."""
    x = gw.zeros(1 << 22, requires_grad=True)
    g, y = gw.ones(1 << 22), x.clone()
    lived, runs, patience = [], [], sys.getswitchinterval()

    def take(begun):
        begun.acquire()
        held = weakref.ref(x.grad)
        x.grad = None
        lived.append(held() is not None or not runs)

    sys.setswitchinterval(10)  # the other thread runs where the loop lets it, or before or after the pass
    try:
        for _ in range(8):
            x.grad, begun = gw.zeros(1 << 22), threading.Lock()
            begun.acquire()
            thread = threading.Thread(target=take, args=(begun,))
            thread.start()
            begun.release()
            runs.append(True)
            y.backward(g, retain_graph=True)
            runs.clear()
            thread.join()
            if x.grad is not None:  # it was taken before
                lived.pop()
    finally:
        sys.setswitchinterval(patience)
    assert all(lived)
