"""Functions of the face that C is asked before, and the same ones without it: all that can be seen is the same."""

from __future__ import annotations

import contextlib
import gc
import sys

import numpy as np
import pytest

import gradwright as gw
from gradwright import native
from gradwright.engine.base import TensorBase
from gradwright.engine.view import View
from tests.native.test_quick import MODES, asked, fronted, outcome, tensors

pytestmark = pytest.mark.skipif(native.core is None, reason=f"core: {native.state()}")

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
}  # fmt: skip


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
    found = outcome(lambda *_: out.append(f(*given)) or out[0], *given)
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
