"""Quick callables that the core is asked before, and the same ones without it: all that can be seen is the same."""

from __future__ import annotations

import gc
import itertools
import subprocess
import sys
import threading
import warnings
from contextlib import suppress

import numpy as np
import pytest

import gradwright as gw
from gradwright import native
from gradwright.backends.loops import ufunc_of
from gradwright.engine import apply
from gradwright.engine.base import TensorBase
from gradwright.engine.node import Node
from gradwright.ops.declare import op, table

pytestmark = pytest.mark.skipif(native.core is None, reason=f"core: {native.state()}")

ONE = {name: o for name, o in table.items() if (u := ufunc_of(o.forward)) is not None and u.nin == 1 and not o.static}
TWO = {name: o for name, o in table.items() if (u := ufunc_of(o.forward)) is not None and u.nin == 2 and not o.static}


def slow(*given):
    """What a quick callable hands on: told, so that both hand on the same."""
    return "slow", tuple(map(id, given))


def both(o, *, reflected=False, floating=False):
    """The quick callable of an operation and its twin: the same text, before which nothing is asked, with no loops."""
    with pytest.MonkeyPatch.context() as without:
        without.setattr(native, "core", None)
        twin = made(o, reflected, floating)
    quick = made(o, reflected, floating)
    assert "_core" in vars(quick)
    assert "_core" not in vars(twin)
    return quick, twin


def made(o, reflected, floating):
    if len(o.inputs) == 1:
        return apply.unary(o, slow)
    return apply.binary(o, slow, floating=floating, reflected=reflected)


def cell(call, name):
    """Where a quick callable keeps what its text calls so."""
    return call.__closure__[call.__code__.co_freevars.index(name)]


def asked(call):
    """What is asked before a quick callable."""
    return vars(call)["_core"]


def seen(value, given):
    """All that can be seen of a value: of a tensor its array, counter, view and history, of that what it has saved."""
    for k, one in enumerate(given):
        if value is one:
            return "argument", k
    if isinstance(value, TensorBase):
        slots = {name: getattr(value, name, "unset") for name in ("_grad", "_part", "_view")}
        of_slots = seen(value.array, given), value._counter, value._counter.__class__, seen(value._node, given)
        kinds = {k: v if v is None or v == "unset" else type(v) for k, v in slots.items()}
        return type(value), of_slots, vars(value), kinds
    if isinstance(value, Node):
        kept = {name: getattr(value, name, "unset") for name in ("_saved", "_static")}
        targets = [id(n) for n in value._next]
        return type(value), type(value._hooks), targets, {k: seen(v, given) for k, v in kept.items()}
    if isinstance(value, np.ndarray | np.generic):
        return type(value), value.dtype.str, value.shape, value.strides, value.tobytes(), value.flags.writeable
    if isinstance(value, tuple | list):
        return type(value), [seen(v, given) for v in value], [id(v) for v in value if isinstance(v, Node)]
    return type(value), repr(value) if isinstance(value, int | float | str | None) else ""


def outcome(call, *given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            out = seen(call(*given), given)
        except (TypeError, AttributeError, RuntimeError, ArithmeticError, LookupError, ValueError) as error:
            out = type(error), str(error)
    return out, [str(w.message) for w in caught]


def tensors():
    """Tensors as they come: with and without history, leaves, views, 0-d, of several dtypes, layouts and versions."""
    rng = np.random.default_rng(0)
    found = []
    for dtype in (gw.float32, gw.float64):
        leaf = gw.tensor(rng.random((2, 3)) + 0.1, dtype=dtype, requires_grad=True)
        plain = gw.tensor(rng.random((2, 3)), dtype=dtype)
        written = plain * 1
        written.add_(1)
        grown = leaf * 1
        grown.mul_(2)
        view = (leaf * 2)[0]
        behind = leaf * 2
        stale = behind[0]
        behind.mul_(2)
        lent = gw.tensor([1.0, 2.0, 3.0], dtype=dtype)
        lent_to = lent.numpy()
        found += [leaf, plain, written, grown, view, stale, leaf.t(), plain[:, ::2], leaf.detach(), leaf.sum(),
                  plain[0, 0], gw.tensor(0.0, dtype=dtype, requires_grad=True), gw.nn.Parameter(plain),
                  gw.empty(0, dtype=dtype), lent, gw.from_numpy(lent_to),
                  gw.tensor([0.0, -1.0, float("inf")], dtype=dtype)]  # fmt: skip
    return [*found, gw.arange(3), gw.tensor([True, False, True]), gw.tensor([1 + 2j, 0, 1]),
            gw.tensor(2, dtype=gw.int8), gw.tensor([1.0, 2.0, 3.0], dtype=gw.float16)]  # fmt: skip


NUMBERS = [2.0, 2, 0.0, -0.0, 0, 1e39, -1e39, float("nan"), float("inf"), 10**400, True, 1 << 40,
           np.float64(2), np.float32(2), np.int64(2), None, "2", [1.0], 1j, np.ones(3)]  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_of_one_tensor(name):
    quick, twin = both(ONE[name])
    for x in [*tensors(), 2.0, None, np.ones(3)]:
        assert outcome(quick, x) == outcome(twin, x)
    assert asked(quick).taken > 20
    assert asked(quick).left > 5


@pytest.mark.parametrize("reflected", [False, True])
@pytest.mark.parametrize("name", TWO)
def test_of_two(name, reflected):
    floats = any(types.startswith("dd") for types in ufunc_of(TWO[name].forward).types)
    if not floats:
        return
    quick, twin = both(TWO[name], reflected=reflected, floating=name == "divide")
    there = tensors()
    for x, y in itertools.chain(itertools.product(there, there[::3]), itertools.product(there[::2], NUMBERS)):
        assert outcome(quick, x, y) == outcome(twin, x, y)
    assert asked(quick).taken > 40
    assert asked(quick).left > 100


MODES = {
    "no_grad": gw.no_grad, "inference": gw.inference_mode, "anomaly": gw.autograd.detect_anomaly,
    "enabled in no_grad": lambda: gw.set_grad_enabled(False),
    "raising": lambda: np.errstate(all="raise"), "warning": lambda: np.errstate(all="warn"),
    "saved hooks": lambda: gw.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore:.*[Aa]nomaly:UserWarning")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["multiply", "divide", "exp", "add"])
def test_in_every_mode(name, mode):
    quick, twin = both(table[name])
    there = tensors()
    cases = [(x,) for x in there] if name == "exp" else [*itertools.product(there[::2], there[::3]), (there[0], 2.0)]
    for given in cases:
        with MODES[mode]():
            first, second = outcome(quick, *given), outcome(twin, *given)
        assert first == second


def test_inside_transforms_and_functions():
    def f(x, y):
        return ((x * y).exp() - x / 2.0 + 1.0 / (y + 3)).sum()

    class Twice(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2 + x

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * 3 + x * 0

    x, y = gw.tensor([0.1, 0.2], requires_grad=True), gw.tensor([0.3, 0.5], requires_grad=True)

    def all_of_it():
        found = [gw.func.grad(f)(x, y), gw.func.jvp(f, (x, y), (y, x))[1],
                 gw.func.vmap(lambda a: f(a, y))(gw.stack([x, y])), gw.func.hessian(f)(x, y),
                 Twice.apply(x) * y, f(Twice.apply(x), y)]  # fmt: skip
        (g,) = gw.autograd.grad(f(x, y), x, create_graph=True)
        found += [g, *gw.autograd.grad(g.sum(), [x, y])]
        return [(t.array.tobytes(), t.grad_fn and t.grad_fn.name()) for t in found]

    first = all_of_it()
    counts = {k: asked(k).taken for k in (gw.Tensor.__mul__, gw.Tensor.exp)}
    assert all(counts.values())
    with pytest.MonkeyPatch.context() as without:
        for call in fronted():
            without.delitem(vars(call), "_core")
        assert all_of_it() == first


def fronted():
    """The functions that the core is asked before."""
    return [f for f in gc.get_objects() if type(f).__name__ == "function" and "_core" in vars(f)]


def test_classes_that_ask_are_asked():
    """Once a class asks, the core is asked after it."""
    program = """
import gradwright as gw
class Asks(gw.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func.__name__
x = gw.ones(2).as_subclass(Asks)
y = gw.ones(2, requires_grad=True)
print(x * 2.0, y * x, x.exp(), gw.exp(x), (y * 2.0).tolist(), y.exp().grad_fn.name())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "mul mul exp exp [2.0, 2.0] ExpBackward0\n", done.stderr


def test_derivatives_declared_later_are_taken():
    @op(kind="elementwise")
    def product(xp, x, y):
        return x * y

    product.vjp(x=lambda xp, g, y: g * y, y=lambda xp, g, x: g * x)
    quick, twin = both(product)
    x, y = gw.ones(3, requires_grad=True), gw.ones(3, requires_grad=True)
    assert outcome(quick, x, y) == outcome(twin, x, y)
    product.vjp(x=lambda xp, g, x: g * x)
    quick, twin = both(product)
    assert outcome(quick, x, y) == outcome(twin, x, y)


def test_what_the_engine_consists_of_is_taken_as_a_whole():
    """Of what is refused nothing is kept."""
    program = """
import gradwright as gw
from gradwright.engine import apply
one = (apply.TensorBase, apply.OpNode, apply.View)
rest = (apply.now, apply.PLAIN, apply.ticket, apply._recorded_as, apply._FLOATS, apply.Fixed)
for given in ((*one, apply.slots, object().__str__, *rest[1:]), (*one, object(), *rest)):
    try: apply.core.engine(*given)
    except (AttributeError, TypeError) as error: print(type(error).__name__)
x = gw.ones(2, requires_grad=True)
print((x * 2.0).tolist())
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout == "TypeError\nAttributeError\n[2.0, 2.0]\n", done.stderr


def test_nothing_is_computed_twice():
    """What a node saves of memory that others hold is for the twin, which is known before the loop runs."""
    quick, _ = both(table["multiply"])
    loop = cell(quick, "formula").cell_contents
    w, rows = gw.ones(3, requires_grad=True), gw.ones(3)
    rows.numpy()
    for x in (gw.ones(3), rows, gw.from_numpy(np.ones(3, np.float32))):
        for given in ((x, w), (w, x), (x, x), (w, w)):
            before = loop.taken
            quick(*given)
            assert loop.taken == before + 1


def test_nothing_is_kept():
    """What 100,000 calls leave behind: as many references and objects as before."""
    x, y = gw.ones(3, requires_grad=True), gw.rand(3, requires_grad=True)
    number = gw.tensor(1.0)
    watched = [x, y, x._node, y._node, x.array, y.array, x._counter, number, None.__class__]

    def work(n):
        for k in range(n):
            out = (x * y).exp() / 2.0 - 1 + number
            if k % 3 == 0:
                (out * 2.0).sum()
            1.0 - out
            with suppress(TypeError):
                x * [1]
            with gw.no_grad():
                x * y

    work(100)
    gc.collect()
    objects, before = len(gc.get_objects()), [sys.getrefcount(w) for w in watched]
    work(5000)
    gc.collect()
    assert [sys.getrefcount(w) for w in watched] == before
    assert abs(len(gc.get_objects()) - objects) < 50


def test_in_threads():
    x = gw.rand(1000, requires_grad=True)
    found = []

    def work():
        found.extend((x * 2.0 * x).exp().sum().item() for _ in range(300))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 1200
    assert len(set(found)) == 1


def test_a_finished_tensor_lacks_nothing():
    """One with a slot that is unset is for the twin, and so is its error."""
    quick, twin = both(table["exp"])
    for name in ("array", "_node", "_counter", "_view"):
        x = gw.ones(2, requires_grad=True)
        delattr(x, name)
        assert outcome(quick, x) == outcome(twin, x)
