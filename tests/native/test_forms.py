"""Functions of the face that C is asked before, and the same ones without it: all that can be seen is the same."""

from __future__ import annotations

import contextlib
import gc
import subprocess
import sys

import numpy as np
import pytest

import gradwright as gw
from gradwright import native
from gradwright.engine.base import TensorBase
from gradwright.engine.view import View
from tests.native.test_quick import MODES, asked, fronted, outcome, tensors

pytestmark = pytest.mark.skipif(native.core is None, reason=f"core: {native.state()}")


class Named(dict):
    """The named arguments of a call, which come last."""


T = gw.Tensor.T.fget
CALLS = {
    gw.Tensor.__getitem__: [
        (0,), (-1,), (1,), (2,), (-3,), (True,), (None,), (...,), (slice(None),), (slice(1, None),), (slice(-2, 9),),
        (slice(2, 1),), (slice(None, None, 2),),
        (slice("a", 2),), (slice(np.int64(1), 2),), ((0, 1),), ((slice(1), 0),),
        ((0, slice(1, 2)),), ((),), ((0, None),), ((0, 0, 0),), ((..., 0),), ([0, 1],), (1 << 70,), (np.int64(1),), (),
    ],
    gw.t: [(), (0,)],
    T: [()],
    gw.transpose: [(0, 1), (1, 0), (-1, 0), (-2, -1), (0, 0), (1, 1), (0, 2), (0,), (0, True), (0, None), (0, 1 << 70)],
    gw.permute: [(0, 1), (1, 0), ((1, 0),), ([-1, 0],), (0,), (0, 0), (-3, 1), (), ((),), (1.0, 0), ((0, 1), 1)],
    gw.reshape: [(6,), (-1,), (3, 2), (2, 3), ((-1, 2),), ([1, 6, 1],), (0,), (), ((),), (-1, 0), (-1, -1), (-2,),
                 (4, -1), (True, 6), (1 << 62, 4), (2.0, 3), (3,), (1,), (gw.Size((6,)),)],
    gw.Tensor.view: [(6,), (-1,), (3, 2), ((2, 3),), (7,), (gw.int32,), (gw.int8,), ()],
    gw.unsqueeze: [(0,), (-1,), (1,), (2,), (3,), (-4,), (None,), (), (True,)],
    gw.squeeze: [(), (0,), (-1,), (1,), (2,), ((0,),), (None,), (True,)],
    gw.Tensor.expand: [(2, 3), (4, -1, 3), (2, 2, 3), ((5, 2, 3),), (-1, -1), (-1, 2, 3), (2, 3, 4), (3,), (0, 2, 3),
                       (2, -2), (5, 1), (), (2.0, 3)],
    **{f: [(), (0,)] for f in (gw.detach, gw.Tensor.detach)},
    gw.sum: [
        (), (0,), (-1,), (1,), (2,), (-3,), (None,), ((0,),), ((),), (0, True), (0, False), (None, True), (True,),
        (0, 1), (0, True, 1), (Named(dim=0),), (Named(dim=-1, keepdim=True),), (1, Named(keepdim=True)),
        (0, Named(dim=0)), (Named(keepdim=True),), (Named(keepdim=False),), (Named(axis=0),),
        (Named(axis=1, keepdims=True),),
        (Named(dim=None),), (Named(dims=0),), (Named(dim=0, keepdim=None),),
    ],
}  # fmt: skip
CALLS[gw.mean] = CALLS[gw.sum]


def more():
    """Tensors of further shapes, layouts and kinds."""
    x = gw.rand(2, 3, requires_grad=True)
    with gw.no_grad():
        unrecorded = x[:1]
    with gw.inference_mode():
        inference = x[0]
    parts = (x * 2).split(1)
    written = gw.rand(3, 2)
    behind = written.t()
    written.add_(1)
    return [x.view(2, 1, 3), gw.rand(1, 3), gw.rand(1, 1), gw.rand(2, 1, requires_grad=True) * 2,
            gw.rand(0, 3), x[:, 1:], x.expand(2, 2, 3), x.detach(), x.t().contiguous()[:, :1], unrecorded,
            inference, parts[0], behind, x.sum(),
            gw.ones(2, 3, dtype=gw.int64), gw.ones(2, 3).to(gw.bfloat16), gw.rand(2, 3).numpy(), None]  # fmt: skip


def shown(out, given):
    """What a view is a view of, and how."""
    if not isinstance(out, TensorBase) or not isinstance(out.array, np.ndarray):
        return None
    base = out.array.base
    owner = [k for k, x in enumerate(given) if isinstance(x, TensorBase) and (base is x.array or base is x.array.base)]
    view = out._view
    if view is None:
        return owner, out.array.flags
    kept = {name: getattr(view, name) for name in View.__slots__ if name != "_base"}
    return owner, str(out.array.flags), id(view._base), str(kept), out._counter is view._base._counter


@contextlib.contextmanager
def alone():
    """Without anything that is asked before functions."""
    with pytest.MonkeyPatch.context() as without:
        for call in fronted():
            without.delitem(vars(call), "_core")
        yield


def looks(f, *given):
    """What can be seen of a call, and of the view that it gives."""
    out = []
    named = given[-1] if given and isinstance(given[-1], Named) else {}
    given = given[:-1] if named else given
    found = outcome(lambda *_: out.append(f(*given, **named)) or out[0], *given)
    return found, [shown(x, given) for x in out]


def same(cases, mode=contextlib.nullcontext):
    """Assert that these calls, pairs of a function and its arguments, look the same with the core and without."""
    with mode():
        first = [looks(f, *given) for f, given in cases]
        with alone():
            second = [looks(f, *given) for f, given in cases]
    for case, one, other in zip(cases, first, second, strict=True):
        assert one == other, case


@pytest.mark.parametrize("f", CALLS, ids=lambda f: f.__name__)
def test_of_every_tensor(f):
    before = asked(f).taken
    same([(f, (x, *rest)) for x in [*tensors(), *more()] for rest in CALLS[f]])
    assert asked(f).taken - before > 20


@pytest.mark.filterwarnings("ignore:.*[Aa]nomaly:UserWarning")
@pytest.mark.parametrize("mode", MODES)
def test_in_every_mode(mode):
    x = gw.rand(2, 3, requires_grad=True)
    there = (x, x * 2, (x * 2)[0:1], x.detach(), x.detach()[:1])
    same([(f, (y, *calls[0])) for y in there for f, calls in CALLS.items()], MODES[mode])


@pytest.mark.parametrize("mode", ["", *MODES])
@pytest.mark.filterwarnings("ignore:.*[Aa]nomaly:UserWarning")
def test_sums_add_in_the_order_of_their_formula(mode):
    rng = np.random.default_rng(1)
    shapes = [(n,) for n in (1, 2, 7, 8, 9, 130, 255, 256, 1023, 5000)] + [
        (3, 1),
        (1, 9),
        (9, 1),
        (20, 9),
        (9, 20),
        (31, 33),
    ]
    shapes += [
        (300, 2),
        (2, 300),
        (3, 4, 5),
        (4, 1, 9),
        (2, 9, 1),
        (1, 1, 1),
        (2, 2, 2, 2),
        (0, 3),
        (3, 0),
        (40, 40),
        (2,) * 9,
    ]
    cases = []
    for shape in shapes:
        for dtype in (np.float32, np.float64):
            a = (rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 4, shape)).astype(dtype)
            odd = a.copy()
            odd.reshape(-1)[::3] = rng.choice(
                [np.inf, -np.inf, np.nan, -0.0, np.finfo(dtype).max, 1e-40], odd[...].reshape(-1)[::3].shape
            )
            for one in (a, odd, -a * 0, np.full(shape, np.finfo(dtype).tiny, dtype)):
                for x in (gw.from_numpy(one.copy()).clone(), gw.tensor(one, requires_grad=True)):
                    for f in (gw.sum, gw.mean):
                        cases += [(f, (x,))] + [(f, (x, k)) for k in range(len(shape))] + [(f, (x, -1, True))]
    same(cases, MODES[mode] if mode else contextlib.nullcontext)


def test_products_are_the_same():
    rng = np.random.default_rng(2)
    there = []
    for m, n in ((2, 3), (3, 2), (8, 8), (1, 3), (3, 1), (3, 3), (33, 65), (65, 33), (0, 3)):
        for dtype in (gw.float32, gw.float64):
            a = gw.tensor(rng.standard_normal((m, n)), dtype=dtype)
            there += [a, a.clone().requires_grad_(), (a.t().contiguous().requires_grad_() * 2).t(), a[:, ::2]]
    there += [
        gw.rand(3),
        gw.rand(2, 3, 2),
        gw.ones(3, 3, dtype=gw.int64),
        gw.tensor([[np.inf, np.nan], [-0.0, 1e30]]),
        gw.rand(3, 3).numpy(),
        2.0,
    ]
    before = asked(gw.matmul).taken
    for f in (gw.matmul, gw.mm, gw.Tensor.__matmul__):
        same([(f, (x, y)) for x in there for y in there[:: 1 if f is gw.matmul else 7] if isinstance(x, TensorBase)])
    assert asked(gw.matmul).taken - before > 200
    biases = [gw.rand(n) for n in (1, 2, 3, 8, 33, 65)]
    biases = [
        *biases,
        gw.rand(8, requires_grad=True) * 2,
        gw.rand(16)[::2],
        gw.rand(3, dtype=gw.float64),
        gw.tensor(1.0),
        None,
    ]
    before = asked(gw.nn.functional.linear).taken
    plain = [x.detach() if isinstance(x, TensorBase) else x for x in there]
    same([(gw.nn.functional.linear, (x, y, b)) for x in plain[::3] for y in plain[::5] for b in biases])
    fitting = [x for x in there if isinstance(x, TensorBase) and x.shape == (8, 8) and x.dtype is gw.float32]
    same([(gw.nn.functional.linear, (x, y, biases[6])) for x in fitting for y in fitting])
    assert asked(gw.nn.functional.linear).taken - before > 10


@pytest.mark.parametrize("mode", ["", *MODES])
@pytest.mark.filterwarnings("ignore:.*[Aa]nomaly:UserWarning")
@pytest.mark.parametrize("f", [gw.cat, gw.stack])
def test_what_is_joined_is_the_same(f, mode):
    x, y = gw.rand(2, 3, requires_grad=True), gw.rand(2, 3)
    stale = x * 2
    view = stale[:1]
    stale.add_(1)
    rows = [gw.rand(3, requires_grad=True) for _ in range(70)]
    lists = [
        [x],
        [y],
        [x, y],
        (y, x),
        [x, x, y, x],
        [x * 2, y.t().contiguous().t()],
        [x[:, 0], y[:, 1]],
        [view, y[:1]],
        rows[:64],
        rows,
        [x, y[:1]],
        [y, y.double()],
        [],
        [gw.tensor(1.0), gw.tensor(2.0)],
        [gw.empty(0), y],
        [gw.empty(0, 3), y],
        x,
        [x, None],
        "xy",
        [gw.ones(2, dtype=gw.int64)] * 2,
        [gw.rand(1, 3), gw.rand(1, 3)],
        [gw.rand(2, 1)] * 2,
        [gw.rand(1, 1, 1)] * 3,
        [gw.rand(2, 3, 4, requires_grad=True)] * 2,
        [gw.nn.Parameter(y), y],
        [gw.from_numpy(np.ones((2, 3), np.float32)), y],
    ]
    rest = [
        (),
        (0,),
        (-1,),
        (1,),
        (2,),
        (-2,),
        (3,),
        (True,),
        (None,),
        (Named(dim=1),),
        (Named(axis=0),),
        (0, 0),
        (Named(dim=0, axis=0),),
    ]
    before = asked(f).taken
    same([(f, (many, *r)) for many in lists for r in rest], MODES[mode] if mode else contextlib.nullcontext)
    assert mode in ("inference", "anomaly", "saved hooks") or asked(f).taken - before > 40


def test_writes_to_views_reach_what_they_show():
    def program(x):
        y = x * 2
        a, b, c = y[0], y.t(), y.view(-1)
        a.mul_(3)
        c[1:3] += 1
        b.unsqueeze(0).squeeze(0)[0].copy_(y[1, :2])
        y.transpose(0, 1).permute(1, 0).expand(2, 2, 3)[0, 0].add_(1)
        return (a.sum() * c.sum() + (b * b).sum()).exp()

    found = []
    for way in (contextlib.nullcontext, alone):
        x = gw.tensor([[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]], requires_grad=True)
        with way():
            out = program(x)
            (g,) = gw.autograd.grad(out, x, create_graph=True)
            (h,) = gw.autograd.grad(g.sum(), x)
        found.append((out.item(), g.tolist(), h.tolist()))
    assert found[0] == found[1]


def test_nothing_is_kept():
    """What 100,000 mixed steps leave behind: as many references and objects as before."""
    x = gw.rand(4, 3, requires_grad=True)
    number = gw.tensor(1.0)
    watched = [x, x._node, x.array, x._counter, number, ..., None.__class__]
    cases = [(f, rest) for f, calls in CALLS.items() for rest in calls]

    def work(n):
        for k in range(n):
            f, rest = cases[k % len(cases)]
            with contextlib.suppress(Exception):
                f(x, *rest)
            if k % 5 == 0:
                gw.cat([x, x * 2, x], 1) @ gw.stack([x[:, 0], x[:, 1]]).mean(0, keepdim=True).expand(9, -1)
                gw.nn.functional.linear(x, x, x[:, 0]).sum()
            if k % 7 == 0:
                x[k % 4, 1:].view(-1).t()
                with gw.no_grad():
                    x.t()[0]

    work(1000)
    gc.collect()
    objects, before = len(gc.get_objects()), [sys.getrefcount(w) for w in watched]
    work(5000)
    gc.collect()
    assert [sys.getrefcount(w) for w in watched] == before
    assert abs(len(gc.get_objects()) - objects) < 50


def test_an_array_lives_while_its_tensor_is_given_another():
    """In the midst of a call, where it is first recorded and other threads may run."""
    program = """
import weakref
import gradwright as gw
from gradwright.engine import apply

bias, lived = gw.ones(3), []
usual = apply.recorder

def recorder(*args):
    held = weakref.ref(x.array)
    x.data = gw.ones(3, 3)
    lived.append(held() is not None)
    return usual(*args)

apply.recorder = recorder
for f in (lambda: x @ x, lambda: gw.nn.functional.linear(x, x, bias), lambda: x.sum(), lambda: x.mean(0),
          lambda: x.t()):
    x = gw.zeros(3, 3, requires_grad=True)
    f()
print(lived)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert found.stdout == f"{[True] * 5}\n", found.stderr
