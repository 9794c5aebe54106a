"""Formulas that are one ufunc: which are told to be, and that the loop in C gives what their Python gives."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright import native
from gradwright.backends import numpy as numpy_backend
from gradwright.backends.loops import looped, ufunc_of
from gradwright.backends.quiet import during_pass
from gradwright.ops.declare import table

NUMPY = numpy_backend.namespace
needs_core = pytest.mark.skipif(native.core is None, reason=f"core: {native.state()}")
ONE_UFUNC = {name: found for name, op in table.items() if (found := ufunc_of(op.forward)) is not None}
RULES = {f"{name} by {x}": (found, rule.fn) for name, op in table.items() for x, rule in op.rules.items()
         if (found := ufunc_of(rule.fn)) is not None}  # fmt: skip
FORMS = {name: (u, table[name].forward, table[name].muted) for name, u in ONE_UFUNC.items()}
FORMS |= {name: (u, f, None) for name, (u, f) in RULES.items()}
FLOATS = [name for name, (u, _, _) in FORMS.items() if any(t.startswith("d" * u.nin + "->") for t in u.types)]


@pytest.mark.parametrize(("formula", "ufunc"), [
    (lambda xp, x, y: x * y, np.multiply),
    (lambda xp, g, out: g * out, np.multiply),
    (lambda xp, a, b: b * a, None),
    (lambda xp, x: x * x, None),
    (lambda xp, x: -x, np.negative),
    (lambda xp, x, y: -x, None),
    (lambda xp, x, *y: -x, None),
    (lambda xp, x: xp.exp(x), np.exp),
    (lambda xp, x: xp.tan(x), None),  # NumPy's own is not what xp has
    (lambda xp, x: xp.sum(x), None),
    (lambda xp, x, y: xp.exp(x), None),
    (lambda xp, x, y: xp.exp(x, y), None),  # y is where it writes
    (lambda xp, x: xp.hypot(x), None),
    (lambda xp, x, y: xp.hypot(x, y), np.hypot),
    (lambda xp, x, y: xp.hypot(y, x), None),
    (lambda xp, x, *, y: x * y, None),
    (lambda xp, x, y, z: x * y, None),
    (lambda xp, g: g, None),
    (np.exp, None),
])  # fmt: skip
def test_what_is_one_ufunc_is_told_by_its_code(formula, ufunc):
    assert ufunc_of(formula) is ufunc


def test_the_usual_operations_are():
    usual = {"add", "subtract", "multiply", "divide", "negative", "exp", "log", "sin", "cos", "tanh", "sqrt", "maximum"}
    assert usual <= set(FLOATS)
    assert {"multiply by x", "multiply by y", "exp by x"} <= set(FLOATS)


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, np.inf, -np.inf, np.nan, 1e-40, 1e-310, 1e38, 1e300, -2.5, 88.8, 710.0]


def arrays(dtype, seed):
    """Arrays of a dtype in the shapes and layouts that come, and scalars."""
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        special = rng.permutation(np.array(SPECIAL)).astype(dtype)

    def drawn(*shape):
        return rng.normal(size=shape).astype(dtype)

    matrix = drawn(3, 4)
    return [
        special, drawn(0), drawn(1), drawn(7), drawn(33), drawn(1001), matrix, matrix.T, matrix[:, ::2],
        drawn(3, 1)[:, :1], drawn(4, 4, 2)[:, :1, :], drawn(2, 0, 3), drawn(1, 1), drawn(8, 1).T, special[::2],
        special[::-1], dtype(rng.choice(SPECIAL[:10])), dtype(0.75), np.array(-1.25, dtype), np.array(np.inf, dtype),
        drawn(4), np.frombuffer(b"x" + drawn(5).tobytes(), np.uint8)[1:].view(dtype),
        drawn(4).astype(np.dtype(dtype).newbyteorder()),
        np.broadcast_to(dtype(2), (4,)),
    ]  # fmt: skip


def outcome(f, *given):
    """All that can be seen of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            out = f(NUMPY, *given)
        except (FloatingPointError, ValueError, TypeError) as error:
            return type(error), str(error), [str(w.message) for w in caught]
    facts = type(out), out.dtype.str, out.shape, out.strides, out.tobytes(), out.flags.owndata, out.flags.writeable
    return facts, [str(w.message) for w in caught]


def pairs(dtype, inputs):
    if inputs == 1:
        return [(a,) for a in arrays(dtype, 0)]
    first, second = arrays(dtype, 1), arrays(dtype, 2)
    others = [np.float32(2), np.ones(7), np.ones(7, np.float32), np.arange(4), 2.0, np.ones((4, 3))]
    return [*itertools.product(first, second), *itertools.product(others, first[:8]),
            *itertools.product(first[:8], others)]  # fmt: skip




@needs_core
@pytest.mark.parametrize("name", FLOATS)
def test_the_loop_is_its_twin_to_the_bit(name):
    ufunc, formula, muted = FORMS[name]
    form = looped(formula, muted)
    assert form.found == 2
    for dtype in (np.float32, np.float64):
        for given in pairs(dtype, ufunc.nin):
            assert outcome(form, *given) == outcome(form.twin, *given), (name, given)
    assert form.taken > 25
    assert form.left > 5


@needs_core
@pytest.mark.parametrize("setting", [{"all": "raise"}, {"over": "raise"}, {"invalid": "raise"}, {"divide": "warn"},
                                     {"all": "ignore"}, {"all": "print"}, {"under": "raise"}], ids=str)  # fmt: skip
@pytest.mark.parametrize("name", ["multiply", "divide", "exp", "log", "subtract", "multiply by y"])
def test_what_the_user_asked_of_numpy_is_done(name, setting, capfd):
    ufunc, formula, muted = FORMS[name]
    form = looped(formula, muted)
    for given in pairs(np.float32, ufunc.nin)[:200]:
        with np.errstate(**setting):
            found, said = outcome(form, *given), capfd.readouterr()
            assert (found, said) == (outcome(form.twin, *given), capfd.readouterr())
            assert during_pass(outcome, form, *given) == during_pass(outcome, form.twin, *given)
    assert form.taken


@needs_core
def test_whole_sums():
    form = NUMPY.sum
    taken = form.taken
    rng = np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        sizes = [1, 2, 7, 8, 9, 127, 128, 129, 1000, 8191, 8192, 8193, 20_000, (1 << 17) - 1, 1 << 17]
        for a in [*arrays(dtype, 3), *[rng.normal(size=n).astype(dtype) for n in sizes], rng.normal(size=(30, 7, 9)),
                  np.full(3, -0.0, dtype), np.array([np.inf, -np.inf], dtype), np.full(9, 3e38, dtype)]:  # fmt: skip
            for given in ({}, {"axis": None}, {"axis": None, "keepdims": False}, {"keepdims": True}, {"axis": 0}):
                for setting in ("warn", "raise"):
                    with np.errstate(all=setting):
                        ways = [lambda xp, x, f=f, given=given: f(x, **given) for f in (form, form.twin)]
                        try:
                            assert outcome(ways[0], a) == outcome(ways[1], a)
                        except IndexError:  # an axis that there is not
                            with pytest.raises(IndexError):
                                form.twin(a, **given)
    assert form.taken - taken > 100


@needs_core
def test_with_numpys_features_switched_off():
    """Other loops of NumPy's, the same comparison."""
    if "NPY_DISABLE_CPU_FEATURES" in os.environ:
        pytest.skip("they are")
    from numpy._core import _multiarray_umath as core

    on = [name for name in core.__cpu_dispatch__ if core.__cpu_features__.get(name)]
    if not on:
        pytest.skip("none can be switched off")
    names = ("exp", "log", "sin", "tanh", "multiply", "divide")
    some = [f"test_the_loop_is_its_twin_to_the_bit[{name}]" for name in names]
    tests = [f"{__file__}::{test}" for test in (*some, "test_whole_sums")]
    names = ("sigmoid", "softplus", "gelu_tanh by x", "pow by x", "clip", "huber", "tanh by x")
    there = f"{__file__[:-8]}programs.py::test_a_program_is_its_formula_to_the_bit"
    tests += [f"{there}[{name}]" for name in names]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *tests],
                          env={**os.environ, "NPY_DISABLE_CPU_FEATURES": " ".join(on)}, cwd=os.getcwd(),
                          capture_output=True, text=True, timeout=300)  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:]


@needs_core
def test_without_the_loops_where_they_were_the_twin_computes():
    form = native.core.loop(lambda xp, x, y: np.gcd(x, y), np.gcd, True)  # which has none of floats
    assert form.found == 0
    assert form(NUMPY, np.array([4]), np.array([6])) == [2]
    assert (form.taken, form.left) == (0, 1)
    with pytest.raises(ValueError, match="2 operands at most, but got <ufunc 'clip'>"):
        native.core.loop(np.clip, np._core.umath.clip, True)


def test_operations_take_the_loops():
    if native.core is None:
        pytest.skip(native.state())
    x = gw.rand(5, requires_grad=True)
    sums = NUMPY.sum.taken
    (x * x).sum().backward()
    assert NUMPY.sum.taken == sums + 1


SHARED = """
import numpy as np, gradwright as gw
random = np.random.default_rng(0)
for dtype in ("f4", "f8"):
    x, y = ((random.standard_normal(100_003) * 50).astype(dtype) for _ in range(2))
    x[7], x[-1], y[50_000] = np.nan, np.inf, 0
    a, b = gw.tensor(x), gw.tensor(y)
    with np.errstate(all="ignore"):
        for found, expected in ((a + b, x + y), (a / b, x / y), (a.exp(), np.exp(x)), (a.sin(), np.sin(x)),
                                (a * 2.5, x * x.dtype.type(2.5)), (b.sqrt(), np.sqrt(y)), (a.tanh(), np.tanh(x))):
            assert found.numpy().tobytes() == expected.tobytes(), (dtype, expected)
    with np.errstate(over="call"):
        np.seterrcall(lambda what, flag: print(dtype, what))
        gw.tensor(np.linspace(0, 800, 100_003).astype(dtype)) * np.finfo(dtype).max.item()
"""


def test_threads_that_share_a_loop_give_the_same_bits_and_flags():
    done = subprocess.run([sys.executable, "-c", SHARED], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "OMP_NUM_THREADS": "3"})  # fmt: skip
    assert (done.stderr, done.stdout.splitlines()) == ("", ["f4 overflow", "f8 overflow"])
