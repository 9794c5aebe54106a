"""Losses of a choice among classes."""

import numpy as np
import pytest

import gradwright as gw

draw = np.random.default_rng(0)
X, T, W = draw.standard_normal((5, 4, 3)), draw.integers(0, 4, (5, 3)), draw.uniform(0.5, 2, 4)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
@pytest.mark.parametrize("ignore", [-100, 1])
def test_cross_entropy(agree, reduction, weighted, smoothing, ignore):
    def loss(lib, x, t):
        return lib.nn.functional.cross_entropy(
            x, t, lib.tensor(W) if weighted else None, reduction=reduction, label_smoothing=smoothing,
            ignore_index=ignore,
        )  # fmt: skip

    for x, t in ((X, T), (X[:, :, 0], T[:, 0]), (X[0, :, 0], T[0, 0])):
        agree(loss, x, np.array(t))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_cross_entropy_with_probabilities(agree, reduction):
    def loss(lib, x, t):
        return lib.nn.functional.cross_entropy(x, t, lib.tensor(W), reduction=reduction, label_smoothing=0.2)

    agree(loss, X, draw.uniform(0, 1, X.shape))
    agree(loss, X[0, :, 0], draw.uniform(0, 1, 4))


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_the_loss_is_one_operation(reduction):
    x, t = gw.zeros(2, 3, requires_grad=True), gw.tensor([0, 2])
    for loss in (gw.nn.functional.cross_entropy, gw.nn.functional.nll_loss):
        node = loss(x, t, reduction=reduction).grad_fn
        assert [node.name(), type(node.next_functions[0][0]).__name__] == ["NllLossBackward0", "AccumulateGrad"]


@pytest.mark.parametrize("reduction", ["none", "sum", "mean"])
def test_a_batch_of_losses(reduction):
    """Under vmap, as one by one."""
    draw = np.random.default_rng(0)
    for shape in ((4, 3), (4, 3, 2), (3,)):
        x = gw.tensor(draw.standard_normal((5, *shape)))
        t = gw.tensor(draw.integers(0, 3, (5, *shape[:1], *shape[2:]) if len(shape) > 1 else 5))
        for loss in (gw.nn.functional.cross_entropy, gw.nn.functional.nll_loss):
            found = gw.vmap(lambda x, t, loss=loss: loss(x, t, reduction=reduction))(x, t)
            np.testing.assert_allclose(
                found, [loss(a, b, reduction=reduction) for a, b in zip(x, t, strict=True)], 1e-12
            )


def test_scores_far_out():
    x = gw.tensor([[1000.0, -1000.0], [-1000.0, 1000.0]], requires_grad=True)
    loss = gw.nn.functional.cross_entropy(x, gw.tensor([0, 0]), reduction="none")
    loss.sum().backward()
    assert loss.tolist() == [0, 2000]
    assert x.grad.tolist() == [[0, 0], [-1, 1]]


def test_an_ignored_target_costs_nothing_whatever_its_score(lib):
    x = lib.tensor([[float("-inf"), -1.0], [-2.0, -3.0]], requires_grad=True)
    loss = lib.nn.functional.nll_loss(x, lib.tensor([-100, 1]))
    loss.backward()
    assert loss.item() == 3
    assert x.grad.tolist() == [[0, 0], [0, -1]]
    assert np.isnan(lib.nn.functional.nll_loss(x, lib.tensor([-100, -100])).item())


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("weighted", [False, True])
def test_multi_margin_loss(agree, p, weighted):
    def loss(lib, x, t):
        return lib.nn.functional.multi_margin_loss(x, t, p, 0.7, lib.tensor(W) if weighted else None, reduction="none")

    agree(loss, X[:, :, 0], T[:, 0], order=1)
    agree(loss, X[0, :, 0], np.array(T[0, 0]), order=1)


def test_multilabel_losses(agree):
    targets = np.array([[2, 0, -1, 1], [-1, 0, 1, 2], [3, 2, 1, 0], [0, -1, -1, -1], [1, 3, -1, -1]])
    for reduction in ("mean", "none"):
        agree(lambda lib, x, t, how=reduction: lib.nn.functional.multilabel_margin_loss(x, t, reduction=how),
              X[:, :, 0], targets, order=1)  # fmt: skip
    agree(lambda lib, x, t: lib.nn.functional.multilabel_margin_loss(x, t), X[0, :, 0], targets[0], order=1)
    agree(lambda lib, x, t: lib.nn.functional.multilabel_soft_margin_loss(x, t, lib.tensor(W)),
          X[:, :, 0], draw.uniform(0, 1, (5, 4)))  # fmt: skip


def test_linear_cross_entropy(agree):
    def loss(lib, x, w, b, t):
        return lib.nn.functional.linear_cross_entropy(x, w, t, linear_bias=b, label_smoothing=0.1)

    agree(loss, draw.standard_normal((5, 3)), draw.standard_normal((4, 3)), draw.standard_normal(4), T[:, 0])
    agree(loss, draw.standard_normal((5, 3)), draw.standard_normal((4, 3, 3)), draw.standard_normal((4, 3)), T)


@pytest.mark.parametrize(("call", "kind"), [
    (lambda F, lib, x, t: F.nll_loss(x, t + 4), IndexError),
    (lambda F, lib, x, t: F.nll_loss(x, t - 1), IndexError),
    (lambda F, lib, x, t: F.nll_loss(x, t.double()), RuntimeError),
    (lambda F, lib, x, t: F.nll_loss(x, t[:2]), ValueError),
    (lambda F, lib, x, t: F.nll_loss(x, t, lib.ones(3)), RuntimeError),
    (lambda F, lib, x, t: F.nll_loss(x, t, reduction="no"), ValueError),
    (lambda F, lib, x, t: F.cross_entropy(x, t, label_smoothing=1.5), RuntimeError),
    (lambda F, lib, x, t: F.cross_entropy(x, x.softmax(1), ignore_index=1), RuntimeError),
    (lambda F, lib, x, t: F.multilabel_margin_loss(x, t), RuntimeError),
])  # fmt: skip
def test_refuses(lib, call, kind):
    with pytest.raises(kind):
        call(lib.nn.functional, lib, lib.zeros(4, 2), lib.tensor([0, 1, 1, 0]))


@pytest.mark.parametrize(("loss", "input", "target", "dtype", "words"), [
    ("nll_loss", (4, 2), (4,), "int32", "expected target dtype to be Long or Byte, but got Int"),
    ("cross_entropy", (4, 2), (4,), "int16", "expected target dtype to be Long or Byte, but got Short"),
    ("cross_entropy", (2,), (), "float32", "expected target dtype to be Long or Byte, but got Float"),
    ("cross_entropy", (4, 2, 3), (4, 3), "bool", "expected target dtype to be Long or Byte, but got Bool"),
    ("cross_entropy", (4, 2, 3), (4, 3), "uint8", "expected scalar type Long but found Byte"),
    ("multi_margin_loss", (4, 2), (4,), "int32", "expected scalar type Long but found Int"),
    ("multilabel_margin_loss", (4, 2), (4, 2), "uint8", "expected scalar type Long but found Byte"),
    ("cross_entropy", (4, 2), (4, 2), "int64", "Expected floating point type for target with class probabilities"),
    ("cross_entropy", (4, 2), (4, 1), "int64", "0D or 1D target tensor expected, multi-target not supported"),
    ("cross_entropy", (4, 2, 3), (4, 3, 1), "int64", r"Expected target size \[4, 3\], got \[4, 3, 1\]"),
])  # fmt: skip
def test_targets_of_another_dtype_or_shape(lib, loss, input, target, dtype, words):
    x, t = lib.zeros(input), lib.zeros(target, dtype=getattr(lib, dtype))
    with pytest.raises(RuntimeError, match=f"^{words}"):
        getattr(lib.nn.functional, loss)(x, t)


def test_the_mend_of_a_target(agree):
    agree(lambda lib, x, t: lib.nn.functional.cross_entropy(x, t.byte()), X[:, :, 0], T[:, 0])
    with pytest.raises(RuntimeError, match=r"convert them with target\.long\(\)$"):
        gw.nn.functional.cross_entropy(gw.zeros(4, 2), gw.zeros(4, dtype=gw.int32))
    with pytest.raises(RuntimeError, match=r"target of \[4, 1\]; squeeze its last dim$"):
        gw.nn.functional.cross_entropy(gw.zeros(4, 2), gw.zeros(4, 1, dtype=gw.int64))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("further", [{}, {"ignore_index": 1}, {"label_smoothing": 0.3}])
def test_weights_of_classes_that_require_grad(reduction, further):
    """PyTorch refuses them."""
    F, x, t, w = gw.nn.functional, gw.tensor(X), gw.tensor(T), gw.tensor(W, requires_grad=True)
    assert gw.autograd.gradcheck(lambda w: F.cross_entropy(x, t, w, reduction=reduction, **further), w)
    x, t, further = x[:, :, 0], t[:, 0], {name: v for name, v in further.items() if name == "ignore_index"}
    assert gw.autograd.gradcheck(lambda w: F.nll_loss(x.log_softmax(1), t, w, reduction=reduction, **further), w)
    assert gw.autograd.gradcheck(lambda w: F.multi_margin_loss(x, t, weight=w, reduction=reduction), w)
