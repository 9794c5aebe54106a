"""Every operation under vmap against the loop, with its derivatives outside and inside."""

import warnings
from functools import partial
from itertools import product

import numpy as np
import pytest

import gradwright as gw
from gradwright import vmap
from gradwright.engine.base import wrap
from gradwright.op import table
from gradwright.verify.testing.samples import draw
from tests.thorough import some

REFUSED = {"nonzero", "unique", "runs", "repeated"}
ONE_BY_ONE = {"isin", "histc", "histogram", "sorted_lines", "median", "nanmedian"}


def examples(sample, count):
    """The arrays of so many examples, each other ones: index arrays are read backwards in every other."""
    drawn = [draw(sample, seed=k)[0] for k in range(count)]
    for k, arrays in enumerate(drawn):
        for i, (a, like) in enumerate(zip(arrays, sample.arrays, strict=True)):
            if like.values is None:
                continue
            if a.dtype.kind in "iu" and k % 2:
                arrays[i] = np.ascontiguousarray(a[(slice(None, None, -1),) * a.ndim])
            elif a.dtype.kind == "f" and np.ndim(a) > 1 and len(a) == len(a.T):
                arrays[i] = a + 0.01 * k
    return drawn


def subsets(sample):
    return [s for s in product([False, True], repeat=len(sample.arrays)) if any(s)]


SAMPLES = [
    pytest.param(op, sample, id=f"{op.name}-{k}")
    for op in table.values() for k, sample in some(enumerate(op.samples), 2, len(op.name))
]


def loop(op, static, arrays, which, count):
    outs = [op(*[wrap(a[k] if b else a) for a, b in zip(arrays, which, strict=True)], **static) for k in range(count)]
    outs = outs if op.several else [[o] for o in outs]
    return [gw.stack(list(o)) for o in zip(*outs, strict=True)]


def several(out):
    return list(out) if isinstance(out, (list, tuple)) else [out]


def close(got, expected, tolerance=1e-13):
    assert len(got) == len(expected)
    for g, e in zip(got, expected, strict=True):
        assert g.shape == e.shape
        assert g.dtype == e.dtype
        assert np.allclose(g.detach().numpy(), e.detach().numpy(), rtol=tolerance, atol=tolerance, equal_nan=True)


def given(op, sample, which, count):
    static = draw(sample)[1]
    drawn = examples(sample, max(count, 1))
    return static, [np.stack([d[i] for d in drawn])[:count] if b else drawn[0][i] for i, b in enumerate(which)]


def is_refused(op, sample, which):
    masks = [a.values is not None and np.asarray(a.values).dtype == bool for a in sample.arrays]
    return op.name in REFUSED or any(m and b for m, b in zip(masks, which, strict=True))


def check_values(op, sample, which):
    """By the first and by the last dim."""
    static, arrays = given(op, sample, which, 3)
    expected = loop(op, static, arrays, which, 3)
    f = partial(op, **static)
    close(several(vmap(f, in_dims=tuple(0 if b else None for b in which))(*map(wrap, arrays))), expected)
    last = [np.moveaxis(a, 0, -1) if b else a for a, b in zip(arrays, which, strict=True)]
    close(several(vmap(f, in_dims=tuple(-1 if b else None for b in which))(*map(wrap, last))), expected)


def check_no_and_one_example(op, sample, which):
    static, one = given(op, sample, which, 1)
    expected = loop(op, static, one, which, 1)
    for count in (0, 1):
        out = several(vmap(lambda *xs: op(*xs, **static))(*[wrap(a[:count]) for a in one]))
        close(out, [e[:count] for e in expected])


def check_one_inside_another(op, sample, which):
    static, arrays = given(op, sample, which, 6)
    expected = [e.reshape(2, 3, *e.shape[1:]) for e in loop(op, static, arrays, which, 6)]
    split = [wrap(a.reshape(2, 3, *a.shape[1:])) for a in arrays]
    close(several(vmap(vmap(lambda *xs: op(*xs, **static)))(*split)), expected)


def weighted(outs):
    """A number in which each entry counts otherwise."""
    total = 0.0
    for o in outs:
        if o.is_floating_point() or o.is_complex():
            o = gw.view_as_real(o) if o.is_complex() else o
            total = total + (o * gw.linspace(0.5, 1.5, o.numel(), dtype=gw.float64).reshape(o.shape)).sum()
    return total


def differentiable(op, arrays):
    names = op.names_of(len(arrays))
    return [n in op.rules and a.dtype.kind in "fc" for n, a in zip(names, arrays, strict=True)]


def check_derivatives(op, sample, which):
    """Outside of vmap, and inside."""
    static, arrays = given(op, sample, which, 3)
    moves = differentiable(op, arrays)
    dims = tuple(0 if b else None for b in which)
    f = partial(op, **static)

    def leaves():
        return [wrap(a.copy()).requires_grad_(m) for a, m in zip(arrays, moves, strict=True)]

    xs = leaves()
    one = [[x[k] if b else x for x, b in zip(xs, which, strict=True)] for k in range(3)]
    losses = [weighted(several(f(*x))) for x in one]
    if not any(gw.is_tensor(loss) and loss.requires_grad for loss in losses):
        return
    wanted = [x for x in xs if x.requires_grad]
    expected = gw.autograd.grad(sum(losses), wanted, allow_unused=True, materialize_grads=True)
    xs = leaves()
    got = gw.autograd.grad(vmap(lambda *x: weighted(several(f(*x))), in_dims=dims)(*xs).sum(),
                           [x for x in xs if x.requires_grad], allow_unused=True, materialize_grads=True)  # fmt: skip
    close(got, expected, 1e-11)

    def slopes(*xs):
        own = [x.detach().requires_grad_(m) for x, m in zip(xs, moves, strict=True)]
        wanted = [x for x in own if x.requires_grad]
        return gw.autograd.grad(weighted(several(f(*own))), wanted, allow_unused=True, materialize_grads=True)

    inner = vmap(slopes, in_dims=dims)(*map(wrap, arrays))
    each = [slopes(*[wrap(a[k] if b else a) for a, b in zip(arrays, which, strict=True)]) for k in range(3)]
    close(inner, [gw.stack(list(e)) for e in zip(*each, strict=True)], 1e-11)


@pytest.mark.parametrize(("op", "sample"), SAMPLES)
def test_an_operation_of_a_batch_is_that_of_each_example(op, sample):
    """One example after another is told of, and nothing else is done so."""
    with warnings.catch_warnings():
        if op.name in ONE_BY_ONE:
            warnings.filterwarnings("ignore", "vmap: there is no batching rule")
        for which in subsets(sample):
            if is_refused(op, sample, which):
                continue
            check_values(op, sample, which)
            if op.rules:
                check_derivatives(op, sample, which)
            if all(which):
                check_no_and_one_example(op, sample, which)
                check_one_inside_another(op, sample, which)
