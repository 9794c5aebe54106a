"""save_on_cpu, disable_saved_tensors_hooks and allow_mutation_on_saved_tensors, on gradwright and on PyTorch."""

import weakref

import numpy as np
import pytest

import gradwright
from tests.engine.recorder import Recorder


def test_save_on_cpu(T, leaf):
    x = leaf([1.0, 2.0])
    with T.autograd.graph.save_on_cpu(pin_memory=False):
        y = (x.exp() * x).sum()
    (g,) = T.autograd.grad(y, x, create_graph=True)
    (h,) = T.autograd.grad(g.sum(), x)
    np.testing.assert_allclose(g.detach().numpy(), np.exp([1, 2]) * [2, 3])
    np.testing.assert_allclose(h.numpy(), np.exp([1, 2]) * [3, 4])


def test_disabling_hooks(T, leaf):
    graph, x = T.autograd.graph, leaf(2.0)
    inner = graph.disable_saved_tensors_hooks("inner")
    with graph.disable_saved_tensors_hooks("outer"):
        with inner, pytest.raises(RuntimeError, match=r"^inner$"), graph.save_on_cpu():
            raise AssertionError
        with pytest.raises(RuntimeError, match=r"^outer$"), Recorder().on(T):
            raise AssertionError
        x.exp().backward()
    with Recorder().on(T):
        with pytest.raises(RuntimeError, match=r"^too late$"), graph.disable_saved_tensors_hooks("too late"):
            raise AssertionError
        x.exp().backward()

    @graph.disable_saved_tensors_hooks("decorated")
    def f():
        with graph.save_on_cpu():
            raise AssertionError

    with pytest.raises(RuntimeError, match=r"^decorated$"):
        f()
    with graph.save_on_cpu():
        x.exp()


def _squared(a, change):
    """The sum of the squares of a copy of a, which is then changed."""
    b = a.clone()
    out = (b**2).sum()
    change(b)
    return out


def _twice(a):
    b = a.clone()
    out = (b * b).sum() + (b.mul_(2) * b).sum()
    b.zero_()
    return out


def _both_views(b):
    b[0].zero_()
    b[1:].mul_(3)


MUTATIONS = {
    "an input": lambda a: _squared(a, lambda b: b.sin_()),
    "by an operator": lambda a: _squared(a, lambda b: b.__imul__(3)),
    "a result": lambda a: _squared(a.exp(), lambda b: b.zero_()),
    "twice": _twice,
    "a view": lambda a: _squared(a, _both_views),
    "what was not saved": lambda a: _squared(a, lambda b: (b + 1).zero_()),
    "in place again": lambda a: a.clone().exp_().mul_(a).sqrt_().sum(),
}


@pytest.mark.parametrize("name", MUTATIONS)
def test_allow_mutation_on_saved_tensors(T, leaf, name):
    a = leaf([1.0, 2.0])
    with T.autograd.graph.allow_mutation_on_saved_tensors():
        out = MUTATIONS[name](a)
        (g,) = T.autograd.grad(out, a)
    eps, numeric = 1e-6, []
    for i in range(2):
        ends = []
        for sign in (1, -1):
            data = [1.0, 2.0]
            data[i] += sign * eps
            ends.append(MUTATIONS[name](T.tensor(data, dtype=T.float64)).item())
        numeric.append((ends[0] - ends[1]) / (2 * eps))
    np.testing.assert_allclose(g.numpy(), numeric, rtol=1e-7)


def test_the_base_of_a_saved_view_may_be_changed():
    """PyTorch, which goes by where memory begins, is silently wrong here."""
    a = gradwright.tensor([1.0, 2.0], requires_grad=True)
    with gradwright.autograd.graph.allow_mutation_on_saved_tensors():
        b = a.clone()
        out = (b[1:] ** 2).sum()
        b.zero_()
        out.backward()
    assert a.grad.tolist() == [0.0, 4.0]


def test_allow_mutation_contexts(T, leaf):
    a = leaf([1.0, 2.0])
    allow = T.autograd.graph.allow_mutation_on_saved_tensors
    with (
        allow(),
        pytest.raises(RuntimeError, match="allow_mutation_on_saved_tensors contexts cannot be nested"),
        allow(),
    ):
        raise AssertionError
    with allow():
        b = a.clone()
        out = (b**2).sum()
        b.sin_()
        out.backward()
    assert a.grad.tolist() == [2.0, 4.0]


def test_backward_outside_of_the_context():
    """Allowed here; PyTorch refuses it."""
    a = gradwright.tensor([1.0, 2.0], requires_grad=True)
    with gradwright.autograd.graph.allow_mutation_on_saved_tensors():
        b = a.clone()
        out = (b**2).sum()
        b.sin_()
    out.backward()
    assert a.grad.tolist() == [2.0, 4.0]
    with gradwright.autograd.graph.allow_mutation_on_saved_tensors() as allowed:
        b = a.clone()
        out = (b**2).sum()
        allowed.clear()
        b.sin_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.backward()


def test_mutation_that_could_not_be_seen_is_an_error():
    """Memory written through NumPy before the engine hears of it."""
    a = gradwright.tensor([1.0, 2.0], requires_grad=True)
    with gradwright.autograd.graph.allow_mutation_on_saved_tensors():
        b = a.clone()
        out = (b**2).sum()
        array = b.detach().numpy()
        array *= 5
        b.mul_(2)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            out.backward()


def test_allow_mutation_holds_on_to_nothing(no_gc):
    with gradwright.autograd.graph.allow_mutation_on_saved_tensors():
        held = []
        for _ in range(3):
            a = gradwright.tensor([1.0, 2.0], requires_grad=True)
            b = a.clone()
            out = (b**2 * a).sum()
            b.sin_()
            held += [weakref.ref(b), weakref.ref(out.grad_fn)]
            out.backward()
        del a, b, out
        assert [ref() for ref in held] == [None] * 6


def test_allow_mutation_forgets_what_graphs_that_are_gone_had_saved(no_gc):
    x = gradwright.ones(2, requires_grad=True)
    with gradwright.autograd.graph.allow_mutation_on_saved_tensors() as watch:
        kept = (x * x).sum()
        before = {key: len(many) for key, many in watch._saved.items()}
        for _ in range(3):
            (x * x).sum()
        assert {key: len(many) for key, many in watch._saved.items()} == before
        del kept
        assert not watch._saved
