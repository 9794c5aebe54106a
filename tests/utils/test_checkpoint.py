"""Checkpointing. Tests that ask for `T` run the same program on gradwright and on PyTorch."""

import gc
import importlib
import random
import tracemalloc
import warnings
import weakref

import numpy as np
import pytest

import gradwright

WAYS = pytest.mark.parametrize("reentrant", [False, True])


def module(T):
    return importlib.import_module(f"{T.__name__}.utils.checkpoint")


def without(T):
    """`checkpoint` in the way without reentrance."""
    checkpoint = module(T).checkpoint
    return lambda *args, **kwargs: checkpoint(*args, use_reentrant=False, **kwargs)


def vector(T, *data, grad=True):
    return T.tensor(data or (0.5, 1.0, 2.0), dtype=T.float64, requires_grad=grad)


class Counted:
    """A function that counts its calls, and the operations that it gets to."""

    def __init__(self, *steps):
        self.steps, self.calls, self.done = steps, 0, 0

    def __call__(self, x):
        self.calls += 1
        for step in self.steps:
            x = step(x)
            self.done += 1
        return x


@pytest.fixture
def no_gc():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-12, atol=1e-14)


# -- values and gradients --


@WAYS
def test_the_gradients_are_those_of_the_function(T, reentrant):
    f = Counted(T.sin, T.exp, lambda x: x * x, T.cos)
    x, w = vector(T), vector(T)
    y = module(T).checkpoint(f, x, use_reentrant=reentrant)
    z = f(w)
    close(y, z)
    (y * y).sum().backward()
    (z * z).sum().backward()
    close(x.grad, w.grad)
    assert f.calls == 3
    assert f.done == (12 if reentrant else 11)  # the last operation saves its argument, not its result


def test_every_pass_runs_the_function_once(T):
    f = Counted(T.sin, T.exp, T.tanh)
    x = vector(T)
    y = without(T)(f, x).sum()
    for k in range(1, 4):
        y.backward(retain_graph=True)
        assert f.calls == 1 + k
    T.autograd.grad(y, x)
    assert f.calls == 5
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()


def test_second_derivatives(T):
    x, w = vector(T), vector(T)
    f = lambda x: (x.sin() * x).exp()
    for g, t in ((without(T), x), (lambda f, x: f(x), w)):
        (first,) = T.autograd.grad(g(f, t).sum(), t, create_graph=True)
        (second,) = T.autograd.grad((first * first).sum(), t, create_graph=True)
        second.sum().backward()
    close(x.grad, w.grad)


def test_backward_for_some_inputs(T):
    x, y = vector(T), vector(T, 1.0, 2.0, 3.0)
    out = without(T)(lambda x, y: (x * y).exp() * y, x, y).sum()
    out.backward(inputs=[y], retain_graph=True)
    assert x.grad is None
    expected = T.autograd.grad(((x * y).exp() * y).sum(), y)[0]
    close(y.grad, expected)
    out.backward()
    close(y.grad, 2 * expected)


def test_keyword_arguments_and_containers(T):
    x, y, z = vector(T), vector(T), vector(T)

    def f(a, parts, scale, *, extra, how="exp"):
        assert scale == 3
        return {"sum": (a * parts[0]["y"] * scale, extra.sin()), "how": how, "none": None}

    out = without(T)(f, x, [{"y": y}], 3, extra=z, how="so")
    assert (out["how"], out["none"]) == ("so", None)
    (out["sum"][0] * out["sum"][1]).sum().backward()
    a, b, c = vector(T), vector(T), vector(T)
    (a * b * 3 * c.sin()).sum().backward()
    for got, wanted in ((x, a), (y, b), (z, c)):
        close(got.grad, wanted.grad)


@WAYS
def test_several_outputs(T, reentrant):
    x = vector(T)
    a, b = module(T).checkpoint(lambda x: (x.sin(), x.exp()), x, use_reentrant=reentrant)
    (a * b).sum().backward()
    w = vector(T)
    (w.sin() * w.exp()).sum().backward()
    close(x.grad, w.grad)
    x.grad = None
    a, b = module(T).checkpoint(lambda x: (x.sin(), x.exp()), x, use_reentrant=reentrant)
    b.sum().backward()
    close(x.grad, x.exp())


@WAYS
def test_parameters_that_the_function_closes_over(T, reentrant):
    T.manual_seed(0)
    layer = T.nn.Linear(3, 2).double()
    x = vector(T).detach().reshape(1, 3).requires_grad_()
    module(T).checkpoint(lambda x: layer(x).tanh(), x, use_reentrant=reentrant).sum().backward()
    got = [p.grad.clone() for p in layer.parameters()]
    layer.zero_grad()
    layer(x).tanh().sum().backward()
    for g, p in zip(got, layer.parameters(), strict=True):
        close(g, p.grad)


def test_no_input_that_requires_grad(T):
    layer = T.nn.Linear(3, 2)
    without(T)(layer, T.ones(1, 3)).exp().sum().backward()
    assert layer.weight.grad is not None
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True. Gradients will be None"):
        out = module(T).checkpoint(layer, T.ones(1, 3), use_reentrant=True)
    assert not out.requires_grad


def test_detached_outputs(T):
    x = vector(T)
    a, b = without(T)(lambda x: (x.exp().detach(), x * 2), x)
    assert (a.requires_grad, b.requires_grad) == (False, True)
    b.sum().backward()
    with pytest.raises(RuntimeError, match="none of output has requires_grad=True"):
        module(T).checkpoint(lambda x: x.exp().detach(), x, use_reentrant=True).sum().backward()


@WAYS
@pytest.mark.filterwarnings("ignore:None of the inputs")  # where the outer, reentrant one runs forward
def test_nested(T, reentrant):
    checkpoint = module(T).checkpoint
    inner, other = Counted(T.sin, T.exp), Counted(T.cos, T.tanh)
    x, w = vector(T), vector(T)

    def outer(x):
        y = checkpoint(inner, x * 2, use_reentrant=reentrant)
        return checkpoint(other, y * y, use_reentrant=reentrant) * y

    y = checkpoint(outer, x, use_reentrant=reentrant)
    y.sum().backward()
    inside = w.mul(2).sin().exp()
    ((inside * inside).cos().tanh() * inside).sum().backward()
    close(x.grad, w.grad)
    assert inner.calls == 3


def test_nested_to_second_order(T):
    checkpoint = without(T)
    f = lambda x: checkpoint(lambda y: checkpoint(T.sin, y * 2).exp() * y, x.cos())
    plain = lambda x: (x.cos() * 2).sin().exp() * x.cos()
    found = []
    for g in (f, plain):
        x = vector(T)
        (first,) = T.autograd.grad(g(x).sum(), x, create_graph=True)
        found.append(T.autograd.grad((first**2).sum(), x)[0])
    close(*found)


def test_in_place_operations_inside(T):
    def f(x):
        y = x * 2
        y.mul_(x).sin_()
        y[0] = x[1] * 3
        return y.exp_() + T.nn.functional.elu(x - 1, inplace=True)

    x, w = vector(T), vector(T)
    without(T)(f, x).sum().backward()
    f(w).sum().backward()
    close(x.grad, w.grad)


def test_functions_of_users_inside(T):
    class Cube(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, None)
            return x**3

        @staticmethod
        def backward(ctx, g):
            return g * 3 * ctx.saved_tensors[0] ** 2

    x = vector(T)
    without(T)(lambda x: Cube.apply(x.exp()).sin(), x).sum().backward()
    w = vector(T)
    (w.exp() ** 3).sin().sum().backward()
    close(x.grad, w.grad)


def test_a_function_that_reads_its_saved_values_twice():
    """An error in PyTorch."""

    class Square(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0] + g * ctx.saved_tensors[0]

    x = vector(gradwright)
    without(gradwright)(Square.apply, x).sum().backward()
    close(x.grad, 2 * x)


def test_backward_inside_of_the_function(T):
    def f(x):
        y = x.sin()
        z = y.exp()
        (g,) = T.autograd.grad(z.sum(), x)
        return x.cos() * g

    found = []
    for g in (f, lambda x: without(T)(f, x), lambda x: without(T)(f, x, early_stop=False)):
        x = vector(T)
        g(x).sum().backward()
        found.append(x.grad)
    close(found[0], found[1])
    close(found[0], found[2])


def test_saved_attributes(T):
    x = vector(T)
    y = without(T)(lambda x: (x * x).exp(), x)
    node = y.grad_fn
    close(node._saved_result, y)
    close(node._saved_result, y)
    y.sum().backward()
    close(x.grad, 2 * x * y)


def test_inside_and_around_saved_tensor_hooks(T):
    hooks, counts = T.autograd.graph.saved_tensors_hooks, [0, 0]

    def on(k):
        def pack(t):
            counts[k] += 1
            return t.detach().clone()

        return hooks(pack, lambda t: t)

    def f(x):
        y = x.sin()
        with on(1):
            y = y.exp()
        return y.cos()

    x = vector(T)
    with on(0):
        y = without(T)(f, x)
    assert counts == [1, 1]  # the argument, and the result of exp
    y.sum().backward()
    assert counts == [1, 2]
    w = vector(T)
    w.sin().exp().cos().sum().backward()
    close(x.grad, w.grad)


# -- modes --


@WAYS
def test_without_gradients(T, reentrant):
    f = Counted(T.sin)
    x = vector(T)
    for mode in (T.no_grad, T.inference_mode):
        with mode():
            y = module(T).checkpoint(f, x, use_reentrant=reentrant)
        assert not y.requires_grad
    assert f.calls == 2


@WAYS
def test_backward_under_no_grad(T, reentrant):
    x = vector(T)
    y = module(T).checkpoint(lambda x: x.sin().exp(), x, use_reentrant=reentrant).sum()
    with T.no_grad():
        y.backward()
        assert not T.is_grad_enabled()
    close(x.grad, x.cos() * x.sin().exp())


@WAYS
def test_backward_under_inference_mode(T, reentrant):
    """Nothing can be recorded again there."""
    y = module(T).checkpoint(lambda x: (x * 2).sin(), vector(T), use_reentrant=reentrant).sum()
    message = "none of output has requires_grad=True" if reentrant else "A different number of tensors was saved"
    with pytest.raises(RuntimeError, match=message), T.inference_mode():
        y.backward()


def test_under_anomaly_mode(T):
    x = vector(T)
    with T.autograd.detect_anomaly():
        without(T)(lambda x: x.sin().exp(), x).sum().backward()
    close(x.grad, x.cos() * x.sin().exp())


def test_modes_inside_of_the_function(T):
    x, seen = vector(T), []

    def f(x):
        seen.append(T.is_grad_enabled())
        with T.no_grad():
            scale = x.exp()
        return (x * scale).sin()

    without(T)(f, x).sum().backward()
    assert seen == [True, True]
    w = vector(T)
    (w * w.detach().exp()).sin().sum().backward()
    close(x.grad, w.grad)


@WAYS
def test_random_numbers_are_drawn_again(T, reentrant):
    masks = []

    def f(x):
        y = T.nn.functional.dropout(x, 0.5, True)
        masks.append((y != 0).tolist())
        return y * T.rand(64, dtype=T.float64)

    T.manual_seed(3)
    x = T.ones(64, dtype=T.float64, requires_grad=True)
    y = module(T).checkpoint(f, x, use_reentrant=reentrant)
    T.rand(2)
    state = T.get_rng_state()
    y.sum().backward()
    assert masks[0] == masks[1]
    close(x.grad, y)
    assert T.get_rng_state().tolist() == state.tolist()


@WAYS
def test_random_numbers_are_not_drawn_again_if_not_wanted(T, reentrant):
    masks = []

    def f(x):
        masks.append(T.rand(8).tolist())
        return x.exp()

    x = vector(T)
    module(T).checkpoint(f, x, use_reentrant=reentrant, preserve_rng_state=False).sum().backward()
    assert masks[0] != masks[1]


# -- early stop, contexts --


def test_early_stop(T):
    f = Counted(T.sin, lambda x: x + 1, lambda x: x * 3, lambda x: x - 1)
    settings = module(T)
    for early, done in ((True, 4), (False, 8)):
        f.done = 0
        without(T)(f, vector(T), early_stop=early).sum().backward()
        assert f.done == done
        f.done = 0
        with settings.set_checkpoint_early_stop(not early):
            y = without(T)(f, vector(T), early_stop=early)
        y.sum().backward()
        assert f.done == 12 - done


def test_early_stop_is_not_caught():
    """PyTorch's is: it is an Exception."""

    def f(x):
        try:
            return x.sin() + 1
        except Exception as e:
            raise AssertionError from e

    x = vector(gradwright)
    without(gradwright)(f, x).sum().backward()
    close(x.grad, x.cos())


def test_contexts(T):
    events = []

    class Context:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            events.append(f"{self.name} in")

        def __exit__(self, *exc):
            events.append(f"{self.name} out")

    def f(x):
        events.append("f")
        return x.sin()

    x = vector(T)
    y = without(T)(f, x, context_fn=lambda: (Context("first"), Context("again")))
    assert events == ["first in", "f", "first out"]
    y.sum().backward()
    assert events[3:] == ["again in", "f", "again out"]


def test_a_context_that_suppresses(T):
    class Context:
        def __enter__(self):
            return None

        def __exit__(self, *exc):
            return True

    def f(x):
        raise KeyError

    with pytest.raises(RuntimeError, match="context_fn suppressed an exception raised during"):
        without(T)(f, vector(T), context_fn=lambda: (Context(), Context()))


@WAYS
def test_an_exception_in_the_function(T, reentrant):
    fails = [True]

    def f(x):
        if fails[0]:
            raise KeyError("inside")
        return x.sin().exp()

    x = vector(T)
    with pytest.raises(KeyError, match="inside"):
        module(T).checkpoint(f, x, use_reentrant=reentrant)
    fails[0] = False
    y = module(T).checkpoint(f, x, use_reentrant=reentrant).sum()
    fails[0] = True
    with pytest.raises(KeyError, match="inside"):
        y.backward(retain_graph=True)
    assert x.grad is None
    assert T.is_grad_enabled()
    fails[0] = False
    y.backward()
    close(x.grad, x.cos() * x.sin().exp())


# -- what is refused --


def test_use_reentrant_should_be_passed(T):
    x = vector(T)
    message = "the use_reentrant parameter should be passed explicitly"
    with pytest.warns(UserWarning, match=f"torch.utils.checkpoint: {message}|checkpoint.checkpoint: {message}"):
        y = module(T).checkpoint(T.sin, x)
    assert type(y.grad_fn).__name__ == "CheckpointFunctionBackward"
    with pytest.warns(UserWarning, match=f"checkpoint_sequential: {message}"):
        module(T).checkpoint_sequential([T.sin], 1, x)


def test_reentrant_refusals(T):
    checkpoint, x = module(T).checkpoint, vector(T)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
        checkpoint(T.sin, x, use_reentrant=True, scale=3)
    for options in ({"context_fn": lambda: None}, {"debug": True}):
        with pytest.raises(ValueError, match="Passing `context_fn` or `debug` is only supported when use_reentrant="):
            checkpoint(T.sin, x, use_reentrant=True, **options)
    message = "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad"
    y = checkpoint(T.sin, x, use_reentrant=True).sum()
    with pytest.raises(RuntimeError, match=message):
        T.autograd.grad(y, x, retain_graph=True)
    with pytest.raises(RuntimeError, match=message):
        y.backward(inputs=[x], retain_graph=True)
    y.backward()
    close(x.grad, x.cos())


def test_reentrant_second_derivatives_are_refused():
    """In PyTorch they are silently missing."""
    x = vector(gradwright)
    y = module(gradwright).checkpoint(lambda x: x.sin() * x, x, use_reentrant=True)
    y.sum().backward(create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        x.grad.sum().backward()


def test_options_that_are_wrong(T):
    x = vector(T)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        without(T)(T.sin, x, determinism_check="values")
    with pytest.raises(ValueError, match="debug=True is incompatible with non-default context_fn"):
        without(T)(T.sin, x, debug=True, context_fn=lambda: None)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: size"):
        module(T).checkpoint_sequential([T.sin], 1, x, use_reentrant=False, size=3)


def test_an_argument_that_was_changed(T):
    w = vector(T)
    x = w * 2
    y = without(T)(T.sin, x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    assert w.grad is None


# -- in pieces --


@WAYS
@pytest.mark.parametrize("segments", [1, 2, 3, 4])
def test_sequential(T, reentrant, segments):
    T.manual_seed(1)
    n = T.nn

    class Dropout(n.Module):
        def forward(self, x):
            return n.functional.dropout(x, 0.5)

    layers = n.Sequential(n.Linear(3, 4), n.Tanh(), n.Linear(4, 4), Dropout(), n.Linear(4, 1)).double()
    x, w = vector(T), vector(T)
    for container in (layers, list(layers)):
        T.manual_seed(2)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            out = module(T).checkpoint_sequential(container, segments, x.reshape(1, 3), use_reentrant=reentrant)
        out.sum().backward()
    T.manual_seed(2)
    expected = layers(w.reshape(1, 3))
    expected.sum().backward()
    close(out, expected)
    close(x.grad, 2 * w.grad)


def test_sequential_runs_again_all_but_the_last_piece(T):
    steps = [Counted(T.sin) for _ in range(7)]
    module(T).checkpoint_sequential(steps, 3, vector(T), use_reentrant=False).sum().backward()
    assert [s.calls for s in steps] == [2, 2, 2, 2, 1, 1, 1]


# -- at random --


def _network(T, rng, pieces):
    """A random function of x, and its like with checkpoints around random pieces of it."""
    weights = [T.tensor(rng.normal(size=(3, 3)), dtype=T.float64, requires_grad=True) for _ in range(2)]
    makers = [
        T.sin, T.tanh, T.sigmoid, lambda x: x @ weights[0], lambda x: (x @ weights[1]).exp() * 0.1, lambda x: x * x,
        lambda x: T.cat([x[1:], x[:1] * 2]), lambda x: x + x.mean(), lambda x: (x * 1).mul_(x).cos_(),
        lambda x: T.softmax(x, -1) * x, lambda x: T.stack(list(x.unbind(0))).t(), lambda x: x - x.amax(0),
        lambda x: T.nn.functional.leaky_relu(x, 0.2),
    ]  # fmt: skip
    chosen = [makers[k] for k in rng.integers(0, len(makers), pieces)]
    draw = random.Random(int(rng.integers(1 << 30)))

    def nest(steps, depth):
        if len(steps) < 2 or depth > 2:
            return steps
        a, b = sorted(draw.sample(range(len(steps) + 1), 2))
        inside = nest(steps[a:b], depth + 1)
        return [*steps[:a], lambda x: without(T)(_chain(inside), x), *nest(steps[b:], depth + 1)]

    return _chain(chosen), _chain(nest(chosen, 0)), weights


def _chain(steps):
    def run(x):
        for step in steps:
            x = step(x)
        return x

    return run


@pytest.mark.parametrize("seed", range(40))
def test_random_pieces_of_random_networks(T, seed):
    rng = np.random.default_rng(seed)
    data = rng.normal(size=(3, 3))
    plain, checkpointed, weights = _network(T, rng, 8)
    found = []
    for f in (plain, checkpointed):
        x = T.tensor(data, dtype=T.float64, requires_grad=True)
        inputs = (x, *weights)
        out = f(x)
        first = T.autograd.grad((out * out).sum(), inputs, create_graph=True, allow_unused=True)
        total = sum((g * g).sum() for g in first if g is not None)
        second = T.autograd.grad(total, inputs, allow_unused=True, retain_graph=True)
        again = T.autograd.grad(total, inputs, allow_unused=True)
        found.append([out, *first, *second, *again])
    for a, b in zip(*found, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            close(a, b)


# -- memory --


def _peak(use):
    layers = [gradwright.nn.Linear(8, 8) for _ in range(16)]
    steps = [s for layer in layers for s in (layer, gradwright.tanh, gradwright.exp, gradwright.sin)]
    x = gradwright.rand(1024, 8, requires_grad=True)
    use(steps, x).sum().backward()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    out = use(steps, x).sum()
    held = tracemalloc.get_traced_memory()[0] - before
    out.backward()
    peak = tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()
    return held, peak


@WAYS
def test_less_memory(reentrant):
    sequential = module(gradwright).checkpoint_sequential
    plain = _peak(lambda steps, x: _chain(steps)(x))
    held, peak = _peak(lambda steps, x: sequential(steps, 4, x, use_reentrant=reentrant))
    assert held < 0.45 * plain[0]
    assert peak < 0.7 * plain[1]


def test_nested_checkpoints_hold_less_still():
    def nested(steps, x):
        if len(steps) <= 8:
            return without(gradwright)(_chain(steps), x)
        half = len(steps) // 2
        return without(gradwright)(lambda x: nested(steps[half:], nested(steps[:half], x)), x)

    flat = _peak(lambda steps, x: module(gradwright).checkpoint_sequential(steps, 8, x, use_reentrant=False))
    held, peak = _peak(nested)
    assert held < 0.5 * flat[0]
    assert peak < flat[1]


@WAYS
@pytest.mark.filterwarnings("ignore:None of the inputs")
def test_nothing_is_kept(no_gc, reentrant):
    checkpoint = module(gradwright).checkpoint

    def f(x):
        return checkpoint(lambda x: x.sin().exp(), x * 2, use_reentrant=reentrant).cos()

    def watch(out):
        return [weakref.ref(out.grad_fn), weakref.ref(out)]

    layer = gradwright.nn.Linear(3, 3).double()
    for create_graph in (False, True) if not reentrant else (False,):
        for run_backward in (True, False):
            x = vector(gradwright)
            out = checkpoint(lambda x: f(layer(x).exp()), x, use_reentrant=reentrant)
            refs = [*watch(out), weakref.ref(x)]
            if run_backward and create_graph:
                (g,) = gradwright.autograd.grad(out.sum(), x, create_graph=True)
                g.sum().backward()
                del g
            elif run_backward:
                out.sum().backward()
            layer.zero_grad()
            x.grad = None
            del out, x
            assert [ref() for ref in refs] == [None, None, None]


def test_values_are_gone_as_soon_as_they_are_used(no_gc):
    """All but the one that backward is at."""
    alive = []

    class Watched(gradwright.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            arrays.append(weakref.ref(y.array))
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            alive.append(sum(ref() is not None for ref in arrays))
            return g * y

    arrays = []
    x = gradwright.zeros(4, requires_grad=True)
    y = without(gradwright)(lambda x: Watched.apply(Watched.apply(Watched.apply(x) * 0.1) * 0.1) + 0, x).sum()
    assert sum(ref() is not None for ref in arrays) == 0
    y.backward(retain_graph=True)
    assert alive == [3, 2, 1]
    assert sum(ref() is not None for ref in arrays) == 0
