"""Clipping gradients, against PyTorch."""

import math

import numpy as np
import pytest

import gradwright as gw


def parameters(lib, scale=1.0, dtype=None):
    """Three parameters, the last of which has no gradient."""
    rng = np.random.default_rng(0)
    made = []
    for size in ((3, 4), (5,)):
        made.append(lib.ones(size, dtype=dtype or lib.float32, requires_grad=True))
        made[-1].grad = lib.tensor((rng.standard_normal(size) * scale).tolist(), dtype=dtype or lib.float32)
    return [*made, lib.ones(2, requires_grad=True)]


def grads(ps):
    return np.concatenate([np.ravel(p.grad.tolist()) for p in ps if p.grad is not None])


@pytest.mark.parametrize("p", [2.0, 1, 3.0, math.inf, -math.inf, 0.5, "inf"])
@pytest.mark.parametrize("max_norm", [0.5, 1e3])
def test_by_norm(torch, p, max_norm):
    ours, theirs = parameters(gw), parameters(torch)
    norms = [lib.nn.utils.clip_grad_norm_(ps, max_norm, p) for lib, ps in ((gw, ours), (torch, theirs))]
    assert norms[0].item() == pytest.approx(norms[1].item(), rel=1e-6)
    assert norms[0].shape == ()
    assert grads(ours) == pytest.approx(grads(theirs), rel=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "float64", "complex64", "bfloat16"])
def test_dtypes(torch, dtype):
    ours, theirs = parameters(gw, 200.0, getattr(gw, dtype))[:1], parameters(torch, 200.0, getattr(torch, dtype))[:1]
    one, two = (lib.nn.utils.clip_grad_norm_(ps, 1.0) for lib, ps in ((gw, ours), (torch, theirs)))
    assert one.item() == pytest.approx(two.item(), rel=1e-2)
    assert str(one.dtype) == str(two.dtype)
    assert np.abs(grads(ours) - grads(theirs)).max() < 5e-3


def test_by_value(lib):
    ps = parameters(lib)
    before = grads(ps)
    lib.nn.utils.clip_grad_value_(ps, 0.5)
    assert (grads(ps) == np.clip(before, -0.5, 0.5)).all()
    lib.nn.utils.clip_grad_value_(ps[0], 0.25)
    assert np.abs(grads(ps[:1])).max() == 0.25
    ps[0].grad[0, 0] = math.nan
    lib.nn.utils.clip_grad_value_(ps[0], 0.1)
    assert np.isnan(grads(ps[:1])).sum() == 1
    with pytest.raises(NotImplementedError, match="clamp"):
        lib.nn.utils.clip_grad_value_(parameters(lib, dtype=lib.complex64), 1.0)


def test_in_two_steps(lib):
    ps = parameters(lib)
    before = grads(ps)
    total = lib.nn.utils.get_total_norm([p.grad for p in ps[:2]])
    assert total.item() == pytest.approx(np.linalg.norm(before), rel=1e-6)
    lib.nn.utils.clip_grads_with_norm_(ps, 0.1, total)
    assert grads(ps) == pytest.approx(before * 0.1 / (total.item() + 1e-6), rel=1e-5)


def test_of_one_tensor(lib):
    (p, *_) = parameters(lib)
    held = p.grad
    lib.nn.utils.clip_grad_norm_(p, 0.1)
    assert p.grad is held
    assert np.linalg.norm(grads([p])) == pytest.approx(0.1, rel=1e-4)


@pytest.mark.filterwarnings("ignore:clip_grad_norm_. the norm")
@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_gradients_that_are_not_finite(lib, bad):
    ps = parameters(lib)
    ps[1].grad[0] = bad
    before = grads(ps)
    with pytest.raises(RuntimeError, match=r"^The total norm of order 2.0 for gradients from `parameters` is non-f"):
        lib.nn.utils.clip_grad_norm_(ps, 1.0, error_if_nonfinite=True)
    np.testing.assert_array_equal(grads(ps), before)
    lib.nn.utils.clip_grad_norm_(ps, 1.0)
    assert np.isnan(grads(ps)).sum() == (1 if bad == math.inf else 17)


def test_nothing_to_clip(lib):
    assert lib.nn.utils.clip_grad_norm_([], 1.0).item() == 0
    assert lib.nn.utils.clip_grad_norm_([lib.ones(1, requires_grad=True)], 1.0).item() == 0
    with pytest.warns(UserWarning, match="`parameters` is an empty generator, no gradient clipping will occur"):
        lib.nn.utils.clip_grad_norm_((p for p in ()), 1.0)


def test_the_old_name(lib):
    with pytest.warns(FutureWarning, match="is now deprecated in favor of"):
        lib.nn.utils.clip_grad_norm(parameters(lib), 1.0)


@pytest.mark.parametrize("p", [2.0, 1.0, math.inf])
@pytest.mark.parametrize("max_norm", [0.5, 1e3])
def test_a_weight_that_is_listed_twice_counts_once(torch, p, max_norm):
    """PyTorch counts it twice, and scales it twice; the truth is PyTorch's for the list without it."""
    ours, theirs = parameters(gw), parameters(torch)
    twice = [*ours, ours[0], ours[2], ours[0]]
    norm = gw.nn.utils.get_total_norm([q.grad for q in twice if q.grad is not None], p)
    assert norm.item() == gw.nn.utils.clip_grad_norm_(iter(twice), max_norm, p).item()
    assert norm.item() == pytest.approx(torch.nn.utils.clip_grad_norm_(theirs, max_norm, p).item(), rel=1e-6)
    assert grads(ours) == pytest.approx(grads(theirs), rel=1e-5)
    gw.nn.utils.clip_grads_with_norm_([*ours, ours[0]], 0.1, norm)
    torch.nn.utils.clip_grads_with_norm_(theirs, 0.1, torch.tensor(norm.item()))
    assert grads(ours) == pytest.approx(grads(theirs), rel=1e-5)
    gw.nn.utils.clip_grad_value_([*ours, ours[0]], 0.01)
    torch.nn.utils.clip_grad_value_(theirs, 0.01)
    assert grads(ours) == pytest.approx(grads(theirs), rel=1e-5)


def test_tied_weights_of_a_model_count_once():
    gw.manual_seed(1)  # whose gradient is longer than 1, so that it is cut
    encoder, decoder = gw.nn.Linear(3, 3, bias=False), gw.nn.Linear(3, 3, bias=False)
    decoder.weight = encoder.weight
    decoder(encoder(gw.ones(2, 3))).square().sum().backward()
    truth = encoder.weight.grad.square().sum().sqrt().item()
    both = [*encoder.parameters(), *decoder.parameters()]
    assert gw.nn.utils.clip_grad_norm_(both, 1.0).item() == pytest.approx(truth, rel=1e-6)
    assert encoder.weight.grad.square().sum().item() == pytest.approx(1.0, rel=1e-4)


@pytest.mark.parametrize("p", [2.0, 1.0, math.inf])
def test_gradients_on_several_devices_have_one_norm(p):
    pytest.importorskip("jax")
    alone = [gw.full((2,), 3.0, requires_grad=True) for _ in range(3)]
    apart = [gw.full((2,), 3.0, device=name, requires_grad=True) for name in ("cpu", "jax:0", "jax:1")]
    found = []
    for weights in (alone, apart):
        for w in weights:
            (w * w).sum().backward()
        found.append(gw.nn.utils.clip_grad_norm_(weights, 1.0, p).item())
    assert found[0] == pytest.approx(found[1], rel=1e-6)
    assert [str(w.grad.device) for w in apart] == ["cpu", "jax:0", "jax:1"]
    for a, b in zip(alone, apart, strict=True):
        np.testing.assert_allclose(b.grad.cpu().numpy(), a.grad.numpy(), rtol=1e-6)


def test_a_used_up_generator_is_warned_of_by_both():
    for clip in gw.nn.utils.clip_grad_norm_, gw.nn.utils.clip_grad_value_:
        with pytest.warns(UserWarning, match="empty generator") as seen:
            clip(iter(()), 1.0)
        assert seen[0].filename == __file__
        p = gw.zeros(1, requires_grad=True)
        p.grad = gw.tensor([3.0])
        clip(iter([p]), 1.0)
        assert p.grad.item() == pytest.approx(1.0, rel=1e-5)


@pytest.mark.parametrize("p", [1, 2.0, 3.0, math.inf])
@pytest.mark.parametrize(("dtype", "size"), [("float32", 1e20), ("float32", 1e38), ("float64", 1e200),
                                            ("bfloat16", 1e20)])  # fmt: skip
def test_a_norm_that_is_a_number_does_not_overflow(p, dtype, size):
    ps = [gw.zeros(2, dtype=getattr(gw, dtype), requires_grad=True) for _ in range(2)]
    for w, values in zip(ps, ([1.0, -0.5], [0.25, 0.0]), strict=True):
        w.grad = gw.tensor(values).to(w.dtype) * size
    exact = np.linalg.norm([1.0, -0.5, 0.25, 0.0], p)
    total = gw.nn.utils.clip_grad_norm_(ps, 1.0, p, error_if_nonfinite=True)
    assert total.item() / size == pytest.approx(exact, rel=1e-2 if dtype == "bfloat16" else 1e-5)
    assert grads(ps) == pytest.approx(np.array([1.0, -0.5, 0.25, 0.0]) / exact, rel=1e-2, abs=0)


def test_a_norm_that_overflows_beside_other_gradients():
    of_none = gw.nn.utils.get_total_norm([gw.ones(0), gw.full((4,), 1e30)])
    assert of_none.item() == pytest.approx(2e30)
    mixed = gw.nn.utils.get_total_norm([gw.full((300, 300), 300.0, dtype=gw.float16), gw.ones(3)])
    assert mixed.dtype is gw.float32
    assert mixed.item() == pytest.approx(9e4)


def test_gradients_of_zero_whose_norm_nobody_looks_at():
    pytest.importorskip("jax")
    w = gw.ones(2, device="jax:0", requires_grad=True)
    w.grad = gw.zeros(2, device="jax:0")
    assert gw.nn.utils.clip_grad_norm_(w, 1.0).item() == 0
    assert w.grad.tolist() == [0, 0]


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_norm_that_is_no_number_is_warned_of(bad):
    w = gw.zeros(2, requires_grad=True)
    w.grad = gw.tensor([bad, 1.0])
    with pytest.warns(UserWarning, match=f"^clip_grad_norm_: the norm of the gradients is {bad}, .*error_if_nonfinite"):
        total = gw.nn.utils.clip_grad_norm_(w, 1.0)
    assert not math.isfinite(total.item())


@pytest.mark.parametrize("bound", [-1.0, -math.inf, math.nan])
@pytest.mark.parametrize(
    ("name", "clip"),
    [("max_norm", gw.nn.utils.clip_grad_norm_), ("clip_value", gw.nn.utils.clip_grad_value_),
     ("max_norm", lambda w, bound: gw.nn.utils.clip_grads_with_norm_(w, bound, gw.tensor(5.0)))],
)  # fmt: skip
def test_a_bound_below_zero_is_refused(name, clip, bound):
    w = gw.zeros(2, requires_grad=True)
    w.grad = gw.tensor([3.0, 4.0])
    with pytest.raises(ValueError, match=f"^{name} must be a number of at least 0, but got {bound}: gradients would"):
        clip(w, bound)
    assert w.grad.tolist() == [3, 4]
