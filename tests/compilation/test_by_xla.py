"""Programs run by XLA, against the same programs call by call."""

from itertools import chain, islice

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.node import GuardFailed, Interpreted
from gradwright.compilation.trace.traced import traced
from gradwright.op import table

pytest.importorskip("jax", reason="XLA's programs need it: pip install jax")
from gradwright.compilation.by_xla import Xla


def test_what_is_added_to_itself_is_doubled():
    for dtype, doubled in ((np.float32, True), (np.int32, False), (np.complex128, False)):
        x = np.array([1, 3, 5], dtype)
        xla = Xla(traced(lambda x: x + x, x))
        (found,) = xla([x])
        np.testing.assert_array_equal(found, x + x)
        assert ("multiply" in xla.source) is doubled
    (found,) = xla([np.array([complex(np.inf, 0), complex(0, np.nan), -0.0], complex)])
    np.testing.assert_array_equal(found, [complex(np.inf, 0), complex(0, np.nan), -0.0])


@pytest.mark.parametrize("device", ["cpu", "jax:0"])
@pytest.mark.parametrize("dtype", [gw.float32, gw.float64])
def test_rounding_errors_that_are_put_back_stay(device, dtype):
    x = gw.tensor([[-40.0, -18.5, -3.0, 0.5, 18.5, 40.0]], dtype=dtype).to(device)
    ones = gw.ones(1, 6, dtype=dtype).to(device)
    f = gw.compile(gw.nn.functional.softplus, backend="xla", fullgraph=True)
    near = gw.compile(lambda x, y: gw.nn.functional.soft_margin_loss(x, y, reduction="none"), backend="xla")
    for _ in range(4):
        found, loss = f(x), near(x, ones)
    z = np.array(x.tolist())
    np.testing.assert_allclose(found.cpu().numpy(), np.logaddexp(0, z), rtol=4 * np.finfo(dtype.dtype).eps)
    np.testing.assert_allclose(loss.cpu().numpy(), np.logaddexp(0, -z), rtol=4 * np.finfo(dtype.dtype).eps)
    assert not near.programs.reason


def test_sums_with_numbers_keep_their_roundings():
    third = np.array([0.1, 0.2])

    def f(x):
        return ((x + 1e16) - 1e16, 3 - (x - third + 1), (1j + x) - 1j)

    x = np.array([1.5, -0.3])
    for found, expected in zip(Xla(traced(f, x))([x]), f(x), strict=True):
        np.testing.assert_array_equal(found, expected)


pytest.importorskip("jax", reason="XLA is JAX's: pip install jax")

OPS = [op for op in table.values() if op.samples]


def values(a, rng):
    if a.values is not None:
        return np.array(a.values)
    x = rng.uniform(a.low, a.high, a.shape)
    return x + 1j * rng.uniform(a.low, a.high, a.shape) if a.complex else x


@pytest.mark.parametrize("first", range(0, len(OPS), 6))
def test_every_operation(first):
    """Six in a program, which XLA compiles once."""
    few, rng, owners = OPS[first : first + 6], np.random.default_rng(0), []
    given = [[values(a, rng) for a in op.samples[0].arrays] for op in few]

    def f(*arrays):
        found, rest = [], iter(arrays)
        for op, own in zip(few, given, strict=True):
            made = op(*islice(rest, len(own)), **op.samples[0].static)
            made = made if isinstance(made, (tuple, list)) else [made]
            owners.extend([op.name] * len(made))
            found += made
        return found

    arrays = list(chain(*given))
    program = traced(f, *arrays)
    for a, b, name in zip(Xla(program)(arrays), Interpreted(program)(arrays), owners, strict=True):
        assert a.dtype == b.dtype, name
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-10, err_msg=name)


def test_dtypes_are_numpys():
    x, n = np.ones(3, np.float32), np.arange(3, dtype=np.int32)
    program = traced(lambda x, n: (x * n, n / n.dtype.type(2), x + 1.5, n + 1, x > n), x, n)
    found, expected = Xla(program)([x, n]), Interpreted(program)([x, n])
    assert [a.dtype for a in found] == [b.dtype for b in expected]
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_value_that_python_has_read_is_asked_before_anything_is_written():
    state = np.zeros(2)
    program = traced(lambda x, s: s + 1 if x[0] > 0 else s - 1, np.ones(2), state)
    program.writes = [1]
    runner = Xla(program)
    runner([np.ones(2), state])
    assert state.tolist() == [1, 1]
    with pytest.raises(GuardFailed):
        runner([-np.ones(2), state])
    assert state.tolist() == [1, 1]


class Cube(gw.autograd.Function):
    """By NumPy."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return gw.from_numpy(x.detach().numpy() ** 3)

    @staticmethod
    def backward(ctx, g):
        return 3 * g * ctx.saved_tensors[0] ** 2


def trained(wrap):
    gw.manual_seed(0)
    layers = gw.nn.Linear(4, 8), gw.nn.BatchNorm1d(8), gw.nn.Tanh(), gw.nn.Dropout(0.5), gw.nn.Linear(8, 3)
    net = gw.nn.Sequential(*layers).double()
    optimizer = gw.optim.Adam(net.parameters(), lr=0.01)

    def step(x, y):
        optimizer.zero_grad()
        loss = gw.nn.functional.cross_entropy(Cube.apply(net(x)), y)
        loss.backward()
        optimizer.step()
        return loss

    step = wrap(step)
    return step, [step(gw.randn(5, 4, dtype=gw.float64), gw.tensor([0, 1, 2, 0, 1])).item() for _ in range(6)]


def test_a_training_step():
    _, expected = trained(lambda step: step)
    step, found = trained(lambda step: gw.compile(step, backend="xla"))
    assert not step.programs.reason
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("f", [lambda x: gw.linalg.eigh(x, "U"), gw.linalg.svd])
def test_vectors_of_either_sign_are_numpys(f):
    x = gw.tensor(np.random.default_rng(0).standard_normal((9, 5, 5)))
    compiled = gw.compile(f, backend="xla", fullgraph=True, check="always")
    for _ in range(4):
        for a, b in zip(compiled(x), f(x), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12, atol=1e-12)


def test_whole_numbers_of_numpys_floats_are_what_they_are_eagerly():
    x = gw.tensor([-1.0, 300.0, float("nan"), 1e30])

    @gw.compile(backend="xla")
    def cut(x):
        return x.to(gw.uint8), x.long()

    with np.errstate(invalid="ignore"):
        expected = x.to(gw.uint8).tolist(), x.long().tolist()
        for _ in range(6):
            found = cut(x)
    assert (found[0].tolist(), found[1].tolist()) == expected
