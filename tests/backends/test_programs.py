"""Formulas and derivatives run as programs of the core: all that can be seen is as the formula has it."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gradwright as gw
from gradwright import native
from gradwright.backends.notes import Notes
from gradwright.backends.numpy import namespace as NUMPY
from gradwright.backends.programs import assembled, derivative, programmed
from gradwright.backends.quiet import during_pass
from gradwright.ops.declare import A, Sample, op, table

pytestmark = pytest.mark.skipif(native.core is None, reason=f"core: {native.state()}")


def forms():
    """The elementwise operations of the table, and their derivatives, that are made of several loops, as in C."""
    for name, o in table.items():
        if o.kind == "elementwise":
            yield name, o, None, programmed(o.forward, o.muted, [True] * len(o.inputs), o.static)
            yield from ((f"{name} by {n}", o, rule, derivative(o, rule)) for n, rule in o.rules.items())


FORMS = {name: (o, rule) for name, o, rule, form in forms() if type(form).__name__ == "formula"}
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, 3.0, np.inf, -np.inf, np.nan, 1e-40, 1e-310, 1e38, 1e300, -2.5, 88.8, 710.0]
SHAPES = [(), (0,), (1,), (3, 4), (1025,)]


def in_c(name):
    o, rule = FORMS[name]
    if rule is None:
        return programmed(o.forward, o.muted, [True] * len(o.inputs), o.static)
    return derivative(o, rule)


def calls(name, dtype, rng):
    """Arguments of an operation or derivative, as its samples: in several shapes and layouts, with special values."""
    o, rule = FORMS[name]
    for sample in o.samples or [Sample(*[A(3)] * len(o.inputs))]:
        for shape in SHAPES:
            xs = [drawn(a, shape, dtype, rng) for a in sample.arrays]
            for given in (xs, [np.asfortranarray(x) for x in xs],
                          [xs[0], *[x[..., :1] if x.ndim else x for x in xs[1:]]],
                          [xs[0], *[x.reshape(-1)[:1].reshape(()) if x.size else x for x in xs[1:]]],
                          [x[::2] if x.ndim else x[()] for x in xs]):  # fmt: skip
                static = o.defaults | sample.static
                if rule is None:
                    yield given, static
                    continue
                with np.errstate(all="ignore"):
                    out = o.muted(NUMPY, *given, **static)
                known = dict(zip(o.inputs, given, strict=True)) | static | {"out": out}
                cotangent = drawn(A(*out.shape), out.shape, dtype, rng)
                saved = [known[n] for n in rule.names]
                yield [cotangent[()] if isinstance(out, np.generic) else cotangent, *saved], {}
                yield [np.broadcast_to(cotangent.dtype.type(0.5), out.shape), *saved], {}


def drawn(a, shape, dtype, rng):
    if a.values is not None:
        values = np.array(a.values)
        chosen = rng.choice(values.reshape(-1), shape)
        return np.asarray(chosen if values.dtype.kind in "bi" else chosen.astype(dtype))
    x = np.asarray(rng.uniform(a.low, a.high, shape))
    x = x + 1j if a.complex else x
    with np.errstate(all="ignore"):
        special = rng.choice(SPECIAL, shape)
        kind = np.result_type(np.complex64, dtype) if a.complex else dtype
        return np.asarray(np.where(rng.random(shape) < 0.2, special, x).astype(kind))


def outcome(f, given, static):
    """All that can be seen of a call; of a NaN not its bits, for which NumPy takes one operand's or the other's."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            out = f(NUMPY, *given, **static)
        except (FloatingPointError, ValueError, TypeError, IndexError) as error:
            return type(error), str(error), [str(w.message) for w in caught]
    for k, one in enumerate(given):
        if out is one:
            return "argument", k
    bits = np.where(np.isnan(out), np.full_like(out, np.nan), out) if out.dtype.kind in "fc" else out
    facts = type(out), out.dtype.str, out.shape, out.strides, out.flags.writeable
    return facts, bits.tobytes(), [str(w.message) for w in caught]


@pytest.mark.parametrize("name", FORMS)
def test_a_program_is_its_formula_to_the_bit(name):
    form, rng = in_c(name), np.random.default_rng(0)
    for dtype in (np.float32, np.float64):
        for given, static in calls(name, dtype, rng):
            assert during_pass(outcome, form, given, static) == during_pass(outcome, form.twin, given, static), given


def test_most_formulas_are_programs():
    """Of those that are not, most are special functions, made of loops in Python or of SciPy's."""
    rng, taken = np.random.default_rng(0), set()
    for name in FORMS:
        form = in_c(name)
        for given, static in calls(name, np.float64, rng):
            during_pass(outcome, form, given, static)
            if form.taken:
                taken.add(name)
                break
    assert len(taken) >= 153  # two more took booleans alone, which are the twin's
    usual = {"sigmoid", "silu", "softplus", "gelu_tanh", "relu", "leaky_relu", "elu", "huber", "square", "reciprocal"}
    assert usual | {f"{name} by x" for name in usual} | {"tanh by x", "divide by y", "sqrt by x"} <= taken


@pytest.mark.parametrize("setting", [{"all": "raise"}, {"over": "raise"}, {"invalid": "raise"}, {"divide": "warn"},
                                     {"all": "ignore"}, {"all": "print"}, {"under": "raise"}], ids=str)  # fmt: skip
@pytest.mark.parametrize("name", ["sigmoid", "softplus", "divide by y", "huber by x", "reciprocal"])
def test_what_the_user_asked_of_numpy_is_done(name, setting, capfd):
    form, rng = in_c(name), np.random.default_rng(0)
    for given, static in calls(name, np.float32, rng):
        with np.errstate(**setting):
            found, said = outcome(form, given, static), capfd.readouterr()
            assert (found, said) == (outcome(form.twin, given, static), capfd.readouterr())
            assert during_pass(outcome, form, given, static) == during_pass(outcome, form.twin, given, static)
    assert form.taken


def test_static_arguments_that_differ_have_programs_of_their_own():
    form = in_c("hardtanh")
    x = np.array([-0.0, 0.0, -3.0, 3.0])
    bounds = [(0.0, 1.0), (-0.0, 1.0), (0, 1), (False, 1.0), (-1.0, 1.0), (-1.0, 1), (-1, 1.0), (-1.0, np.float64(1)),
              (0, 2)]  # fmt: skip
    for low, high in [*bounds, *bounds, (0, 3), (0, 4), (0, 4)]:
        static = {"min": low, "max": high}
        assert outcome(form, [x], static) == outcome(form.twin, [x], static)
    assert len(form.programs) == 8
    assert outcome(form, [x], {"max": 1.0, "min": 0.0}) == outcome(form.twin, [x], {"min": 0.0, "max": 1.0})


def test_a_formula_of_the_users_is_not_noted():
    by = [2.0]

    @op(kind="elementwise", samples=[Sample(A(3))])
    def scaled(xp, x):
        """x times something that may change."""
        return x * by[0] + 1

    x = gw.tensor([1.0])
    assert scaled(x).item() == 3.0
    by[0] = 3.0
    assert scaled(x).item() == 4.0


def test_one_that_is_too_long_is_none():
    notes = Notes(np.dtype("float32"))
    x = y = notes.given("x0")
    for _ in range(70):
        y = y * x
    assert assembled(notes, ["x0"], {y.name: -1}) is None


def test_many_arrays_between():
    """More than the scratch memory holds in whole pieces."""

    def formula(xp, x):
        parts = [x * k for k in range(1, 15)]
        total = parts[0] - parts[1]
        for part in parts[2:]:
            total = part - total
        return total

    notes = Notes(np.dtype("float64"))
    out = formula(notes, notes.given("x0"))
    program = assembled(notes, ["x0"], {out.name: -1})
    assert program.own > 8
    form = native.core.formula(formula, True, b"\1", (), lambda types, values: program)
    x = np.random.default_rng(0).normal(size=5000)
    assert form(NUMPY, x).tobytes() == formula(NUMPY, x).tobytes()
    assert form.taken == 1


@pytest.mark.parametrize("entries", [(1 << 16) - 1, 1 << 16, 200_001])
@pytest.mark.parametrize("name", ["sigmoid", "gelu_tanh by x", "relu by x"])
def test_threads_make_the_same(name, entries):
    form, rng = in_c(name), np.random.default_rng(0)
    given = [rng.normal(size=entries).astype(np.float32) for _ in range(1 if FORMS[name][1] is None else 2)]
    assert during_pass(outcome, form, given, {}) == during_pass(outcome, form.twin, given, {})
    assert form.taken == 1


def test_operations_and_their_derivatives_take_programs():
    x = gw.rand(5, requires_grad=True)
    y = gw.sigmoid(x)
    rule = y._node._run.__globals__["rule_x"]
    taken = rule.taken
    y.sum().backward()
    assert rule.taken == taken + 1
