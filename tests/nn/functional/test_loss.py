"""Losses."""

import warnings

import numpy as np
import pytest

import gradwright as gw


@pytest.mark.parametrize(("reduction", "loss", "slope"), [
    ("mean", 10 / 2, [1.0, -3.0]), ("sum", 10.0, [2.0, -6.0]), ("none", [1.0, 9.0], [2.0, -6.0]),
])  # fmt: skip
def test_mse_loss(lib, reduction, loss, slope):
    x, y = lib.tensor([2.0, 1.0], requires_grad=True), lib.tensor([1.0, 4.0], requires_grad=True)
    out = lib.nn.functional.mse_loss(x, y, reduction=reduction)
    out.sum().backward()
    assert out.tolist() == loss
    assert x.grad.tolist() == slope
    assert y.grad.tolist() == [-s for s in slope]


@pytest.mark.parametrize("name", ["kl_div", "poisson_nll_loss", "hinge_embedding_loss", "gaussian_nll_loss"])
def test_others_warn_of_that_too(name):
    """PyTorch's do not."""
    further = [gw.ones(2, 1)] if name == "gaussian_nll_loss" else []
    with pytest.warns(UserWarning, match=r"^Using a target size") as seen:
        getattr(gw.nn.functional, name)(gw.ones(2, 1), gw.ones(2), *further, reduction="sum")
    assert seen[0].filename == __file__


def test_soft_margin_loss_does_not_grow(lib):
    soft_margin_loss = lib.nn.functional.soft_margin_loss
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(RuntimeError, match=r"^output with shape \[4, 1\] doesn't match the broadcast shape \[4, 4"):
            soft_margin_loss(lib.ones(4, 1), lib.ones(4))
        assert soft_margin_loss(lib.zeros(2, 3), lib.ones(3)).item() == pytest.approx(np.log(2))


def test_mse_loss_warns_of_sizes_that_differ(lib):
    mse_loss = lib.nn.functional.mse_loss
    message = (r"^Using a target size \(torch.Size\(\[2\]\)\) that is different to the input size "
               r"\(torch.Size\(\[2, 1\]\)\). This will likely lead to incorrect results")  # fmt: skip
    with pytest.warns(UserWarning, match=message):
        assert mse_loss(lib.tensor([[0.0], [1.0]]), lib.tensor([0.0, 1.0])).item() == 0.5
    with (
        pytest.warns(UserWarning, match="Using a target size"),
        pytest.raises(RuntimeError, match=r"size of tensor a \(2\) must match the size of tensor b \(3\)"),
    ):
        mse_loss(lib.ones(2), lib.ones(3))


def test_mse_loss_reductions(lib):
    with pytest.raises(ValueError, match=r"^max is not a valid value for reduction"):
        lib.nn.functional.mse_loss(lib.ones(1), lib.ones(1), reduction="max")


def test_mse_loss_names_the_target():
    with pytest.raises(TypeError, match=r"^mse_loss\(\): argument 'target' \(position 2\) must be Tensor, not float"):
        gw.nn.functional.mse_loss(gw.ones(1), 3.0)


draw = np.random.default_rng(0)
X, Y, P = draw.standard_normal((4, 3)), draw.standard_normal((4, 3)), draw.uniform(0.05, 0.95, (4, 3))
SIGN = np.where(draw.uniform(size=(4, 3)) < 0.5, -1.0, 1.0)
PAIRS = {
    "mse_loss": ([X, Y], {}), "l1_loss": ([X, Y], {}), "smooth_l1_loss": ([X, Y], {"beta": 0.7}),
    "huber_loss": ([X, Y], {"delta": 0.7}), "binary_cross_entropy": ([P, P.T.reshape(4, 3)], {}),
    "binary_cross_entropy_with_logits": ([X, P], {}), "kl_div": ([X, P], {}), "poisson_nll_loss": ([X, P + 1], {}),
    "gaussian_nll_loss": ([X, Y, P], {"full": True}), "hinge_embedding_loss": ([X, SIGN], {"margin": 0.3}),
    "margin_ranking_loss": ([X, Y, SIGN], {"margin": 0.3}), "soft_margin_loss": ([X, SIGN], {}),
    "cosine_embedding_loss": ([X, Y, SIGN[:, 0]], {"margin": 0.1}),
    "triplet_margin_loss": ([X, Y, P], {"swap": True, "p": 3}), "triplet_margin_with_distance_loss": ([X, Y, P], {}),
}  # fmt: skip


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.filterwarnings("ignore:reduction")
def test_agree_with_torch(agree, name, reduction):
    arrays, options = list(PAIRS[name][0]), PAIRS[name][1]
    constant = arrays.pop() if arrays[-1] is SIGN else None

    def call(lib, *xs):
        xs = xs if constant is None else (*xs, lib.tensor(constant))
        return getattr(lib.nn.functional, name)(*xs, reduction=reduction, **options)

    agree(call, *arrays)


@pytest.mark.parametrize("call", [
    lambda F, x, y, p: F.mse_loss(x, y, weight=p),
    lambda F, x, y, p: F.l1_loss(x, y, weight=p, reduction="sum"),
    lambda F, x, y, p: F.huber_loss(x, y, weight=p.detach()),
    lambda F, x, y, p: F.binary_cross_entropy(p, p.detach(), y.detach()),
    lambda F, x, y, p: F.binary_cross_entropy_with_logits(x, p, pos_weight=y.detach().abs()),
    lambda F, x, y, p: F.kl_div(x, y, log_target=True, reduction="batchmean"),
    lambda F, x, y, p: F.poisson_nll_loss(p, p * 4, log_input=False, full=True),
    lambda F, x, y, p: F.gaussian_nll_loss(x, y, p[:, 0]),
    lambda F, x, y, p: F.gaussian_nll_loss(x, y, 0.3),
])  # fmt: skip
def test_options_agree_with_torch(agree, call):
    agree(lambda lib, *xs: call(lib.nn.functional, *xs), X, Y, P)


def test_far_out(lib):
    F, x, t = lib.nn.functional, lib.tensor([-1000.0, 1000.0]), lib.tensor([1.0, 1.0])
    assert F.binary_cross_entropy_with_logits(x, t, reduction="none").tolist() == [1000, 0]
    assert F.binary_cross_entropy_with_logits(x, t, reduction="none", pos_weight=t * 2).tolist() == [2000, 0]
    assert F.binary_cross_entropy(lib.tensor([0.0, 1.0]), t, reduction="none").tolist() == [100, 0]
    assert F.kl_div(x, lib.tensor([0.0, 0.0]), reduction="sum").item() == 0
    assert F.huber_loss(x, t, reduction="none").tolist() == [1000.5, 998.5]


def test_kinks(lib):
    x = lib.tensor([-1.0, 0.0, 1.0], requires_grad=True)
    zero = lib.zeros(3)
    for name, slopes in (("l1_loss", [-1, 0, 1]), ("smooth_l1_loss", [-1, 0, 1]), ("huber_loss", [-1, 0, 1])):
        loss = getattr(lib.nn.functional, name)(x, zero, reduction="sum")
        assert lib.autograd.grad(loss, x)[0].tolist() == slopes


def test_the_old_flags(lib):
    F, x = lib.nn.functional, lib.tensor([1.0, 3.0])
    for flags, wanted in (({"size_average": False}, 4.0), ({"reduce": False}, [1.0, 3.0]), ({"reduce": True}, 2.0)):
        with pytest.warns(UserWarning, match="size_average and reduce args will be deprecated"):
            assert F.l1_loss(x, x * 0, **flags).tolist() == wanted


@pytest.mark.parametrize(("call", "kind"), [
    (lambda F, lib, x: F.binary_cross_entropy(x * 2, x), RuntimeError),
    (lambda F, lib, x: F.binary_cross_entropy(x, x[0]), ValueError),
    (lambda F, lib, x: F.binary_cross_entropy_with_logits(x, x[0]), ValueError),
    (lambda F, lib, x: F.huber_loss(x, x, delta=0.0), RuntimeError),
    (lambda F, lib, x: F.smooth_l1_loss(x, x, beta=-1.0), RuntimeError),
    (lambda F, lib, x: F.gaussian_nll_loss(x, x, -x), ValueError),
    (lambda F, lib, x: F.gaussian_nll_loss(x, x, x[:, :2]), ValueError),
    (lambda F, lib, x: F.margin_ranking_loss(x, x, x[0]), RuntimeError),
    (lambda F, lib, x: F.cosine_embedding_loss(x, x, x), RuntimeError),
    (lambda F, lib, x: F.triplet_margin_loss(x, x, x[0]), RuntimeError),
    (lambda F, lib, x: F.triplet_margin_loss(x, x, x, margin=0), ValueError),
    (lambda F, lib, x: F.mse_loss(x, x, weight=x[0]), ValueError),
])  # fmt: skip
def test_refuses(lib, call, kind):
    with pytest.raises(kind):
        call(lib.nn.functional, lib, lib.ones(2, 3))


def test_kl_div_by_a_target_of_zero(torch) -> None:
    slopes = []
    for lib in (torch, gw):
        x = lib.tensor([-1.0, -2.0], requires_grad=True)
        t = lib.tensor([0.0, 0.5], requires_grad=True)
        loss = lib.nn.functional.kl_div(x, t, reduction="sum")
        loss.backward()
        slopes.append([loss.item(), *x.grad.tolist(), *t.grad.tolist()])
    np.testing.assert_allclose(slopes[1][:3] + slopes[1][4:], slopes[0][:3] + slopes[0][4:], rtol=1e-6)
    assert slopes[1][3] == -np.inf  # 1 + log t - x; PyTorch has NaN


@pytest.mark.parametrize("which", [0, 1])
def test_kl_div_of_whole_numbers(lib, which):
    given = [lib.zeros(2), lib.zeros(2)]
    given[which] = given[which].long()
    with pytest.raises(RuntimeError, match=r"^kl_div: Integral inputs not supported"):
        lib.nn.functional.kl_div(*given, reduction="sum")


LOSSES = {
    "MseLossBackward0": lambda F, x, y, how: F.mse_loss(x, y, reduction=how),
    "SmoothL1LossBackward0": lambda F, x, y, how: F.smooth_l1_loss(x, y, beta=0.5, reduction=how),
    "HuberLossBackward0": lambda F, x, y, how: F.huber_loss(x, y, reduction=how),
    "BinaryCrossEntropyBackward0": lambda F, x, y, how: F.binary_cross_entropy(x, y, reduction=how),
    "BinaryCrossEntropyWithLogitsBackward0":
        lambda F, x, y, how: F.binary_cross_entropy_with_logits(x, y, pos_weight=y, reduction=how),
    "SoftMarginLossBackward0": lambda F, x, y, how: F.soft_margin_loss(x, y, reduction=how),
}  # fmt: skip


@pytest.mark.parametrize("how", ["mean", "sum"])
@pytest.mark.parametrize("name", LOSSES)
def test_the_node_of_a_loss_is_called_as_pytorchs(T, leaf, name, how):
    x, y = leaf([0.25, 0.5]), leaf([0.75, 0.5]).detach()
    assert LOSSES[name](T.nn.functional, x, y, how).grad_fn.name() == name
