import numpy as np
import pytest

import gradwright as gw
from gradwright import backends, vmap
from gradwright.engine.base import wrap

X = gw.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize("f", [
    lambda xp, a: xp.exp(a) + 1, lambda xp, a: xp.where(a > 1, a, -a), lambda xp, a: 2.0 * a - np.float32(1),
    lambda xp, a: np.ones(2, np.float32) < a, lambda xp, a: xp.sum(a, axis=0), lambda xp, a: a.astype(np.float64),
    lambda xp, a: xp.zeros_like(a) + xp.ones_like(a, shape=(2,)), lambda xp, a: xp.asarray([1.0, 2.0]) * a,
    lambda xp, a: xp.linalg.zero_pivot(a[None] * a[:, None])[None], lambda xp, a: xp.astype(a, xp.int64),
])  # fmt: skip
def test_what_computes_with_arrays_computes_with_batches(f):
    got = vmap(lambda x: wrap(f(backends.namespace(x.array), x.array)))(X)
    expected = np.stack([np.asarray(f(backends.namespace(x.array), x.array)) for x in X])
    assert got.shape == expected.shape
    assert np.array_equal(got.numpy(), expected)


def test_kinds_of_dtypes_and_conditions_are_known():
    def f(x):
        xp = backends.namespace(x.array)
        assert xp.isdtype(x.array.dtype, "real floating")
        assert xp.may_hold(x.array > 4)
        assert not xp.may_hold(x.array > 5)
        return x

    vmap(f)(X)
