import gc

import numpy as np
import pytest

import gradwright as gw
from gradwright.autograd import forward_ad as fw

f64 = {"dtype": gw.float64}
X, V = np.array([0.5, -1.0, 2.0]), np.array([1.0, 3.0, -2.0])


def pair(grad=False):
    return gw.tensor(X, requires_grad=grad), gw.tensor(V, requires_grad=grad)


def tangent(t):
    return fw.unpack_dual(t).tangent


def test_packing_and_unpacking_share_memory_and_versions():
    x, v = pair()
    with fw.dual_level() as number:
        assert number == 0
        dual = fw.make_dual(x, v)
        value, t = fw.unpack_dual(dual)
        assert t is v
        assert fw.unpack_dual(dual).primal is not value
        assert value.data_ptr() == x.data_ptr() == dual.data_ptr()
        for shared in (x, v):
            shared.add_(1)
            assert (dual._version, value._version) == (x._version, x._version)
            assert t._version == v._version
        assert value.tolist() == x.tolist() == dual.tolist() == (X + 1).tolist()
        assert fw.unpack_dual(x).tangent is None
        assert fw.unpack_dual(x).primal.tolist() == x.tolist()
    assert fw.unpack_dual(dual) == (dual, None)


def test_both_parts_can_be_run_backward():
    x, v = pair(grad=True)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        assert dual.requires_grad
        assert dual.grad_fn.name() == "AliasBackward0"
        value, t = fw.unpack_dual(dual.sin() * dual)
        slope = np.cos(X) * X + np.sin(X)
        gx, gv = gw.autograd.grad(value.sum(), (x, v), retain_graph=True, allow_unused=True)
        assert np.allclose(gx.detach().numpy(), slope)
        assert gv is None
        gx, gv = gw.autograd.grad(t.sum(), (x, v))
        assert np.allclose(gx.detach().numpy(), V * (2 * np.cos(X) - X * np.sin(X)))
        assert np.allclose(gv.detach().numpy(), slope)


def test_a_gradient_taken_inside_moves():
    x, v = gw.tensor(X, requires_grad=True), gw.tensor(V)
    with fw.dual_level():
        y = (fw.make_dual(x, v) ** 3).sum()
        y.backward(retain_graph=True)
        moved = tangent(x.grad)
        assert not moved.requires_grad
        assert np.allclose(moved.numpy(), 6 * X * V)
    assert np.allclose(x.grad.numpy(), 3 * X**2)
    x.grad = None
    y.backward()
    assert np.allclose(x.grad.numpy(), 3 * X**2)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (x @ x.T).exp(),
        lambda x: gw.cat([x, x * x]).cumsum(0).max(1).values,
        lambda x: gw.linalg.inv(x @ x.T + 2 * gw.eye(3, **f64)).softmax(1) * x.std(1),
        lambda x: gw.where(x > 0, x.sqrt(), -x)[[0, 1], [1, 0]] / x.prod(),
        lambda x: gw.nn.functional.conv1d(x[None], x[:2, None, :2].expand(2, 3, 2)),
        lambda x: gw.stack(x.unbind(0)).svd().S + x.norm(),
    ],
)
def test_a_graph_recorded_inside_is_run_backward_after_the_level_has_ended(f):
    x = gw.tensor(np.abs(np.random.default_rng(0).standard_normal((3, 4))), requires_grad=True)
    with fw.dual_level():
        y = f(fw.make_dual(x, gw.ones(3, 4, **f64))).sum()
    y.backward()
    there = gw.autograd.grad(f(x).sum(), x)[0]
    assert np.allclose(x.grad.numpy(), there.numpy(), 1e-12)
    assert repr(y).startswith("tensor(")
    assert "tangent" not in repr(y)


def test_writes_in_place_reach_views_that_move_and_no_others():
    x, v = pair()
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        dual *= 2
        assert tangent(x) is None
        assert v.tolist() == (2 * V).tolist()
        assert x.tolist() == (2 * X).tolist()
        view = dual[:1]
        view *= 2
        assert x.tolist() == [4 * X[0], *(2 * X[1:])]
        assert tangent(dual).tolist() == [4 * V[0], *(2 * V[1:])]
        assert tangent(view).tolist() == [4 * V[0]]
        plain = gw.rand(3, **f64)
        plain += dual
        assert tangent(plain).tolist() == tangent(dual).tolist()
        plain = gw.rand(3, **f64)
        part = plain[1:]
        part[0] = dual[2]
        assert tangent(plain).tolist() == [0.0, 2 * V[2], 0.0]
        assert tangent(part).tolist() == [2 * V[2], 0.0]
        plain = gw.rand(3, **f64)
        aside = plain.detach()
        aside += dual
        assert tangent(plain) is None
        assert tangent(aside).tolist() == tangent(dual).tolist()
        dual.zero_()
        assert tangent(dual).tolist() == [0.0, 0.0, 0.0]


def test_saved_values_may_be_overwritten_where_they_may_without_a_level():
    x = gw.tensor(X, requires_grad=True)
    with fw.dual_level():
        y = fw.make_dual(x, gw.tensor(V)).exp() * 1
        y.mul_(2)
        z = (y * 1.0).exp_().sum()
        g = gw.autograd.grad(z, x)[0]
        assert np.allclose(g.detach().numpy(), np.exp(2 * np.exp(X)) * 2 * np.exp(X))
    with fw.dual_level():
        y = fw.make_dual(x, gw.tensor(V)).exp()
        z = y * y
        y.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            z.sum().backward()


@pytest.mark.parametrize("lies", [lambda t: t.T, lambda t: t.T.clone(), lambda t: gw.zeros(6, 4, **f64)[::2, 1:3]])
def test_a_tangent_lies_in_memory_as_its_value_does(lies):
    x, v = gw.tensor(np.arange(6.0).reshape(3, 2)), gw.tensor(np.arange(6.0).reshape(2, 3) - 2.0).T
    value = lies(x.T.clone()).copy_(x)
    with fw.dual_level():
        dual = fw.make_dual(value, v)
        assert tangent(dual).stride() == value.stride()
        assert (tangent(dual) is v) == (value.stride() == v.stride())
        assert tangent(dual).tolist() == v.tolist()
        first = dual.T.reshape(-1)
        first *= 10
        assert first._is_view() == tangent(first)._is_view()
        factor = 10 if first._is_view() else 1
        assert np.allclose(tangent(dual).numpy(), factor * v.numpy())
        assert np.allclose(dual.detach().numpy(), factor * x.numpy())
        again = (dual * 1).reshape(-1)
        again += 1
        assert tangent(again).shape == (6,)


def test_detach_drops_tangents_and_no_grad_keeps_them():
    x, v = pair(grad=True)
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        assert tangent(dual.detach() * 2) is None
        assert tangent(dual.data) is None
        clone = dual.clone().detach_()
        assert fw.unpack_dual(clone * 2).tangent is None
        with gw.no_grad():
            value, t = fw.unpack_dual(dual * 3)
        assert not value.requires_grad
        assert not t.requires_grad
        assert t.tolist() == (3 * V).tolist()
        with gw.no_grad(), gw.enable_grad():
            assert tangent(dual * 3).requires_grad
        assert not (dual > 0).requires_grad
        assert tangent(dual > 0) is None
        assert tangent(dual.max(0).indices) is None
        assert tangent(dual.to(gw.float32)).dtype is gw.float32
        assert tangent(dual.int()) is None


def test_levels_nest():
    x = gw.tensor(2.0, requires_grad=True)
    one = gw.tensor(1.0)
    with fw.dual_level() as outer:
        a = fw.make_dual(x, one)
        with fw.dual_level() as inner:
            assert (outer, inner) == (0, 1)
            b = fw.make_dual(a, one)
            y = b**4
            first = tangent(y)
            assert first.item() == 32.0
            assert fw.unpack_dual(first, level=0).tangent.item() == 48.0
            assert fw.unpack_dual(y, level=0).tangent is None
            assert fw.unpack_dual(fw.unpack_dual(y).primal, level=0).tangent.item() == 32.0
            assert gw.autograd.grad(fw.unpack_dual(first, level=0).tangent, x)[0].item() == 48.0
        assert tangent(y).item() == 32.0
        assert tangent(first).item() == 48.0


def test_the_end_of_a_level_frees_its_tangents():
    x, v = pair()
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        kept = dual * 2
        level = dual.array.level
        t = tangent(kept)
        assert len(level._made) == 2
    assert dual.array.tangent is None
    assert kept.array.tangent is None
    assert (kept + 1).array.__class__ is np.ndarray
    assert t.tolist() == (2 * V).tolist()
    del dual, kept
    gc.collect()
    assert len(level._made) == 0


def test_what_it_refuses():
    x, v = pair()
    with pytest.raises(RuntimeError, match="no level exists, make sure to enter_dual_level"):
        fw.make_dual(x, v)
    with pytest.raises(RuntimeError, match=r"not the last one that was created.*No level is open"):
        fw.exit_dual_level()
    with fw.dual_level():
        for bad in (x.long(), x > 0):
            with pytest.raises(ValueError, match="Expected primal to be floating point or complex, but got: "):
                fw.make_dual(bad, v)
            with pytest.raises(ValueError, match="Expected tangent to be floating point or complex, but got: "):
                fw.make_dual(x, bad)
        with pytest.raises(RuntimeError, match=r"has a different size .*\[3\] .* of size \[2\]"):
            fw.make_dual(x, v[1:])
        with pytest.raises(RuntimeError, match="different dtype than that of the original"):
            fw.make_dual(x, v.float())
        with pytest.raises(RuntimeError, match="already has a forward gradient at the same level 0"):
            fw.make_dual(fw.make_dual(x, v), v)
        with pytest.raises(TypeError, match="expected a Tensor as tangent, but got float"):
            fw.make_dual(x, 1.0)
        with pytest.raises(RuntimeError, match="level 2 is not open: the innermost is 0"):
            fw.make_dual(x, v, level=2)
        with pytest.raises(RuntimeError, match=r"not the last one that was created.*level 0, not 1"):
            fw.exit_dual_level(level=1)
        with pytest.raises(RuntimeError, match=r"numpy\(\) of a tensor that carries a tangent.*detach\(\)"):
            fw.make_dual(x, v).numpy()
    fw.enter_dual_level()
    fw.exit_dual_level(level=0)


def test_an_error_inside_closes_the_level():
    with pytest.raises(ZeroDivisionError), fw.dual_level():
        1 / 0
    with fw.dual_level() as number:
        assert number == 0


def test_tangents_can_be_switched_off():
    x, v = pair()
    assert fw._is_fwd_grad_enabled()
    with fw.dual_level():
        dual = fw.make_dual(x, v)
        with fw._set_fwd_grad_enabled(False):
            assert not fw._is_fwd_grad_enabled()
            off = dual * 2
        assert fw._is_fwd_grad_enabled()
        assert tangent(off) is None
        assert tangent(dual * 2) is not None


def test_printing_shows_the_tangent():
    with fw.dual_level():
        dual = fw.make_dual(gw.tensor([0.5]), gw.tensor([1.0]))
        assert repr(dual) == "tensor([0.5000], tangent=tensor([1.]))"
        dual.requires_grad_()
        assert repr(dual) == "tensor([0.5000], requires_grad=True, tangent=tensor([1.]))"
    assert repr(dual.detach()) == "tensor([0.5000])"


def test_a_dual_may_begin_to_require_grad():
    x, v = pair()
    with fw.dual_level():
        dual = fw.make_dual(x, v).requires_grad_()
        assert dual.is_leaf
        t = tangent(dual**2)
        t.sum().backward()
        assert np.allclose(dual.grad.detach().numpy(), 2 * V)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")
def test_as_pytorch_does():
    torch = pytest.importorskip("torch")

    def program(T, fw):
        x, v = (T.tensor(a.tolist(), dtype=T.float64, requires_grad=True) for a in (X, V))
        with fw.dual_level():
            dual = fw.make_dual(x, v)
            base = T.zeros(2, 3, dtype=T.float64)
            base[0] = dual * 2
            base[1].copy_(dual).mul_(dual)
            y = (base.T @ base).sin().sum(0).tanh() + dual.view(3, 1).expand(3, 3).std(0).clamp(0.1)
            value, t = fw.unpack_dual(y)
            gx, gv = T.autograd.grad(t.sum(), (x, v), retain_graph=True)
            g, moved = fw.unpack_dual(T.autograd.grad(y.sum(), x)[0])
            return [z.detach().numpy() for z in (value, t, gx, gv, g, moved)]

    import torch.autograd.forward_ad as theirs

    for mine, their in zip(program(gw, fw), program(torch, theirs), strict=True):
        np.testing.assert_allclose(mine, their, 1e-12, 1e-12)
