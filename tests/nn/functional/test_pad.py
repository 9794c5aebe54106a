"""Padding and cutting, in all modes."""

import numpy as np
import pytest

X = np.random.default_rng(0).standard_normal((2, 3, 5, 6))


@pytest.mark.parametrize("mode", ["constant", "reflect", "replicate", "circular"])
@pytest.mark.parametrize("pads", [(2, 1), (-1, 2), (3, -2), (-1, -2), (0, 0)])
def test_agree_with_torch(agree, mode, pads):
    agree(lambda lib, x: lib.nn.functional.pad(x[0], pads, mode), X)
    agree(lambda lib, x: lib.nn.functional.pad(x, (*pads, 1, 2), mode), X)


def test_local_response_norm(agree):
    for size in (1, 2, 5):
        agree(lambda lib, x, n=size: lib.nn.functional.local_response_norm(x, n, 0.3, 0.6, 2.0), X, tolerance=1e-8)


@pytest.mark.parametrize(("call", "kind"), [
    (lambda F, x: F.pad(x, (1,)), RuntimeError),
    (lambda F, x: F.pad(x, (1,) * 10), RuntimeError),
    (lambda F, x: F.pad(x, (1, 1), "mirror"), NotImplementedError),
    (lambda F, x: F.pad(x, (1, 1), "reflect"), NotImplementedError),
    (lambda F, x: F.pad(x, (1, 1, 1, 1), "reflect", 2.0), RuntimeError),
    (lambda F, x: F.pad(x[0], (6, 0), "reflect"), RuntimeError),
    (lambda F, x: F.pad(x[0], (7, 0), "circular"), RuntimeError),
    (lambda F, x: F.pad(x[0], (-4, -4), "constant"), RuntimeError),
    (lambda F, x: F.pad(x[0], (-4, -4), "reflect"), RuntimeError),
    (lambda F, x: F.pad(x[0, :, :0], (1, 1), "replicate"), RuntimeError),
    (lambda F, x: F.local_response_norm(x[0, 0], 2), ValueError),
])  # fmt: skip
def test_refuses(lib, call, kind):
    with pytest.raises(kind):
        call(lib.nn.functional, lib.tensor(X))


@pytest.mark.parametrize("pad", [1.5, (1, 2.0), "11"])
def test_pads_of_another_type(lib, pad):
    with pytest.raises(TypeError, match=r"^pad\(\): argument 'pad' "):
        lib.nn.functional.pad(lib.ones(2, 2), pad)
