"""Saved-tensor hooks. Tests that ask for `T` run the same program on gradwright and on PyTorch."""

import threading
import weakref

import numpy as np
import pytest

import gradwright
from gradwright.engine.mode import PLAIN, now
from tests.engine.recorder import Recorder, copied, same
from tests.functions import functions


def cube(T):
    class Cube(functions(T)):
        def forward(ctx, x, y):
            out = x**3 * y
            ctx.save_for_backward(x, None, out, y)
            return out

        def backward(ctx, g):
            x, nothing, out, y = ctx.saved_tensors
            assert nothing is None
            return g * 3 * x**2 * y, g * out / y

    return Cube.apply


def two(T):
    class Two(functions(T)):
        def forward(ctx, x):
            a, b = x.sin(), x.cos()
            ctx.save_for_backward(a, b)
            return a, b

        def backward(ctx, ga, gb):
            a, b = ctx.saved_tensors
            return ga * b - gb * a

    return Two.apply


PROGRAMS = {
    "unary": lambda T, x, y: x.exp() + x.sin() + x.sqrt(),
    "binary": lambda T, x, y: x * y + x / y + T.atan2(x, y),
    "a number": lambda T, x, y: x * 3 + x**3,
    "broadcast": lambda T, x, y: x.reshape(2, 1) * y,
    "matmul": lambda T, x, y: x.reshape(1, 2) @ y.reshape(2, 1),
    "reduction": lambda T, x, y: (x * y).prod() + T.logsumexp(x, 0) + y.std(),
    "several outputs": lambda T, x, y: T.cat(T.sort(x * y)) + T.max(x * y, 0)[0],
    "decomposition": lambda T, x, y: T.linalg.qr(T.outer(x, y) + T.eye(2, dtype=T.float64))[1].exp(),
    "variadic": lambda T, x, y: T.cat([x.exp(), y, x]) * T.stack([x, y]).reshape(-1)[:1],
    "views": lambda T, x, y: x[1:] * y[:1] * T.outer(x, y).t()[0].unsqueeze(0),
    "function": lambda T, x, y: cube(T)(x, y) * 2,
    "function of several": lambda T, x, y: two(T)(x * y)[0] * two(T)(y)[1],
    "in place": lambda T, x, y: (x * 1).mul_(y).sin_().pow_(2).exp_(),
    "in place, numbers": lambda T, x, y: (x * 1).add_(2).cos_().sinh_().sigmoid_(),
    "in place on a view": lambda T, x, y: _written_view(x, y),
    "operators in place": lambda T, x, y: _operators(x, y),
    "activations in place": lambda T, x, y: _activations(T, x),
    "composites in place": lambda T, x, y: (x * 1).lerp_(y, 0.3).addcmul_(x, y),
    "where": lambda T, x, y: T.where(x > y, x * y, y.exp()),
    "gather": lambda T, x, y: T.gather(x * y, 0, T.tensor([1, 0, 1])).exp(),
}


def _written_view(x, y):
    z = x * y
    z[0:1].mul_(y[1:]).sin_()
    z[1] = x[1] * y[0]
    return z * z


def _operators(x, y):
    z = x * 1
    z *= y
    z /= x
    z **= 2
    return z


def _activations(T, x):
    f = T.nn.functional
    z = f.leaky_relu(x - 2, 0.1, inplace=True) * f.elu(f.silu(x - 2, inplace=True), inplace=True)
    return z * f.hardtanh(x - 2, -0.2, 0.2, inplace=True) + f.threshold(x - 2, 0.0, 3.0, inplace=True)


def run(T, program, hooks=None, order=2):
    """Value, gradients, and gradients of a function of the gradients."""
    x = T.tensor([1.5, 2.5], dtype=T.float64, requires_grad=True)
    y = T.tensor([0.5, 3.0], dtype=T.float64, requires_grad=True)
    if hooks is None:
        out = program(T, x, y)
    else:
        with hooks.on(T):
            out = program(T, x, y)
    grads = T.autograd.grad((out * out).sum(), (x, y), create_graph=True, allow_unused=True)
    found = [out, *grads]
    if order == 2:
        total = sum((g * g).sum() for g in grads if g is not None)
        found += T.autograd.grad(total, (x, y), allow_unused=True)
    return [None if t is None else t.detach().numpy() for t in found]


def equal(got, wanted):
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("name", PROGRAMS)
def test_hooks_change_no_gradient(T, name):
    hooks = Recorder()
    equal(run(T, PROGRAMS[name], hooks), run(T, PROGRAMS[name]))
    assert hooks.packed
    assert hooks.unpacked


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_agree_with_pytorch(torch, name):
    equal(run(gradwright, PROGRAMS[name], Recorder()), run(torch, PROGRAMS[name], Recorder()))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hook_may_keep_the_tensor_itself(T, name):
    """What an in-place operation overwrites is packed as a copy."""
    equal(run(T, PROGRAMS[name], Recorder(same), 1), run(T, PROGRAMS[name], None, 1))


@pytest.mark.parametrize("name", ["unary", "binary", "a number", "function", "matmul", "in place", "variadic"])
def test_the_same_values_are_packed(torch, name):
    """PyTorch saves some in another order."""
    packed = []
    for T in (gradwright, torch):
        hooks = Recorder()
        with hooks.on(T):
            PROGRAMS[name](T, *[T.tensor(v, dtype=T.float64, requires_grad=True) for v in ([1.5, 2.5], [0.5, 3.0])])
        packed.append(sorted(map(str, hooks.packed)))
    assert packed[0] == packed[1]


def test_what_a_pack_hook_is_given(T, leaf):
    x, c = leaf([1.0, 2.0]), T.tensor([3.0, 4.0], dtype=T.float64)
    seen = []

    def pack(t):
        seen.append((t is x, t.requires_grad, t.is_leaf, type(t.grad_fn).__name__, T.is_grad_enabled()))
        return t.detach()

    with T.autograd.graph.saved_tensors_hooks(pack, same):
        y = x.sin()
        z = y * c
        z.exp()
    assert seen == [(True, True, True, "NoneType", False), (False, False, True, "NoneType", False),
                    (False, True, False, "ExpBackward0", False)]  # fmt: skip


def test_a_parameter_is_given_as_itself(T):
    w, kinds = T.nn.Parameter(T.ones(2)), []
    with T.autograd.graph.saved_tensors_hooks(lambda t: kinds.append(isinstance(t, T.nn.Parameter)) or t, same):
        w * T.ones(2, requires_grad=True)
    assert sorted(kinds) == [False, True]


def test_only_what_is_recorded_while_they_are_on(T, leaf):
    hooks, x = Recorder(), leaf(2.0)
    before = x * x
    with hooks.on(T):
        with T.no_grad():
            x * x
        inside = x.exp()
        x.detach() * 2
    after = x.sin()
    assert len(hooks.packed) == 1
    (before + inside + after).backward()
    assert hooks.unpacked == 1


def test_the_innermost_of_nested_hooks_counts(T, leaf):
    outer, inner, x = Recorder(), Recorder(), leaf(2.0)
    with outer.on(T):
        a = x.exp()
        with inner.on(T):
            b = a.exp()
        c = b.exp()
    c.backward()
    assert (len(outer.packed), outer.unpacked, len(inner.packed), inner.unpacked) == (2, 2, 1, 1)


def test_one_pair_may_be_entered_again(T, leaf):
    hooks, x = Recorder(), leaf(2.0)
    pair = hooks.on(T)
    with pair, pair:
        x.exp()
    with pair:
        x.exp()
    x.exp()
    assert len(hooks.packed) == 2


def test_each_use_unpacks_once(T, leaf):
    hooks, x = Recorder(), leaf([2.0, 3.0])
    with hooks.on(T):
        y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward(retain_graph=True)
    T.autograd.grad(y, x)
    assert hooks.unpacked == 6
    assert x.grad.tolist() == [8.0, 12.0]
    with pytest.raises(RuntimeError, match="a second time"):
        y.backward()
    assert hooks.unpacked == 6


def test_saved_attributes_go_through_the_hooks(T, leaf):
    x = leaf([2.0, 3.0])
    with T.autograd.graph.saved_tensors_hooks(copied, lambda t: t * 10):
        y, z = x * x, x.exp()
    assert y.grad_fn._saved_self.tolist() == y.grad_fn._saved_other.tolist() == [20.0, 30.0]
    assert y.grad_fn._saved_self.requires_grad
    assert z.grad_fn._saved_result.grad_fn is z.grad_fn
    y.sum().backward()
    assert x.grad.tolist() == [40.0, 60.0]
    with pytest.raises(RuntimeError, match="already been freed"):
        y.grad_fn._saved_self


def test_hooks_in_a_recorded_backward_pass(T, leaf):
    hooks, x = Recorder(), leaf([2.0, 3.0])
    y = (x**4).sum()
    with hooks.on(T):
        (g,) = T.autograd.grad(y, x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x)
    assert hooks.packed
    assert hooks.unpacked
    assert h.tolist() == [48.0, 108.0]


def test_a_hook_that_packs_elsewhere(T, leaf, tmp_path):
    """As in PyTorch's tutorial: saved tensors on disk."""

    def pack(t):
        name = tmp_path / f"{len(list(tmp_path.iterdir()))}.npy"
        np.save(name, t.detach().numpy())
        return name

    x = leaf([2.0, 3.0])
    with T.autograd.graph.saved_tensors_hooks(pack, lambda name: T.from_numpy(np.load(name))):
        y = (x * x.sin()).sum()
    y.backward()
    np.testing.assert_allclose(x.grad.numpy(), np.sin([2, 3]) + [2, 3] * np.cos([2, 3]))
    assert len(list(tmp_path.iterdir())) == 3


def test_a_thread_has_hooks_of_its_own(T, leaf):
    hooks, x = Recorder(), leaf(2.0)
    made = []
    with hooks.on(T):
        thread = threading.Thread(target=lambda: made.append(x.exp()))
        thread.start()
        thread.join()
    assert not hooks.packed
    made[0].backward()
    assert x.grad is not None


# -- hooks on one value --


def test_register_hooks(T, leaf):
    x, c = leaf([1.0, 2.0]), T.tensor([3.0, 4.0], dtype=T.float64)
    hooks = Recorder(copied, lambda t: t * 2)
    y = x * c
    raw = y.grad_fn._raw_saved_other
    raw.register_hooks(hooks.pack, hooks.unpack)
    assert hooks.packed == [[3.0, 4.0]]
    with pytest.raises(RuntimeError, match=r"whose hooks have already been set\. Hint: only one pair"):
        raw.register_hooks(hooks.pack, hooks.unpack)
    with pytest.raises(TypeError):
        (x * c).grad_fn._raw_saved_other.register_hooks(hooks.pack, 3)
    y.sum().backward()
    assert x.grad.tolist() == [6.0, 8.0]
    with pytest.raises(RuntimeError, match="after it has been freed"):
        raw.register_hooks(hooks.pack, hooks.unpack)


def test_register_hooks_on_a_result_and_under_hooks(T, leaf):
    x = leaf([1.0, 2.0])
    y = x.exp()
    y.grad_fn._raw_saved_result.register_hooks(copied, lambda t: t * 0 + 1)
    y.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]
    with T.autograd.graph.saved_tensors_hooks(copied, same):
        y = x.exp()
    with pytest.raises(RuntimeError, match="already been set"):
        y.grad_fn._raw_saved_result.register_hooks(copied, same)


def test_register_hooks_on_a_function(T, leaf):
    x, c = leaf([1.0, 2.0]), leaf([3.0, 4.0])
    y = cube(T)(x, c)
    raws = y.grad_fn._raw_saved_tensors
    assert len(raws) == 4
    with pytest.raises(RuntimeError, match="with value None is forbidden"):
        raws[1].register_hooks(copied, same)
    raws[2].register_hooks(copied, lambda t: t * 0)
    y.sum().backward()
    assert x.grad.tolist() == [9.0, 48.0]
    assert c.grad.tolist() == [0.0, 0.0]
    with pytest.raises(RuntimeError, match="freed"):
        y.grad_fn._raw_saved_tensors


def test_register_hooks_on_one_of_several_values():
    x = gradwright.tensor([1.0, 2.0], requires_grad=True)
    y = gradwright.linalg.qr(gradwright.outer(x, x + 1) + gradwright.eye(2))[1]
    raws = y.grad_fn._raw_saved_result
    hooks = Recorder()
    raws[1].register_hooks(hooks.pack, hooks.unpack)
    y.sum().backward(retain_graph=True)
    assert (len(hooks.packed), hooks.unpacked) == (1, 1)


# -- memory --


def test_nothing_is_kept(no_gc):
    """Not even by a hook that keeps the tensors it is given, results among them: in PyTorch that is a leak."""
    x = gradwright.ones(3, requires_grad=True)
    for name, program in PROGRAMS.items():
        for pack in (copied, same):
            hooks = Recorder(pack)
            x = gradwright.tensor([1.5, 2.5], dtype=gradwright.float64, requires_grad=True)
            with hooks.on(gradwright):
                out = program(gradwright, x, x.exp())
            node = weakref.ref(out.grad_fn)
            gone = weakref.ref(x)
            del out, x
            assert node() is None, name
            assert gone() is None, name


def test_packed_values_are_freed_by_backward(no_gc):
    kept = []

    def pack(t):
        packed = copied(t)
        kept.append(weakref.ref(packed))
        return packed

    x = gradwright.ones(3, requires_grad=True)
    with gradwright.autograd.graph.saved_tensors_hooks(pack, same):
        y = (x.exp() * x).sum()
    assert all(ref() is not None for ref in kept)
    y.backward()
    assert all(ref() is None for ref in kept)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("where", ["backward", "hook", "pre-hook", "grad hook"])
def test_hooks_entered_in_a_backward_pass_end_with_it(T, where, create_graph):
    packed, contexts = [], []

    def enter(*args):
        contexts.append(T.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t))
        contexts[-1].__enter__()

    class Enters(T.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 1

        @staticmethod
        def backward(ctx, g):
            if where == "backward":
                enter()
            return g * 1

    x = T.ones(2, requires_grad=True)
    y = Enters.apply(x * 2)
    if where == "hook":
        y.register_hook(enter)
    if where == "pre-hook":
        y.grad_fn.register_prehook(enter)
    if where == "grad hook":
        y.grad_fn.register_hook(enter)
    with T.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        T.autograd.grad(y.sum(), x, create_graph=create_graph)
        assert len(contexts) == 1
        packed.clear()
        x * x
    x * x
    assert not packed
    if T is gradwright:
        contexts[0].__exit__()
        assert now() is PLAIN
