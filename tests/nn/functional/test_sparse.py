"""Whole numbers as vectors."""

import numpy as np
import pytest

import gradwright as gw

draw = np.random.default_rng(0)
W, I = draw.standard_normal((6, 3)), np.array([[1, 2, 1], [5, 0, 2]])


def test_one_hot(lib):
    f = lib.nn.functional.one_hot
    assert f(lib.tensor([0, 2])).tolist() == [[1, 0, 0], [0, 0, 1]]
    assert tuple(f(lib.tensor(I), 7).shape) == (2, 3, 7)
    for bad, n in (([-1], -1), ([3], 3), ([], -1), ([1.0], 2), ([0], 0)):
        with pytest.raises(RuntimeError):
            f(lib.tensor(bad, dtype=lib.int64 if bad != [1.0] else lib.float32), n)


@pytest.mark.parametrize("options", [{}, {"padding_idx": 1}, {"padding_idx": -1}, {"scale_grad_by_freq": True}])
def test_embedding(agree, options):
    order = 1 if "scale_grad_by_freq" in options else 2  # PyTorch forgets it in the second
    agree(lambda lib, w: lib.nn.functional.embedding(lib.tensor(I), w, **options), W, order=order)


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("options", [{}, {"padding_idx": 2}])
def test_embedding_bag(agree, mode, options):
    def bags(lib, w, indices=I, offsets=None, **more):
        offsets = None if offsets is None else lib.tensor(offsets)
        return lib.nn.functional.embedding_bag(lib.tensor(indices), w, offsets, mode=mode, **options, **more)

    agree(bags, W, order=1)
    agree(lambda lib, w: bags(lib, w, I.ravel(), [0, 2, 2, 5]), W, order=1)
    agree(lambda lib, w: bags(lib, w, I.ravel(), [0, 2, 2, 6], include_last_offset=True), W, order=1)


def test_embedding_bag_with_weights(agree):
    agree(lambda lib, w, f: lib.nn.functional.embedding_bag(lib.tensor(I), w, mode="sum", per_sample_weights=f),
          W, draw.standard_normal(I.shape), order=1)  # fmt: skip


def test_embedding_bag_by_frequency():
    """PyTorch halves the gradient of row 5, which is used once."""
    w = gw.tensor(W, requires_grad=True)
    bags = gw.nn.functional.embedding_bag(gw.tensor([1, 2, 1, 5, 0, 2]), w, gw.tensor([0, 2, 2, 5]), mode="sum",
                                          scale_grad_by_freq=True)  # fmt: skip
    (bags * gw.tensor([[1.0], [10], [100], [1000]])).sum().backward()
    np.testing.assert_allclose(w.grad[:, 0].numpy(), [100, 50.5, 500.5, 0, 0, 100])


def test_max_norm_scales_the_rows_that_are_used(lib):
    w = lib.tensor(W)
    y = lib.nn.functional.embedding(lib.tensor([1, 2]), w, max_norm=0.5)
    long = np.linalg.norm(W, axis=1) > 0.5
    lengths = np.where(long, 0.5, np.linalg.norm(W, axis=1))
    np.testing.assert_allclose(np.linalg.norm(y.numpy(), axis=1), lengths[1:3], 1e-6)
    np.testing.assert_array_equal(w.numpy()[[0, 3, 4, 5]], W[[0, 3, 4, 5]])
    np.testing.assert_array_equal(w.numpy()[1:3], y.numpy())


@pytest.mark.parametrize(("call", "kind"), [
    (lambda F, lib, w: F.embedding(lib.tensor([6]), w), IndexError),
    (lambda F, lib, w: F.embedding(lib.tensor([-1]), w), IndexError),
    (lambda F, lib, w: F.embedding(lib.tensor([0.0]), w), RuntimeError),
    (lambda F, lib, w: F.embedding(lib.tensor([0]), w[0]), RuntimeError),
    (lambda F, lib, w: F.embedding(lib.tensor([0]), w, padding_idx=6), AssertionError),
    (lambda F, lib, w: F.embedding_bag(lib.tensor([0]), w), ValueError),
    (lambda F, lib, w: F.embedding_bag(lib.tensor([0]), w, lib.tensor([1])), RuntimeError),
    (lambda F, lib, w: F.embedding_bag(lib.tensor([[0]]), w, lib.tensor([0])), ValueError),
    (lambda F, lib, w: F.embedding_bag(lib.tensor([[0]]), w, mode="median"), ValueError),
    (lambda F, lib, w: F.embedding_bag(lib.tensor([[0]]), w, per_sample_weights=lib.ones(1, 1)), NotImplementedError),
])  # fmt: skip
def test_refuses(lib, call, kind):
    with pytest.raises(kind):
        call(lib.nn.functional, lib, lib.tensor(W))


def test_gradients_are_summed_over_equal_indices():
    w = gw.zeros(3, 2, requires_grad=True)
    gw.nn.functional.embedding(gw.tensor([1, 1, 2]), w).sum().backward()
    assert w.grad.tolist() == [[0, 0], [2, 2], [1, 1]]
