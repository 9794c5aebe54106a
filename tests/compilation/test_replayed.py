"""Nodes by JAX inside `jax.jit`: against NumPy."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.compilation.trace.traced import traced

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
