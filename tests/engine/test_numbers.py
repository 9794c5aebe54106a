"""A tensor given where a number is expected, to every public function, for every argument that takes one.

Without grad it counts as its number. One that requires grad gets the gradient of finite differences, or an error that
names function or argument, or a GradientWarning.
"""

import importlib
import inspect
import itertools
import re
import warnings

import numpy as np
import pytest

import gradwright as gw
import gradwright.nn.functional as F
import gradwright.signal.windows
from gradwright.backends.devices import device
from gradwright.engine.base import TensorBase
from gradwright.errors import StrictError

HOMES = {"gradwright": gw, "functional": F, "special": gw.special, "linalg": gw.linalg, "fft": gw.fft,
         "windows": gw.signal.windows}  # fmt: skip


@pytest.fixture(autouse=True)
def _doubles():
    gw.set_default_dtype(gw.float64)
    yield
    gw.set_default_dtype(gw.float32)


def values():
    """What the arguments without a default may be: the first combinations that a function takes are its calls."""
    draw = np.random.default_rng(0)
    q = draw.uniform(0.2, 0.8, (3, 3))
    return [gw.tensor(q @ q.T + np.eye(3)), gw.tensor(draw.uniform(0.2, 0.8, 3)), gw.tensor([0, 2, 1]), 2, 0.4,
            gw.tensor(draw.standard_normal((1, 2, 4, 4))), gw.tensor(draw.standard_normal((2, 4, 6))),
            [gw.tensor(q), gw.tensor(q + 1)], (2, 2), gw.tensor(draw.standard_normal((2, 2, 2, 2))),
            gw.tensor(q > 0.5)]  # fmt: skip


def tensors(out):
    if isinstance(out, TensorBase):
        return [out]
    return [t for part in out for t in tensors(part)] if isinstance(out, (list, tuple)) else []


def drawn(call, number):
    gw.manual_seed(0)
    return call(number)


def total(out):
    """A sum of all that has a gradient, with weights; None if nothing has. Looks at each tensor as users do."""
    parts = []
    for k, t in enumerate(tensors(out)):
        assert repr(t)
        assert not isinstance(t.array, TensorBase)
        t = gw.view_as_real(t) if t.is_complex() else t
        if t.is_floating_point() and t.numel():
            parts.append((t * gw.tensor(np.random.default_rng(k).standard_normal(t.shape))).sum())
    return sum(parts) if parts else None


def calls(function):
    """``(argument, number, call)`` for each argument that is a number in a call that works: ``call(other number)``."""
    parameters = inspect.signature(function).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if len(needed) > 3:
        return
    met, found, tried = set(), 0, values()
    for chosen in itertools.product(range(len(tried)), repeat=len(needed)):
        given = tried
        keywords = {p.name: given[i] for p, i in zip(needed, chosen, strict=True)}
        positional = [keywords.pop(p.name) for p in needed if p.kind is not p.KEYWORD_ONLY]
        try:
            if not tensors(drawn(lambda _, a=positional, k=keywords: function(*a, **k), None)):
                continue
        except Exception:  # noqa: BLE001 - a combination that it does not take
            continue
        for k, a in enumerate(positional):
            if type(a) in (int, float):
                one = (needed[k].name, a, lambda n, k=k, a=positional, w=keywords: function(*a[:k], n, *a[k + 1:], **w))
                yield from () if (one[0], type(a)) in met else [one]
                met.add((one[0], type(a)))
        defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        for name, v in (defaults | keywords).items():
            if type(v) in (int, float) and (name, type(v)) not in met:
                met.add((name, type(v)))
                yield name, v, lambda n, name=name, a=positional, w=keywords: function(*a, **{**w, name: n})
        found += 1
        if found == 4:
            return


def fault(function, argument, number, call, plain):
    """What is wrong with a tensor that requires grad for an argument, if a number gives ``plain``; None if nothing."""
    t = gw.tensor(float(number), requires_grad=True)
    try:
        with gw.autograd.strict(True):
            out = drawn(call, t)
    except StrictError:
        return None
    except (TypeError, RuntimeError, ValueError, IndexError) as e:
        named = re.search(rf"\b({argument}|{function})\b", str(e)) or "argument '" in str(e)
        return None if named else f"{type(e).__name__} without a name: {e}"
    s = total(out)
    if s is None or plain is None:
        return None
    try:
        g = gw.autograd.grad(s, t, allow_unused=True)[0] if s.requires_grad else None
    except (NotImplementedError, gw.AnomalyError):  # it says so
        return None
    slopes = []
    for h in (1e-6, -1e-6):
        try:
            slopes.append((total(drawn(call, number + h)) - plain).item() / h)
        except (ValueError, RuntimeError):  # out of its range
            continue
    slopes = [d for d in slopes if np.isfinite(d)]  # between which the gradient at a kink may lie
    g, least, most = 0.0 if g is None else g.item(), min(slopes, default=0), max(slopes, default=0)
    close = 1e-4 * (1 + abs(g))
    return None if not slopes or least - close <= g <= most + close else f"gradient {g}, slopes {slopes}"


WITHOUT = re.compile("_|set_|use_|save|load|seed")
NAMES = {home: [name for name in getattr(module, "__all__", dir(module))
                if inspect.isfunction(getattr(module, name)) and not WITHOUT.match(name)]
         for home, module in HOMES.items()}  # fmt: skip
"""Not what sets modes or writes files."""


OTHERWISE = {
    ("gaussian_nll_loss", "var"), ("histogram", "bins"), ("histogramdd", "bins"), ("lerp", "weight"), ("normal", "mean")
}  # fmt: skip
"""Where a tensor means another thing than a number, as it does in PyTorch."""


def differs(number, call):
    """Which form of a number, a tensor without grad or a scalar of NumPy, gives another result; None if none does."""
    want = tensors(drawn(call, number))
    for same in (gw.tensor(number), (np.float64 if type(number) is float else np.int64)(number)):
        got = tensors(drawn(call, same))
        for g, w in zip(got, want, strict=True):
            if (g.dtype, g.shape) != (w.dtype, w.shape):
                return same
            np.testing.assert_allclose(g.detach().numpy(), w.detach().numpy(), rtol=1e-12)
    return None


@pytest.mark.parametrize("home", HOMES)
def test_numbers_as_tensors(home):
    faults = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        every = ((name, *call) for name in NAMES[home] for call in calls(getattr(HOMES[home], name)))
        for name, argument, number, call in every:
            try:
                plain = total(drawn(call, number))
            except (RuntimeError, ValueError, TypeError, IndexError):
                continue  # the default is none that this call takes
            faults += [(name, argument, found) for found in [fault(name, argument, number, call, plain)] if found]
            if (name, argument) not in OTHERWISE:
                faults += [(name, argument, found) for found in [differs(number, call)] if found is not None]
    assert not faults


def test_finds_what_would_be_wrong():
    x = values()[1]
    silent = lambda n: F.leaky_relu(-x, n.detach() if isinstance(n, TensorBase) else n)
    assert "gradient 0.0" in fault("leaky_relu", "negative_slope", 0.1, silent, total(silent(0.1)))
    assert "without a name" in fault("relu", "n", 0.1, lambda n: x * [n][int(isinstance(n, TensorBase))], total(x))


A = gw.tensor(0.3, requires_grad=True, dtype=gw.float64)
X = gw.tensor([-1.0, 2.0], dtype=gw.float64)


@pytest.mark.parametrize(("call", "names"), [
    (lambda: F.celu(X, A), r"celu\(\): argument 'alpha'"),
    (lambda: F.rrelu(X, A, 0.5), r"rrelu\(\): argument 'lower'"),
    (lambda: gw.nn.LeakyReLU(A)(X), r"leaky_relu\(\): argument 'negative_slope'"),
    (lambda: gw.nn.BatchNorm1d(2, eps=A)(X[None].expand(3, 2)), r"batch_norm\(\): argument 'eps'"),
    (lambda: X.clone().add_(X, alpha=A), r"add\(\): argument 'alpha'"),
    (lambda: X.clone().addcmul_(X, X, value=2 * A), r"addcmul\(\): argument 'value'"),
    (lambda: X.sum(A), r"sum\(\): argument 'dim'"),
    (lambda: F.pad(X, (1, A)), r"pad\(\): argument 'pad'"),
    (lambda: X.repeat(2, A), r"repeat\(\): an argument"),
    (lambda: gw.xp.var(X, correction=A), r"var\(\): argument 'correction'"),
    (lambda: X.index_add(0, gw.tensor([0]), X[:1], alpha=A / A), r"index_add\(\): argument 'alpha'"),
    (lambda: F.smooth_l1_loss(X, -X, beta=A - A), r"smooth_l1_loss\(\): argument 'beta'"),
    (lambda: F.huber_loss(X, -X, delta=A), r"huber_loss\(\): argument 'delta'"),
    (lambda: F.leaky_relu(X, gw.ones(2)), r"leaky_relu\(\): argument 'negative_slope' must be a number, .* size \[2\]"),
])  # fmt: skip
def test_the_error_names_what_the_user_called(call, names):
    with pytest.raises(TypeError, match=names):
        call()


def test_a_declared_operation_takes_numbers_too():
    @gw.op(kind="elementwise")
    def scaled(xp, x, *, by):
        return x * by

    scaled.vjp(x=lambda xp, g, by: g * by)
    assert scaled(X, by=gw.tensor(2.0)).tolist() == [-2.0, 4.0]
    with pytest.raises(TypeError, match=r"scaled\(\): argument 'by' must be a number"):
        scaled(X, by=A)


def test_another_library_refuses_it_alike():
    strict = pytest.importorskip("array_api_strict")
    importlib.import_module("gradwright.backends.strict")
    there = gw.tensor([-1.0, 2.0], device=device(strict.Device("CPU_DEVICE")))
    assert F.leaky_relu(there, gw.tensor(0.5)).tolist() == [-0.5, 2.0]
    with pytest.raises(TypeError, match=r"leaky_relu\(\): argument 'negative_slope' must be a number"):
        F.leaky_relu(there, A)


COUNTS = {
    "linspace": lambda T, n: T.linspace(0, 1, n),
    "linspace, steps=": lambda T, n: T.linspace(0, 1, steps=n),
    "logspace": lambda T, n: T.logspace(0, 1, n),
    "topk": lambda T, n: T.arange(4.0).topk(n),
    "kthvalue": lambda T, n: T.arange(4.0).kthvalue(n),
    "tril": lambda T, n: T.eye(3).tril(n),
    "triu_": lambda T, n: T.eye(3).triu_(n),
    "tril_indices": lambda T, n: T.tril_indices(3, n),
    "triu_indices, offset": lambda T, n: T.triu_indices(3, 3, n),
    "rot90": lambda T, n: T.eye(3).rot90(n),
    "repeat_interleave": lambda T, n: T.arange(4.0).repeat_interleave(n),
    "randint": lambda T, n: T.randint(n, (2,)),
    "randint, low": lambda T, n: T.randint(n, 9, (2,)),
    "fftfreq": lambda T, n: T.fft.fftfreq(n),
    "rfftfreq": lambda T, n: T.fft.rfftfreq(n),
    "hann_window": lambda T, n: T.hann_window(n),
    "kaiser_window": lambda T, n: T.kaiser_window(n),
    "windows.cosine": lambda T, n: T.signal.windows.cosine(n),
    "one_hot": lambda T, n: T.nn.functional.one_hot(T.tensor([0, 1]), n),
    "embedding, padding_idx": lambda T, n: T.nn.functional.embedding(T.tensor([0]), T.eye(3), n),
    "nll_loss, ignore_index": lambda T, n: T.nn.functional.nll_loss(T.eye(3), T.tensor([0, 1, 2]), ignore_index=n),
    "cov": lambda T, n: T.cov(T.eye(3), correction=n),
    "chunk": lambda T, n: T.arange(4.0).chunk(n),
    "softmax": lambda T, n: T.eye(3).softmax(n - 1),
    "zeros": lambda T, n: T.zeros(n),
    "fft": lambda T, n: T.fft.fft(T.arange(4.0), n),
}  # fmt: skip


@pytest.mark.parametrize("name", COUNTS)
def test_what_counts_is_no_fraction(T, name):
    COUNTS[name](T, 2)
    for fraction in 2.7, 2.0:
        with pytest.raises(TypeError):
            COUNTS[name](T, fraction)


def test_the_mend_of_a_fraction():
    with pytest.raises(TypeError, match=r"^linspace\(\): argument 'steps' must be int, not float: write int\(2.5\)"):
        gw.linspace(0, 1, 2.5)
    assert gw.linspace(0, 1, gw.tensor(3)).tolist() == [0, 0.5, 1]
