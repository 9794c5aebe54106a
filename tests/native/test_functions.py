"""Functions of users whose apply, ctx and backward the core runs beside the same ones by Python alone."""

from __future__ import annotations

import gc
import sys
import threading
import weakref
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

import gradwright as gw
from gradwright import native
from gradwright.verify.gradcheck import gradcheck
from tests.functions import Function, function
from tests.native.ways import ASKING, both, outcome, seen

pytestmark = pytest.mark.skipif(native.core is None, reason=f"core: {native.state()}")


def keep(ctx, *given):
    ctx.save_for_backward(*given)


def ignores(ctx, g):
    return g * 1


BUFFER = np.ones(3)
SEEN = []
HELD = SimpleNamespace()


def saves_input(ctx, x):
    ctx.save_for_backward(x)
    return x * x


def saves_output(ctx, x):
    y = x.exp()
    ctx.save_for_backward(y)
    return y


def saves_both_and_none(ctx, x):
    y = x * 2.0
    ctx.save_for_backward(x, None, y, x)
    return y


def saves_intermediate(ctx, x):
    z = x.sin()
    ctx.save_for_backward(x, z)
    return z * x


def saves_a_constant(ctx, x):
    ctx.save_for_backward(gw.ones(3, dtype=gw.float64), x)
    return x * 3.0


def has_attributes(ctx, x):
    ctx.factor, ctx.x, ctx.names = 2.0, x, ["a"]
    return x * ctx.factor


def gives_the_input(ctx, x):
    return x


def gives_a_view(ctx, x):
    return x[:]


def gives_detached(ctx, x):
    return x.detach()


def gives_a_number(ctx, x):
    return x.sum()


def gives_two(ctx, x):
    return x * 2.0, x.exp()


def gives_a_list(ctx, x):
    return [x * 2.0]


def gives_nothing(ctx, x):
    x * 2.0


def gives_an_array(ctx, x):
    return x.numpy() * 2


def gives_integers(ctx, x):
    return (x * 2.0).long()


def gives_held(ctx, x):
    HELD.out = x * 2.0
    return HELD.out


def gives_a_buffer(ctx, x):
    np.multiply(x.numpy(), 2, out=BUFFER)
    return gw.from_numpy(BUFFER)


def gives_written(ctx, x):
    y = x * 2.0
    y.add_(1)
    return y


def writes_its_input(ctx, x):
    x.add_(1)
    return x * 2.0


def writes_dirty(ctx, x):
    x.mul_(2)
    ctx.mark_dirty(x)
    return x


def is_flat(ctx, x):
    y = x * 2.0
    ctx.mark_non_differentiable(y)
    return y


def by_numpy(ctx, x):
    return gw.from_numpy(np.sin(x.detach().numpy()))


def raises(ctx, x):
    raise ValueError(f"no {len(SEEN)}")


def divides(ctx, x):
    np.array([1.0]) / 0
    return x / 0.0


def saves_no_tensor(ctx, x):
    ctx.save_for_backward(x, 2.0)
    return x


def enables(ctx, x):
    with gw.enable_grad():
        y = x * 2.0
        (y * y).sum().backward()
    return x * 3.0


def uses_another(ctx, x):
    return saves_input(SimpleNamespace(save_for_backward=lambda *t: None), x) * HELD.w


def runs_another(ctx, x):
    return INNER.apply(x) * 2.0


INNER = function("Inner", saves_input, lambda ctx, g: g * ctx.saved_tensors[0])

FORWARD = [saves_input, saves_output, saves_both_and_none, saves_intermediate, saves_a_constant, has_attributes,
           gives_the_input, gives_a_view, gives_detached, gives_a_number, gives_two, gives_a_list, gives_nothing,
           gives_an_array, gives_integers, gives_held, gives_a_buffer, gives_written, writes_its_input, writes_dirty,
           is_flat, by_numpy, raises, divides, saves_no_tensor, enables, uses_another, runs_another]  # fmt: skip


def reads_saved(ctx, *gs):
    first, *_ = ctx.saved_tensors or [1]
    return gs[0] * first


def reads_all(ctx, *gs):
    SEEN.append([(seen(t.detach()) if t is not None else None, t is not None and t.is_leaf,
                  t is not None and type(t.grad_fn).__name__) for t in ctx.saved_tensors])  # fmt: skip
    SEEN.append((ctx.needs_input_grad, gw.is_grad_enabled(), np.geterr(), sorted(vars(ctx))))
    return gs[0] * 1


def hands_on(ctx, *gs):
    return gs[0]


def gives_none(ctx, *gs):
    return None


def gives_too_many(ctx, *gs):
    return gs[0], gs[0]


def gives_nones_behind(ctx, *gs):
    return gs[0] * 1, None, None


def gives_another_shape(ctx, *gs):
    return gw.ones(2, 3, dtype=gw.float64) * gs[0]


def gives_another_dtype(ctx, *gs):
    return gs[0].float()


def gives_an_array_back(ctx, *gs):
    return gs[0].numpy()


def gives_held_back(ctx, *gs):
    HELD.back = gs[0] * 1
    return HELD.back


def gives_buffer_back(ctx, *gs):
    np.multiply(gs[0].numpy(), 2, out=BUFFER)
    return gw.from_numpy(BUFFER)


def gives_a_view_back(ctx, *gs):
    return gw.stack([gs[0], gs[0]])[0]


def writes_its_cotangent(ctx, *gs):
    gs[0].mul_(2)
    return gs[0]


def writes_by_data(ctx, *gs):
    gs[0].data.mul_(2)
    return gs[0]


def writes_saved(ctx, *gs):
    ctx.saved_tensors[0].mul_(2)
    return gs[0]


def raises_back(ctx, *gs):
    raise KeyError("backward")


def divides_back(ctx, *gs):
    return gs[0] * gw.from_numpy(np.array([1.0]) / np.array([0.0]))


def runs_a_pass(ctx, *gs):
    with gw.enable_grad():
        z = gs[0].detach().requires_grad_()
        (z * z).sum().backward()
    return z.grad


BACKWARD = [reads_saved, reads_all, hands_on, gives_none, gives_too_many, gives_nones_behind, gives_another_shape,
            gives_another_dtype, gives_an_array_back, gives_held_back, gives_buffer_back, gives_a_view_back,
            writes_its_cotangent, writes_by_data, writes_saved, raises_back, divides_back, runs_a_pass]  # fmt: skip


def nodes(t):
    """What is seen of the node of a result: what it saves and its other slots."""
    node = t.grad_fn
    if node is None:
        return None
    kept = [p if p is None else (p[0].tobytes(), p[1], p[2], type(p[3]).__name__) for p in node._saved or ()]
    slots = [getattr(node, n, "unset") for n in ("_needs", "_metas", "_outputs", "_materialize", "_dirty", "_flat",
                                                  "_to_save")]  # fmt: skip
    return (type(node).__name__, kept, slots, vars(node), node._replay is None, [type(n).__name__ for n in node._next],
            [k for k, ref in getattr(node, "_given", {}).items() if ref() is not None], t.is_leaf)  # fmt: skip


def program(forward, backward, scalar=False):
    """One Function in the middle of a graph: everything that is seen of it."""

    def run():
        del SEEN[:]
        BUFFER[:] = 1
        x = gw.tensor(0.5 if scalar else [0.5, 1.0, 2.0], dtype=gw.float64, requires_grad=True)
        HELD.w = gw.tensor(2.0, dtype=gw.float64, requires_grad=True)
        F = function("F", forward, backward)
        found = []

        def once(given, **how):
            y = F.apply(given)
            first = y[0] if isinstance(y, (tuple, list)) else y
            found.append((seen(first.detach()), nodes(first), first._is_view(), first is given))
            (first * first).sum().backward(**how)
            found.append((seen(x.grad), first.grad_fn and first.grad_fn._saved))
            return first

        found.append(outcome(lambda: once(x) and None))
        found.append(outcome(lambda: once(x * 1.5, retain_graph=True).sum().backward()))
        found.append(outcome(lambda: once(x.detach() * 1.5) and None))
        with gw.no_grad():
            found.append(outcome(lambda: F.apply(x) is x))
        (z,) = gw.ones(1, 3, dtype=gw.float64, requires_grad=True)
        found.append(outcome(lambda: once(z * x) and None))
        found.append(outcome(lambda: seen(gw.autograd.grad(F.apply(x * 1).sum(), x, create_graph=True)[0])[:6]))
        found += SEEN
        return found

    return run


@pytest.mark.parametrize("backward", BACKWARD, ids=lambda f: f.__name__)
def test_backwards(backward):
    for forward in (saves_input, saves_output, saves_both_and_none, gives_the_input, has_attributes):
        both(program(forward, backward))
    both(program(saves_input, backward, scalar=True))


@pytest.mark.parametrize("forward", FORWARD, ids=lambda f: f.__name__)
def test_forwards(forward):
    for backward in (ignores, reads_saved, reads_all):
        both(program(forward, backward))
    both(program(forward, reads_saved, scalar=True))


class Wide(Function):
    def forward(ctx, x, k, y, name=None, *more):
        ctx.save_for_backward(y, x)
        ctx.k = k
        return x * k + y

    def backward(ctx, g):
        y, x = ctx.saved_tensors
        SEEN.append(ctx.needs_input_grad)
        return g * ctx.k, None, g * 1, *[None] * (len(ctx.needs_input_grad) - 3)


class Contextless(Function):
    def forward(x, k=2.0):
        return x * k

    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)

    def backward(ctx, g):
        return g * ctx.saved_tensors[0], None


class Once(Function):
    clear_saved_tensors_on_access = True

    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2.0

    def backward(ctx, g):
        return ctx.saved_tensors[0] * g * len(ctx.saved_tensors)


class Twice(gw.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2.0

    @staticmethod
    @gw.autograd.function.once_differentiable
    def backward(ctx, g):
        return g * 2.0


ARGUMENTS = {
    "two tensors": lambda x, y: Wide.apply(x, 2.0, y),
    "one needs none": lambda x, y: Wide.apply(x, 2.0, y.detach()),
    "the same twice": lambda x, y: Wide.apply(x, 2, x),
    "more": lambda x, y: Wide.apply(x, 2.0, y, "name", None, 1, True, (1, 2), slice(1), len),
    "a tensor among others": lambda x, y: Wide.apply(x, 2.0, y, [y]),
    "keywords": lambda x, y: Wide.apply(x, k=2.0, y=y),
    "too few": lambda x, y: Wide.apply(x),
    "none": lambda x, y: Wide.apply(),
    "many": lambda x, y: Wide.apply(x, 2.0, y, None, *[1] * 20),
    "views": lambda x, y: Wide.apply((x * 1)[:], 2.0, y.view(-1)),
    "integers": lambda x, y: Wide.apply(x, gw.tensor(2), y),
    "half": lambda x, y: Wide.apply(x.half(), 2.0, y.half()).double(),
    "complex": lambda x, y: Wide.apply(x * 1j, 2.0, y * 1j).real,
    "float32": lambda x, y: Wide.apply(x.float(), 2.0, y.float()).double(),
    "not contiguous": lambda x, y: Wide.apply(gw.stack([x, x], 1)[:, 0], 2.0, y),
    "numbers": lambda x, y: Wide.apply(x.sum(), 2.0, y.sum()),
    "a parameter": lambda x, y: Wide.apply(gw.nn.Parameter(x.detach()), 2.0, y),
    "no ctx": lambda x, y: Contextless.apply(x) * y,
    "cleared": lambda x, y: Once.apply(x) * y,
    "once": lambda x, y: Twice.apply(x) * y,
    "empty": lambda x, y: Wide.apply(x[:0], 2.0, y[:0]),
    "written behind": lambda x, y: behind(x, y),
    "changed since": lambda x, y: changed(x, y),
    "watched": lambda x, y: watched(x, y),
    "in inference mode": lambda x, y: gw.inference_mode()(Wide.apply)(x, 2.0, y),
    "in a transform": lambda x, y: gw.func.vmap(lambda a: Contextless.apply(a))(x.reshape(3, 1)).reshape(3) * y,
    "jacobian": lambda x, y: gw.func.jacrev(lambda a: Wide.apply(a, 2.0, y))(x).sum(0),
    "saved hooks": lambda x, y: hooked(x, y),
    "by class": lambda x, y: gw.autograd.Function.apply.__func__(Wide, x, 2.0, y),
}  # fmt: skip


def behind(x, y):
    a = x * 1
    view = a[:]
    a.mul_(2)
    return Wide.apply(view, 2.0, y)


def changed(x, y):
    a = x * 1
    out = Wide.apply(a, 2.0, y)
    a.add_(1)
    return out


def watched(x, y):
    with gw.profiler.profile():
        return Wide.apply(x, 2.0, y)


def hooked(x, y):
    with gw.autograd.graph.saved_tensors_hooks(lambda t: t * 2, lambda t: t):
        return Wide.apply(x, 2.0, y)


@pytest.mark.parametrize("name", ARGUMENTS)
def test_arguments(name):
    def run():
        del SEEN[:]
        x, y = (gw.tensor([0.5, 1.0, k], dtype=gw.float64, requires_grad=True) for k in (2.0, 3.0))
        found = []
        for _ in range(2):
            out = ARGUMENTS[name](x, y)
            found.append((seen(out.detach()), out.grad_fn and out.grad_fn.name()))
            out.sum().backward()
            found.append((seen(x.grad), seen(y.grad)))
        out = ARGUMENTS[name](x, y)
        found.append([seen(t) for t in gw.autograd.grad(out.sum(), [x], allow_unused=True)])
        return found, SEEN

    both(run)


def test_changes_of_the_class_count():
    def run():
        F = function("F", saves_input, reads_saved)
        x = gw.ones(3, requires_grad=True)
        found = []
        for name, other in (("backward", hands_on), ("forward", saves_output), ("boxed_grads_call", True)):
            setattr(F, name, other if name.startswith("boxed") else staticmethod(other))
            found.append(outcome(lambda: F.apply(x).sum().backward() or seen(x.grad)))
        return found

    both(run)


def test_tracebacks_show_the_lines_of_the_user():
    def lines(backward, forward=saves_input):
        try:
            function("F", forward, backward).apply(gw.ones(3, requires_grad=True)).sum().backward()
        except (KeyError, ValueError) as error:
            found, trace = [], error.__traceback__
            while trace is not None:
                if "test_functions" in trace.tb_frame.f_code.co_filename:
                    found.append((trace.tb_frame.f_code.co_name, trace.tb_lineno))
                trace = trace.tb_next
            return found

    assert "'raises_back'" in repr(both(lambda: (lines(raises_back), lines(ignores, raises))))


def test_a_usual_function_is_run_by_the_core():
    F = function("F", saves_input, lambda ctx, g: g * ctx.saved_tensors[0] * ctx.needs_input_grad[0])
    x = gw.ones(3, requires_grad=True)
    F.apply(x).sum().backward()  # the first call reads the code
    before = [vars(f)["_core"].taken for f in ASKING]
    y = F.apply(x * 1)
    ran = native.core.function_counts()
    y.sum().backward()
    assert [vars(f)["_core"].taken - n for f, n in zip(ASKING, before, strict=True)] == [1, 1, 1, 1]
    assert [a - b for a, b in zip(native.core.function_counts(), ran, strict=True)] == [1, 0]
    left = vars(ASKING[-1])["_core"].taken
    assert gradcheck(F.apply, gw.rand(3, dtype=gw.float64, requires_grad=True), raise_exception=False) in (True, False)
    assert vars(ASKING[-1])["_core"].taken > left


def test_a_graph_with_functions_is_freed(no_gc):
    def run():
        F, G = function("F", saves_output, reads_saved), function("G", saves_intermediate, ignores)
        x = gw.ones(3, requires_grad=True)
        y = G.apply(F.apply(x * 2))
        refs = [weakref.ref(t) for t in (y, y.grad_fn, y.grad_fn.next_functions[0][0], y.array)]
        (y * y).sum().backward()
        del y
        return [r() is None for r in refs]

    assert both(run) == ("list", [True] * 4)


@pytest.mark.parametrize("what", ["hook", "attribute"])
def test_cycles_through_nodes_are_collected(what):
    """So nodes are known to the collector: what a hook or a ctx holds may lead back to them."""
    F = function("F", saves_input, ignores)
    x = gw.ones(3, requires_grad=True)
    y = F.apply(x) if what == "attribute" else x * 2.0
    z = ((y * 2.0).exp() * 3.0 + 1.0).sum()
    if what == "hook":
        y.register_hook(partial(len, z))
    else:
        y.grad_fn.later = z
    ref = weakref.ref(z.grad_fn)
    del y, z
    gc.collect()
    assert ref() is None


def test_nothing_is_kept():
    F = function("F", saves_both_and_none, lambda ctx, g: g * ctx.saved_tensors[0])
    G, H = function("G", has_attributes, lambda ctx, g: g * ctx.factor), function("H", raises)
    x = gw.rand(3, dtype=gw.float64, requires_grad=True)
    watched = [x, x._node, x.array, x._counter, F, G, F._node_class, gw.Tensor]

    def work(n):
        for k in range(n):
            x.grad = None
            del SEEN[:]
            y = F.apply(G.apply(x * 1))
            (y * y).sum().backward()
            if k % 5 == 0:
                outcome(lambda: H.apply(x))
                outcome(lambda: Wide.apply(x, 2.0, x, [x]).sum().backward())
                outcome(lambda: F.apply(x).backward())

    work(20)
    gc.collect()
    objects, before = len(gc.get_objects()), [sys.getrefcount(w) for w in watched]
    work(500)
    gc.collect()
    assert [sys.getrefcount(w) for w in watched] == before
    assert abs(len(gc.get_objects()) - objects) < 100


def test_in_threads():
    F = function("F", saves_both_and_none, lambda ctx, g: g * ctx.saved_tensors[0])
    found = []

    def work():
        for _ in range(200):
            x = gw.ones(3, requires_grad=True)
            F.apply(F.apply(x)).sum().backward()
            found.append(x.grad.tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 800
    assert set(map(tuple, found)) == {(2.0, 2.0, 2.0)}
