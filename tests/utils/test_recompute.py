"""What a checkpointed function uses, and running it again."""

import importlib
import random
import threading
import warnings
from contextlib import suppress
from functools import partial

import numpy as np
import pytest

import gradwright
import gradwright as gw
from gradwright.engine.mode import PLAIN, now
from gradwright.utils.checkpoint import CheckpointError, checkpoint, checkpoint_sequential
from gradwright.utils.recompute import Again, Aside, Forget, Remember, Surroundings
from tests.utils.checkpoints import WAYS, close

f64 = gw.float64


def leaf(*shape):
    gw.manual_seed(1)
    return gw.randn(*shape, dtype=f64).requires_grad_()


# -- random numbers --


OURS, THEIRS = gw.Generator(), np.random.default_rng(4)


def _several(source, n):
    return [source.random() for _ in range(n)]


SOURCES = {
    "NumPy's": lambda: lambda n: np.random.rand(n).tolist(),
    "Python's": lambda: lambda n: [random.gauss(0, 1) for _ in range(n)],
    "a generator of NumPy's": lambda: np.random.default_rng(5).random,
    "a random state": lambda: np.random.RandomState(5).rand,
    "one of Python's": lambda: partial(_several, random.Random(5)),
    "ours": lambda: lambda n: gw.rand(n, dtype=f64).tolist(),
    "a generator of ours": lambda: lambda n, g=OURS: gw.rand(n, generator=g, dtype=f64).tolist(),
    "one that is a default": lambda: lambda n, r=THEIRS: r.random(n).tolist(),
}


@WAYS
@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("preserve", [True, False])
def test_the_same_numbers(name, reentrant, preserve):
    draw, seen = SOURCES[name](), []

    def f(x):
        drawn = draw(3)
        seen.append(list(drawn))
        more = draw(1 + int(drawn[0] > 0.5))  # how many depends on the data
        return (x * gw.tensor(seen[-1], dtype=f64)).exp() * float(more[-1])

    x = leaf(3)
    y = checkpoint(f, x, use_reentrant=reentrant, preserve_rng_state=preserve)
    after = draw(4)
    y.sum().backward()
    assert (seen[0] == seen[1]) is preserve
    if preserve:
        close(x.grad, y * gw.tensor(seen[0], dtype=f64))
        y = checkpoint(f, x, use_reentrant=reentrant)
        at = draw(2)
        y.sum().backward()
        assert list(draw(2)) not in (list(at), list(after))  # what follows goes on


@WAYS
def test_a_generator_among_the_arguments(reentrant):
    ours, theirs, seen = gw.Generator(), [np.random.default_rng(1)], []

    def f(x, ours, theirs):
        seen.append((gw.rand(2, generator=ours).tolist(), theirs[0].random()))
        return x.exp()

    checkpoint(f, leaf(2), ours, theirs, use_reentrant=reentrant).sum().backward()
    assert seen[0] == seen[1]


@WAYS
@pytest.mark.filterwarnings("ignore:None of the inputs")  # where the outer, reentrant one runs forward
def test_numbers_in_nested_checkpoints_and_pieces(reentrant):
    seen = []

    class Noise(gw.nn.Module):
        def forward(self, x):
            seen.append((np.random.rand(), random.random(), gw.rand(1).item()))
            return gw.nn.functional.dropout(x * seen[-1][0], 0.5).sin()

    inner = Noise()
    outer = lambda x: checkpoint(inner, x * random.random(), use_reentrant=reentrant).exp()
    x = leaf(20)
    y = checkpoint(outer, x, use_reentrant=reentrant)
    y.sum().backward()
    assert len(seen) == 3
    assert seen[0] == seen[1] == seen[2]
    seen.clear()
    pieces = [Noise() for _ in range(4)]
    checkpoint_sequential(pieces, 2, x, use_reentrant=reentrant).sum().backward()
    assert seen[:2] == seen[4:]


# -- what was changed since --


@WAYS
@pytest.mark.parametrize("name", ["weight", "bias"])
def test_a_weight_that_an_optimiser_has_changed(reentrant, name):
    model = gw.nn.Sequential(gw.nn.Linear(3, 3), gw.nn.Tanh()).double()
    x = leaf(2, 3)
    y = checkpoint(lambda x: model(x), x, use_reentrant=reentrant)
    p = getattr(model[0], name)
    p.grad = gw.ones_like(p)
    gw.optim.SGD([p], lr=0.1).step()
    with pytest.raises(CheckpointError, match=rf"'model\.0\.{name}'.*changed since the forward pass") as caught:
        y.sum().backward()
    assert "SGD([p], lr=0.1).step()" in str(caught.value)
    assert "checkpointed at" in str(caught.value)
    assert x.grad is None


def _in_place(t):
    with gw.no_grad():
        t.mul_(2.0)


def _through_an_alias(t):
    t.detach().mul_(2.0)


def _other_memory(t):
    t.data = t.detach() * 2.0


@WAYS
@pytest.mark.parametrize("change", [_in_place, _through_an_alias, _other_memory])
@pytest.mark.parametrize("kind", ["leaf", "constant", "result", "alias"])
def test_a_tensor_that_was_changed(reentrant, change, kind):
    w = leaf(3)
    if kind in ("constant", "alias"):
        w = w.detach()
    w = w * 1 if kind == "result" else w
    f = (lambda x: (x * w.detach()).exp()) if kind == "alias" else (lambda x: (x + w).exp())
    y = checkpoint(f, leaf(3), use_reentrant=reentrant)
    change(w)
    with pytest.raises(CheckpointError, match="'w', which the function uses, has been changed"):
        y.sum().backward()


@WAYS
def test_a_variable_that_was_bound_anew(reentrant):
    """The classic: functions made in a loop all see the last value."""
    total = 0
    for scale in (gw.tensor(2.0, dtype=f64), gw.tensor(3.0, dtype=f64)):
        total = total + checkpoint(lambda x: (x * scale).exp(), leaf(2), use_reentrant=reentrant).sum()  # noqa: B023
    with pytest.raises(CheckpointError, match=r"'scale'.* is another one"):
        total.backward()
    total = 0
    for power in (2, 3):
        total = total + checkpoint(lambda x: x.exp() ** power, leaf(2), use_reentrant=reentrant).sum()  # noqa: B023
    with pytest.warns(gw.GradientWarning, match="'power'.* is 3 now and was 2"):
        total.backward()
    layer = gw.nn.Linear(2, 2).double()
    y = checkpoint(lambda x: layer(x).exp(), leaf(1, 2), use_reentrant=reentrant)
    layer.weight = gw.nn.Parameter(layer.weight.detach() * 2)
    with pytest.raises(CheckpointError, match=r"'layer\.weight'"):
        y.sum().backward()


@WAYS
def test_what_is_not_used_may_change(reentrant):
    class Model(gw.nn.Module):
        def __init__(self):
            super().__init__()
            self.used, self.step, self.other = gw.nn.Linear(2, 2), gw.tensor(0), gw.nn.Linear(2, 2)

        def forward(self, x):
            return self.used(x).exp()

    model = Model().double()
    optimizer = gw.optim.SGD(model.parameters(), lr=0.1)
    x = leaf(1, 2)
    for _ in range(2):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            y = checkpoint(model, x, use_reentrant=reentrant)
            model.step += 1
            _in_place(model.other.weight)
            y.sum().backward()
            optimizer.step()
            optimizer.zero_grad()


@WAYS
def test_frozen_statistics_that_moved(reentrant):
    norm = gw.nn.BatchNorm1d(2).double().eval()
    y = checkpoint(norm, leaf(4, 2), use_reentrant=reentrant)
    norm.train()(leaf(4, 2))
    norm.eval()
    with pytest.raises(CheckpointError, match="'running_"):
        y.exp().sum().backward()


# -- buffers --


class Own(gw.nn.Module):
    """Buffers in several ways, all of which the result depends on."""

    def __init__(self, saves=False):
        super().__init__()
        self.saves = saves
        self.register_buffer("count", gw.tensor(1.0, dtype=f64))
        self.register_buffer("mean", gw.zeros(3, dtype=f64))
        self.register_buffer("history", gw.zeros(4, 3, dtype=f64))
        self.last = None
        self.turn = 0

    def forward(self, x):
        with gw.no_grad():
            self.count.add_(1)
            self.mean.data.mul_(0.5).add_(x.mean(0))
            self.history[int(self.count) % 4] = x[0]
        count = self.count if self.saves else self.count.clone()
        y = x * count + self.mean * self.history.sum(0)
        if self.last is not None:
            y = y * self.last
        self.last = y.detach().sin()
        return y.exp() * count


def spectral():
    return gw.nn.utils.parametrizations.spectral_norm(gw.nn.Linear(3, 3))


NETS = {
    "batch norm": lambda: gw.nn.Sequential(gw.nn.Linear(3, 3), gw.nn.BatchNorm1d(3), gw.nn.Tanh()),
    "cumulative": lambda: gw.nn.Sequential(gw.nn.Linear(3, 3), gw.nn.BatchNorm1d(3, momentum=None), gw.nn.Tanh()),
    "spectral norm": lambda: gw.nn.Sequential(spectral(), gw.nn.Tanh(), spectral()),
    "own": lambda: gw.nn.Sequential(gw.nn.Linear(3, 3), Own(), gw.nn.Tanh()),
}


def _wrapped(net, how, reentrant):
    if how == "nested":
        run = lambda x: checkpoint(net, x, use_reentrant=reentrant).sin()
        return lambda x: checkpoint(run, x, use_reentrant=reentrant)
    if how == "pieces":
        return lambda x: checkpoint_sequential(net, 2, x, use_reentrant=reentrant).sin()
    if how == "closure":
        return lambda x: checkpoint(lambda x: net(x).sin(), x, use_reentrant=reentrant)
    if how == "argument":
        return lambda x: checkpoint(lambda net, x: net(x).sin(), net, x, use_reentrant=reentrant)
    return lambda x: checkpoint(net, x, use_reentrant=reentrant).sin()


@WAYS
@pytest.mark.filterwarnings("ignore:None of the inputs")
@pytest.mark.parametrize("name", NETS)
@pytest.mark.parametrize("how", ["plain", "closure", "argument", "nested", "pieces"])
def test_buffers_count_once(name, how, reentrant):
    found = []
    for wrapped in (False, True):
        gw.manual_seed(0)
        net = NETS[name]().double()
        run = _wrapped(net, how, reentrant) if wrapped else lambda x, net=net: net(x).sin()
        x = leaf(5, 3)
        for _ in range(2):  # both passes are open when the first goes back
            first, second = run(x), run(x * 0.5)
            (first * second).sum().backward()
        found.append([*net.state_dict().values(), x.grad, *(p.grad for p in net.parameters())])
    for a, b in zip(*found, strict=True):
        close(a, b)


@WAYS
def test_buffers_that_backward_needs(reentrant):
    """Without a checkpoint the first pass refuses: the second forward has written what it saved."""
    found = []
    for saves in (False, True):
        net, x = Own(saves).double(), leaf(5, 3)
        run = (lambda x, net=net: checkpoint(net, x, use_reentrant=reentrant)) if saves else net
        first, second = run(x), run(x * 0.5)
        (first * second).sum().backward()
        found.append(x.grad)
    close(*found)


def test_every_pass_leaves_them_as_they_are():
    net = NETS["own"]().double()
    y = checkpoint(net, leaf(5, 3), use_reentrant=False).sum()
    before = {name: value.tolist() for name, value in net.state_dict().items()}
    version = net[1].count._version
    for _ in range(3):
        y.backward(retain_graph=True)
    assert {name: value.tolist() for name, value in net.state_dict().items()} == before
    assert net[1].count._version == version


def test_another_graph_that_saved_a_buffer_is_not_disturbed():
    net = Own()
    y = checkpoint(net, leaf(2, 3), use_reentrant=False).sum()
    x = leaf()
    z = (x * net.count).sum()
    y.backward()
    z.backward()
    assert x.grad.item() == net.count.item() == 2.0


def test_an_array_over_a_buffer_is_not_taken_for_written():
    net = Own()
    array = net.count.numpy()
    y = checkpoint(net, leaf(2, 3), use_reentrant=False).sum()
    x = leaf()
    z = (x * net.count).sum()
    y.backward()
    z.backward()
    assert x.grad.item() == array == 2.0


def test_when_it_fails_they_are_put_back():
    net, fails = Own(), []

    def f(x):
        y = net(x)
        if fails:
            raise KeyError("so")
        return y.exp()

    y = checkpoint(f, leaf(2, 3), use_reentrant=False).sum()
    fails.append(1)
    before = {name: value.tolist() for name, value in net.state_dict().items()}
    with pytest.raises(KeyError):
        y.backward()
    assert {name: value.tolist() for name, value in net.state_dict().items()} == before


def test_over_another_library():
    strict = pytest.importorskip("gradwright.backends.strict")
    assert strict
    found = []
    for wrapped in (False, True):
        gw.manual_seed(0)
        net = gw.nn.Sequential(gw.nn.Linear(3, 3), gw.nn.BatchNorm1d(3), gw.nn.Tanh()).double()
        net.to("array-api-strict")
        x = leaf(5, 3).detach().to("array-api-strict").requires_grad_()
        y = checkpoint(net, x, use_reentrant=False) if wrapped else net(x)
        y.exp().sum().backward()
        found.append([t.cpu() for t in (*net.state_dict().values(), x.grad, *(p.grad for p in net.parameters()))])
    for a, b in zip(*found, strict=True):
        close(a, b)


class Doubled(gw.nn.Module):
    def forward(self, x):
        return (x * (2 if self.training else 3)).sin()


@WAYS
@pytest.mark.parametrize("net", [gw.nn.Dropout, Doubled, lambda: gw.nn.Sequential(gw.nn.BatchNorm1d(3), gw.nn.Tanh())])
def test_a_module_that_is_in_another_mode_than_in_forward(net, reentrant):
    net, x = net().double(), leaf(5, 3)
    y = checkpoint(net, x, use_reentrant=reentrant)
    net.eval()
    told = pytest.warns(gw.GradientWarning, match=r"training' is False now and was True .* train\(\) or eval\(\)")
    with told, suppress(CheckpointError):  # if that is noticed, too
        y.sum().backward()


@WAYS
@pytest.mark.filterwarnings("error")
def test_a_mode_that_makes_no_difference_or_is_the_same_again(reentrant):
    for net, changes in ((gw.nn.Linear(3, 3), (False,)), (gw.nn.Dropout(), (False, True))):
        x = leaf(5, 3).float().detach().requires_grad_()
        y = checkpoint(net, x, use_reentrant=reentrant)
        for mode in changes:
            net.train(mode)
        y.sum().backward()


@WAYS
@pytest.mark.parametrize("watch", [Surroundings, Forget, Again, Remember, Aside])
def test_an_interrupt_where_a_block_ends_leaves_nothing_on(monkeypatch, watch, reentrant):
    def interrupted(self, *exc):
        raise KeyboardInterrupt

    net, x = gw.nn.BatchNorm1d(3).double(), leaf(5, 3)
    with monkeypatch.context() as patch, suppress(KeyboardInterrupt):
        patch.setattr(watch, "__exit__", interrupted)
        checkpoint(net, x, use_reentrant=reentrant).sum().backward()
    assert now() is PLAIN


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("device", ["cpu", "array-api-strict"])
def test_two_passes_through_one_checkpoint(device, reentrant):
    x, w = (gw.tensor(values, device=device, requires_grad=True) for values in ([0.5, 1.0], [2.0, -1.0]))
    y = checkpoint(lambda x: (x * w).exp(), x, use_reentrant=reentrant).sum()
    for _ in range(2):
        y.backward(retain_graph=True)
    assert np.allclose(gw.backends.to_host(x.grad.array), 2 * np.array([2 * np.e, -1 / np.e]))


def module(T):
    return importlib.import_module(f"{T.__name__}.utils.checkpoint")


class Fickle:
    """Does one thing the first time, another from then on."""

    def __init__(self, first, then):
        self.first, self.then, self.calls = first, then, 0

    def __call__(self, x):
        self.calls += 1
        return (self.first if self.calls == 1 else self.then)(x)


def run(T, first, then, **options):
    x = T.tensor([0.5, 1.0, 2.0], dtype=T.float64, requires_grad=True)
    f = Fickle(first, then)
    return x, f, module(T).checkpoint(f, x, use_reentrant=False, **options).sum()


MORE = lambda x: x.sin().exp().cos()
LESS = lambda x: x.sin().exp()


def test_fewer_values(T):
    x, f, y = run(T, MORE, LESS)
    message = "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomp"
    numbers = r"(.|\n)*during forward: 3\n(.|\n)*during recomputation: 2"
    with pytest.raises(module(T).CheckpointError, match=message + numbers):
        y.backward(retain_graph=True)
    assert x.grad is None
    with pytest.raises(module(T).CheckpointError, match="A different number of tensors"):
        y.backward(retain_graph=True)
    f.then = MORE
    y.backward()
    assert x.grad is not None


def test_more_values(T):
    _, _, y = run(T, LESS, MORE, early_stop=False)
    with pytest.raises(module(T).CheckpointError, match="trying to save more tensors during recomputation than during"):
        y.backward()
    _, _, y = run(T, LESS, MORE)
    y.backward()  # an early stop does not notice


@pytest.mark.parametrize(
    ("then", "what"),
    [
        (lambda x: x[:2].sin().exp(), r"saved metadata: .*\[3\](.|\n)*recomputed metadata: .*\[2\]"),
        (lambda x: x.float().sin().exp(), r"saved metadata: .*float64(.|\n)*recomputed metadata: .*float32"),
    ],
)
def test_other_shapes_and_dtypes(T, then, what):
    start = "Recomputed values for the following tensors have different metadata than during the forward pass.\n"
    x, _, y = run(T, LESS, then)
    for _ in range(2):  # no wrong value is left for the second
        with pytest.raises(module(T).CheckpointError, match=start + r"(.|\n)*tensor at position 0:\n" + what):
            y.backward(retain_graph=True)
    assert x.grad is None


def test_other_operations():
    """Of the same shapes and dtypes: in PyTorch the gradient is silently wrong."""
    x, _, y = run(gradwright, LESS, lambda x: x.exp().sin())
    with pytest.raises(module(gradwright).CheckpointError) as caught:
        y.backward()
    text = str(caught.value)
    assert "position 0:\nsaved metadata: {'shape': torch.Size([3]), 'dtype': torch.float64, 'operation': Sin" in text
    assert "'operation': ExpBackward0}, at " in text
    assert "x.exp().sin()" in text  # the line
    assert "The function is Fickle, checkpointed at " in text
    assert "debug=True" in text
    assert x.grad is None


def test_no_check(T):
    _, _, y = run(T, LESS, lambda x: x.sin().exp() * 1, determinism_check="none")
    y.backward()
    x, _, y = run(T, T.exp, lambda x: x[:2].exp(), determinism_check="none")
    with pytest.raises((RuntimeError, ValueError)):
        y.backward()
    assert x.grad is None


@pytest.mark.parametrize("how", ["argument", "context"])
def test_debug(how):
    T = gradwright  # PyTorch shows the same, with its own frames
    if how == "argument":
        _, _, y = run(T, MORE, LESS, debug=True)
    else:
        with module(T).set_checkpoint_debug_enabled(True):
            _, _, y = run(T, MORE, LESS)
    message = "Operations executed during the original forward:(.|\n)*cos(.|\n)*Operations executed during recomp"
    with pytest.raises(module(T).CheckpointError, match=message) as caught:
        y.backward()
    assert "because you passed `debug=True` to checkpoint" in str(caught.value)


def test_debug_shows_lines():
    _, _, y = run(gradwright, MORE, LESS, debug=True)
    with pytest.raises(module(gradwright).CheckpointError) as caught:
        y.backward()
    first, second = str(caught.value).split("Operations executed during recomputation:")
    assert (first.count("\n  sin of [3] at "), first.count("\n  cos of [3] at "), second.count("cos of")) == (1, 1, 0)
    assert "MORE = lambda x: x.sin().exp().cos()" in first
    assert "LESS = lambda x: x.sin().exp()" in second


def test_debug_can_be_turned_off(T):
    with module(T).set_checkpoint_debug_enabled(False):
        _, _, y = run(T, MORE, LESS, debug=True)
    with pytest.raises(module(T).CheckpointError, match="A different number") as caught:
        y.backward()
    assert "Operations executed" not in str(caught.value)


def test_a_value_that_is_changed_inside_after_it_was_saved():
    """PyTorch computes with what is there now."""

    def f(x):
        y = x.exp()
        z = y * 2
        y.add_(1)
        return z + (z * y).sin()

    x = gradwright.tensor([0.5, 1.0], requires_grad=True)
    for g in (f, lambda x: module(gradwright).checkpoint(f, x, use_reentrant=False)):
        with pytest.raises(RuntimeError, match=r"modified by an inplace operation(.|\n)*y.add_\(1\)"):
            g(x).sum().backward()


def test_backward_from_several_threads(T):
    """Over one graph, each time run again."""
    x = T.tensor([0.5, 1.0, 2.0], dtype=T.float64, requires_grad=True)
    inner = lambda x: module(T).checkpoint(lambda x: x.sin().exp() * x, x, use_reentrant=False)
    y = module(gradwright).checkpoint(inner, x, use_reentrant=False) if T is gradwright else inner(x)
    results, errors = [], []

    def work():
        try:
            results.extend(T.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist() for _ in range(10))
        except RuntimeError as e:
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    assert len(results) == 40
    assert all(r == pytest.approx(results[0]) for r in results)


def test_the_users_numpy_settings_hold_when_the_function_runs_again():
    import numpy as np

    seen = []

    def f(x):
        seen.append(np.geterr()["divide"])
        return x.sin()

    x = gradwright.ones(2, requires_grad=True)
    with np.errstate(divide="raise"):
        module(gradwright).checkpoint(f, x, use_reentrant=False).sum().backward()
    assert seen == ["raise", "raise"]
