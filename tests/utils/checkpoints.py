"""What the tests of checkpointing share."""

import importlib

import numpy as np
import pytest

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


def close(a, b):
    np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-12, atol=1e-14)
