"""Kernels built ahead: they are what the formulas are, as near to exact, and the same however they are run."""

import os
import subprocess
import sys

import numpy as np
import pytest

import gradwright as gw
from gradwright import native
from gradwright.backends import namespace
from gradwright.backends.numpy import namespace as xp
from gradwright.compilation.by_c.kernels import KERNELS
from gradwright.engine.nodes_of_ops import recorder
from gradwright.native import core, kernel
from gradwright.ops.activation import log_softmax, softmax
from gradwright.ops.loss import cross_entropy
from gradwright.ops.norm import standardize

pytest.importorskip("flint", reason="python-flint is not installed: it is in the extra proof")
from gradwright.verify.proof import series
from gradwright.verify.proof.balls import balls
from gradwright.verify.proof.series import working

pytestmark = pytest.mark.skipif(core is None or not core.kernels, reason="no kernels")
SHAPES = [(3, 4), (2, 40), (4, 1), (2, 3, 5), (7,), (3, 700)]


def arguments(spec, shape, dtype, seed=0):
    """Arrays, axes and numbers as a kernel takes them."""
    random, n = np.random.default_rng(seed), shape[-1]
    made = []

    def one(kind):
        if kind in "XY":
            return random.standard_normal(shape).astype(dtype)
        if kind == "R":
            return random.random((*shape[:-1], 1)).astype(dtype)
        if kind == "I":
            return random.integers(0, n, shape[:-1])
        if kind in "AT":
            return len(shape) - 1 if kind == "A" else (len(shape) - 1,)
        return 1e-5 if kind == "E" else "mean"

    kinds = iter(spec.takes)
    for kind in kinds:
        if kind == "(":
            made.append([one(k) for k in iter(kinds.__next__, ")")])
        else:
            made.append(one(kind))
    return made


def each(given):
    return given if isinstance(given, list) else [given]


def exactly(spec, given):
    """What the formula makes of these arrays in 200-bit arithmetic."""
    def exact(x):
        if isinstance(x, list):
            return [exact(one) for one in x]
        return balls(np.asarray(x, float)) if isinstance(x, (np.ndarray, np.floating)) and x.dtype.kind == "f" else x

    found = called(spec.function, spec, [exact(x) for x in given], namespace(balls(1.0)))
    return [np.vectorize(lambda entry: series.start(entry).mid(), otypes=[object])(one.value) for one in each(found)]


def called(f, spec, given, by=xp):
    """What a formula, or its kernel, makes of arguments."""
    code = spec.function.__code__
    count = code.co_argcount - 1
    names = code.co_varnames[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]
    return f(by, *given[:count], **dict(zip(names, given[count:], strict=True)))


def errors(found, exact):
    """How far results are from exact ones, in units of the last place of the largest."""
    worst = 0.0
    for a, b in zip(each(found), exact, strict=True):
        unit = max([abs(float(v)) for v in np.ravel(b)]) * np.finfo(a.dtype).eps or 1.0
        gaps = [abs(float(series.arb(float(p)) - q)) for p, q in zip(np.ravel(a), np.ravel(b), strict=True)]
        worst = max([worst, *(gap / unit for gap in gaps)])
    return worst


def name(spec):
    return spec.name.rpartition(".")[2]


@pytest.mark.parametrize("spec", KERNELS, ids=name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_it_is_what_the_formula_is(spec, dtype):
    run = kernel(spec.function, spec.function)
    for shape in SHAPES:
        given = arguments(spec, shape, dtype)
        if "I" in spec.takes and len(shape) != 2:
            continue
        before = run.taken
        found, formula = called(run, spec, given), called(spec.function, spec, given)
        assert run.taken == before + 1
        for a, b in zip(each(found), each(formula), strict=True):
            assert (a.dtype, a.shape, type(a)) == (b.dtype, b.shape, type(b))
            np.testing.assert_allclose(a, b, rtol=1e-4 if dtype is np.float32 else 1e-12, atol=20 * np.finfo(dtype).eps)


@pytest.mark.parametrize("spec", KERNELS, ids=name)
@pytest.mark.parametrize(("dtype", "more"), [(np.float32, 0.25), (np.float64, 0.75)])
def test_it_is_as_near_to_200_bit_arithmetic(spec, dtype, more):
    """As the formula by NumPy, but for this part of a unit in the last place."""
    with working(bits=200):
        for seed, shape in enumerate([(3, 4), (2, 70)]):
            given = arguments(spec, shape, dtype, seed)
            exact = exactly(spec, given)
            by_kernel, by_numpy = (errors(called(f, spec, given), exact)
                                   for f in (kernel(spec.function, spec.function), spec.function))  # fmt: skip
            assert by_kernel <= by_numpy + more, (by_kernel, by_numpy)


@pytest.mark.parametrize("change", [
    lambda x: x[:, ::2], lambda x: x.T, lambda x: x[:0], lambda x: x.astype(np.float16),
    lambda x: x.astype(np.complex64), lambda x: x.view(np.matrix), lambda x: x.astype(">f4"),
])  # fmt: skip
def test_what_is_not_usual_is_for_the_formula(change):
    x, run = change(np.random.default_rng(0).standard_normal((4, 6)).astype(np.float32)), softmax.muted
    left = run.left
    found, formula = run(xp, x, axis=1), run.twin(xp, x, axis=1)
    assert run.left == left + 1
    assert type(found) is type(formula)
    assert found.tobytes() == formula.tobytes()


@pytest.mark.parametrize("axis", [0, -3, 7, (1,), None, True])
def test_other_axes_are_for_the_formula(axis):
    x, run = np.ones((2, 3), np.float32), softmax.muted
    left = run.left
    try:
        found = run(xp, x, axis=axis)
    except (np.exceptions.AxisError, IndexError, TypeError) as error:
        with pytest.raises(type(error)):
            run.twin(xp, x, axis=axis)
    else:
        assert np.array_equal(found, run.twin(xp, x, axis=axis))
    assert run.left == left + 1


def test_a_target_out_of_range_is_told_as_ever():
    with pytest.raises(IndexError):
        gw.nn.functional.cross_entropy(gw.ones(2, 3), gw.tensor([0, 3]))


PROGRAM = """
import numpy as np, gradwright as gw
x = gw.tensor(np.random.default_rng(0).standard_normal((400, 1000)), requires_grad=True)
(gw.nn.functional.layer_norm(x, (1000,)) * x).sum().backward()
loss = gw.nn.functional.cross_entropy(x, gw.arange(400))
loss.backward()
print(hash(x.grad.numpy().tobytes()), loss.item().hex(), hash(x.softmax(1).detach().numpy().tobytes()))
"""


def test_bits_are_the_same_at_every_run_and_for_any_number_of_threads():
    said = {subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=120,
                           env={**os.environ, "OMP_NUM_THREADS": str(n), "PYTHONHASHSEED": "0"}).stdout
            for n in (1, 3)}  # fmt: skip
    assert len(said) == 1


def test_steps_take_them_both_ways():
    x = gw.ones(2, 3, requires_grad=True)
    gw.nn.functional.layer_norm(x.softmax(1), (3,)).log_softmax(1).sum().backward()
    gw.nn.functional.cross_entropy(x, gw.tensor([0, 2])).backward()
    assert isinstance(cross_entropy.muted, core.kernel)
    for one in (softmax, log_softmax, standardize.variant("NativeLayerNormBackward0")):
        assert isinstance(one.muted, core.kernel)
        assert isinstance(recorder(one, (True,)).__globals__["rule_x"], core.kernel)
    assert softmax.muted.taken > 0
    assert recorder(softmax, (True,)).__globals__["rule_x"].taken > 0


def test_a_kernel_of_another_text_is_not_taken(monkeypatch):
    monkeypatch.setattr(native, "text_of", lambda module: 0)
    assert kernel(softmax.forward, softmax.forward) is softmax.forward
