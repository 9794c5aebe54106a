from typing import Any

import array_api_strict as strict
import numpy as np
import pytest

import gradwright
from gradwright import xp
from gradwright.autograd import gradcheck, gradgradcheck
from tests.face.xp.agreement import agree, always, arrays

RNG = np.random.default_rng(0)
GENERAL = strict.asarray(RNG.standard_normal((2, 3, 3)))
TALL, WIDE = strict.asarray(RNG.standard_normal((4, 3))), strict.asarray(RNG.standard_normal((2, 3, 4)))
POSITIVE = strict.matmul(GENERAL, strict.matrix_transpose(GENERAL)) + strict.eye(3)
MATRICES = arrays("floating", (2, 3, 4))

INF = float("inf")
CASES: list[Any] = [
    ("matrix_transpose", arrays("all", (2, 3, 4)), {}), ("linalg.diagonal", arrays("all", (2, 3, 4)), {"offset": 1}),
    ("linalg.trace", arrays("numeric", (2, 3, 4)), {}),
    *(("linalg.matrix_norm", MATRICES, {"ord": p, "keepdims": p == 1})
      for p in ("fro", "nuc", 1, -1, 2, -2, INF, -INF)),
    *(("linalg.vector_norm", MATRICES, {"ord": p, "axis": axis}) for p in (0, 1, 2, 3, INF) for axis in (None, (0, 2))),
]  # fmt: skip
FIXED: list[Any] = [
    *(("linalg." + name, GENERAL) for name in ("det", "inv", "slogdet", "svdvals", "pinv", "matrix_rank")),
    *(("linalg." + name, WIDE) for name in ("svdvals", "pinv", "matrix_rank")),
    *(("linalg." + name, POSITIVE) for name in ("cholesky", "eigvalsh")),
    *(("linalg.matrix_power", GENERAL, n) for n in (0, 1, 2, 5, -2)),
    ("linalg.solve", GENERAL, WIDE), ("linalg.solve", GENERAL, WIDE[0, :, 0]), ("linalg.cross", WIDE[..., :3], GENERAL),
    ("linalg.outer", TALL[:, 0], TALL[0, :]), ("vecdot", TALL, TALL), ("vecdot", GENERAL + 1j, GENERAL[0, ...] + 0j),
    ("matmul", GENERAL, WIDE), ("matmul", TALL, GENERAL), ("matmul", TALL[0, :], WIDE), ("matmul", GENERAL, TALL[0, :]),
    ("tensordot", GENERAL, TALL, {"axes": ((1,), (1,))}), ("tensordot", TALL, WIDE[0, :, :], {"axes": 1}),
    ("tensordot", TALL, TALL, {"axes": 0}), ("tensordot", GENERAL, GENERAL, {"axes": 3}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-{c[-1]}")
def test_agrees(case: Any) -> None:
    always(case[0], case[1], **case[2])


@pytest.mark.parametrize("case", FIXED, ids=lambda c: c[0])
def test_agrees_on_matrices(case: Any) -> None:
    name, *args = case
    options = args.pop() if isinstance(args[-1], dict) else {}
    agree(name, *args, **options)


@pytest.mark.parametrize("values", [GENERAL, TALL, WIDE])
def test_decompositions(values: Any) -> None:
    x = gradwright.tensor(np.asarray(values))
    for full in (False, True):
        u, s, vh = xp.linalg.svd(x, full_matrices=full)
        k = s.shape[-1]
        np.testing.assert_allclose((u[..., :k] * s[..., None, :] @ vh[..., :k, :]).numpy(), x.numpy(), 1e-12, 1e-12)
    for mode in ("reduced", "complete"):
        q, r = xp.linalg.qr(x, mode=mode)
        np.testing.assert_allclose((q @ r).numpy(), x.numpy(), 1e-12, 1e-12)
    if x.shape[-1] == x.shape[-2]:
        y = x + x.mT
        values, vectors = xp.linalg.eigh(y)
        np.testing.assert_allclose((y @ vectors).numpy(), (vectors * values[..., None, :]).numpy(), 1e-12, 1e-12)


@pytest.mark.parametrize("f", [
    *(getattr(xp.linalg, name) for name in ("det", "inv", "pinv", "svdvals", "trace", "diagonal", "matrix_norm")),
    lambda x: xp.linalg.matrix_power(x, 3), lambda x: xp.linalg.solve(x, x[..., 0] if x.ndim == 2 else x),
    lambda x: xp.tensordot(x, x, axes=((1,), (0,))), lambda x: xp.vecdot(x, x * x), lambda x: xp.linalg.cross(x, x * x),
    lambda x: xp.linalg.eigvalsh(x + xp.matrix_transpose(x)), lambda x: xp.linalg.outer(x[0], x[1]),
    lambda x: xp.linalg.cholesky(xp.matmul(x, xp.matrix_transpose(x)) + xp.eye(3, dtype=x.dtype)),
])  # fmt: skip
def test_gradients(f: Any) -> None:
    x = gradwright.tensor(np.asarray(GENERAL)[0], requires_grad=True)
    assert gradcheck(f, (x,))
    assert gradgradcheck(f, (x,))


def test_what_it_refuses() -> None:
    x = xp.ones((2, 3))
    for call in (xp.linalg.inv, xp.linalg.det, lambda x: xp.linalg.matrix_power(x, 2)):
        with pytest.raises(ValueError, match="expected square matrices, but got shape"):
            call(x)
    for refused in (
        lambda: xp.matrix_transpose(xp.ones(3)), lambda: xp.linalg.outer(x, x), lambda: xp.tensordot(x, x, axes=1),
        lambda: xp.linalg.matrix_norm(x, ord=3), lambda: xp.vecdot(x, xp.ones(2)), lambda: xp.linalg.qr(x, mode="raw"),
        lambda: xp.linalg.cross(xp.ones(2), xp.ones(2)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"\(\): "):
            refused()
    with pytest.raises(IndexError, match="must be negative"):
        xp.vecdot(x, x, axis=0)


@pytest.mark.parametrize(("shape", "ord"), [((0, 2), float("inf")), ((2, 0), 1), ((0, 2), 2)])
def test_a_norm_that_an_empty_matrix_lacks(shape, ord):
    with pytest.raises(ValueError, match=r"matrix_norm\(\): .*argument 'x' of shape .* ord"):
        xp.linalg.matrix_norm(xp.zeros(shape), ord=ord)
    assert xp.linalg.matrix_norm(xp.zeros((2, 0)), ord=float("inf")).item() == 0.0
