"""Tensors of nearly the same values."""

from typing import Any

import numpy as np


def close(found: Any, expected: Any, rtol: float = 1e-6) -> None:
    """Fails unless two tensors have one shape and nearly the same values."""
    assert found.shape == expected.shape
    np.testing.assert_allclose(found.detach().numpy(), expected.detach().numpy(), rtol=rtol, atol=1e-12)
