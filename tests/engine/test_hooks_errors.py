"""Hooks that go wrong: what the caller is told, and what is left behind."""

import numpy as np
import pytest

import gradwright
from gradwright.engine.mode import PLAIN, now
from tests.functions import functions


class MishapError(Exception):
    pass


def mishap(*args):
    raise MishapError("in hook")


def three(T, dtype):
    return T.ones(3, dtype=getattr(T, dtype))


TENSOR = [
    (lambda T: 1.0, TypeError, "expected Variable, but hook returned 'float'"),
    (lambda T: (T.ones(2),), TypeError, "expected Variable, but hook returned 'tuple'"),
    (lambda T: three(T, "float64"), RuntimeError, "hook '<lambda>' has changed the size of value"),
    (lambda T: T.ones(2, dtype=T.float32), RuntimeError,
     r"has changed the type of value \(was torch.DoubleTensor got torch.FloatTensor\)"),
]  # fmt: skip


@pytest.mark.parametrize(("result", "error", "message"), TENSOR)
@pytest.mark.parametrize("place", ["result", "leaf"])
def test_what_a_tensor_hook_returns_must_fit(T, leaf, result, error, message, place):
    x = leaf([1.0, 2.0])
    y = x * 2
    (y if place == "result" else x).register_hook(lambda g: result(T))
    with pytest.raises(error, match=message):
        y.sum().backward()
    assert x.grad is None


NODE = [
    (lambda T: 1.0, TypeError, "expected tuple, but hook returned 'float'"),
    (lambda T: [None, None], TypeError, "expected tuple, but hook returned 'list'"),
    (lambda T: T.ones(2), TypeError, "expected tuple, but hook returned 'Tensor'"),
    (lambda T: (T.ones(2),) * 3, RuntimeError, r"has returned an incorrect number of values \(got 3, but expected"),
]  # fmt: skip


@pytest.mark.parametrize(("result", "error", "message"), NODE)
@pytest.mark.parametrize("register", ["register_hook", "register_prehook"])
def test_what_a_node_hook_returns_must_fit(T, leaf, result, error, message, register):
    x = leaf([1.0, 2.0])
    y = x * T.ones(2, dtype=T.float64)
    getattr(y.grad_fn, register)(lambda *grads: result(T))
    with pytest.raises(error, match=message):
        y.sum().backward()
    assert x.grad is None


def test_a_post_hook_fits_each_gradient(T, leaf):
    x, one = leaf([1.0, 2.0]), T.ones(2, dtype=T.float64)
    y = x * one
    for result, error, message in (
        ((1.0, None), TypeError, "expected Variable, but hook returned 'float'"),
        ((one, one), RuntimeError, "can't replace a None gradient with a non-None value"),
        ((three(T, "float32"), None), RuntimeError, "has changed the type of value"),
    ):
        with y.grad_fn.register_hook(lambda *grads, r=result: r), pytest.raises(error, match=message):
            y.sum().backward(retain_graph=True)
    assert x.grad is None


def test_a_post_accumulate_hook_returns_nothing(T, leaf):
    for result, error in ((T.ones(()), RuntimeError), (1.0, TypeError)):
        x = leaf(1.0)
        x.register_post_accumulate_grad_hook(lambda t, r=result: r)
        with pytest.raises(error):
            (x * 1).backward()
        assert x.grad.item() == 1


def test_a_post_accumulate_hook_may_return_its_tensor(T, leaf):
    x = leaf([1.0, 2.0])
    x.register_post_accumulate_grad_hook(lambda t: t.requires_grad_(False))
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]
    assert not x.requires_grad


def test_messages_name_the_hook_and_the_node():
    def clip(g):
        return 3

    x = gradwright.ones(2, requires_grad=True)
    a, b = x.unbind()
    b.register_hook(clip)
    with pytest.raises(TypeError, match=r"hook 'clip' \(.*test_hooks_errors.py:\d+\) on output 1 of UnbindBackward0"):
        (a + b).backward()


REGISTER = {
    "tensor": lambda x, y: y.register_hook(mishap),
    "pre": lambda x, y: y.grad_fn.register_prehook(mishap),
    "post": lambda x, y: y.grad_fn.register_hook(mishap),
    "leaf": lambda x, y: x.register_hook(mishap),
    "leaf pre": lambda x, y: y.grad_fn.next_functions[0][0].register_prehook(mishap),
    "post-accumulate": lambda x, y: x.register_post_accumulate_grad_hook(mishap),
}


@pytest.mark.parametrize("kind", REGISTER)
@pytest.mark.parametrize("create_graph", [False, True])
def test_an_exception_in_a_hook_reaches_the_caller_and_locks_nothing(T, leaf, kind, create_graph):
    x = leaf([1.0, 2.0])
    y = x * 2
    handle = REGISTER[kind](x, y)
    versions = x._version, y._version
    with np.errstate(all="raise"), pytest.raises(MishapError, match="in hook") as caught:
        y.sum().backward(create_graph=create_graph)
    assert T.is_grad_enabled()
    assert (x._version, y._version) == versions
    if kind != "post-accumulate":
        assert x.grad is None
    if T is gradwright:
        assert caught.value.__notes__[0].startswith("raised by hook 'mishap' (")
        assert now() is PLAIN
    handle.remove()
    x.grad = None
    (x * 3).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_an_error_leaves_numpys_error_state_alone():
    x = gradwright.ones(2, requires_grad=True)
    seen = []
    x.register_hook(lambda g: (seen.append(np.geterr()["over"]), mishap()))
    with np.errstate(over="raise"):
        with pytest.raises(MishapError):
            (x * 2).sum().backward()
        assert np.geterr()["over"] == "raise"
    assert seen == ["raise"]  # a hook computes as its author set NumPy


def test_what_is_written_when_a_post_accumulate_hook_raises(T, leaf):
    a, b, c = leaf(1.0), leaf(1.0), leaf(1.0)
    b.register_post_accumulate_grad_hook(mishap)
    with pytest.raises(MishapError):
        (a * 1 + b * 1 + c * 1).backward()
    assert [t.grad is not None for t in (a, b, c)] == [False, True, True]


def test_a_leaf_hook_that_raises_leaves_every_grad():  # (PyTorch has written c's)
    a, b, c = (gradwright.ones(2, requires_grad=True) for _ in range(3))
    b.register_hook(mishap)
    with pytest.raises(MishapError):
        (a + b + c).sum().backward()
    assert (a.grad, b.grad, c.grad) == (None, None, None)


def test_what_ran_is_freed(T, leaf):
    x = leaf(1.0)
    y = x.exp().exp()
    handle = x.register_hook(mishap)
    with pytest.raises(MishapError):
        y.backward(retain_graph=True)
    with pytest.raises(MishapError):
        y.backward()
    handle.remove()
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        y.backward()
    assert x.grad is None


def test_retained_gradients_are_written_as_the_pass_goes(T, leaf):
    x = leaf(1.0)
    y = x * 2
    z = y * 3
    y.retain_grad()
    z.retain_grad()
    y.grad_fn.register_prehook(mishap)
    with pytest.raises(MishapError):
        (z * 5).backward()
    assert (z.grad.item(), y.grad.item()) == (5, 15)


def test_backward_in_a_hook(T, leaf):
    x = leaf(2.0)
    y = x * x

    def hook(g):
        with T.enable_grad():
            (x * 5).backward()

    y.register_hook(hook)
    y.backward()
    assert x.grad.item() == 9


def test_backward_in_a_hook_of_the_same_graph(T, leaf):
    x, seen = leaf(2.0), []
    z = x * x * 3

    def hook(g):
        seen.append(g.item())
        if len(seen) < 3:
            z.backward(retain_graph=True)

    z.register_hook(hook)
    z.backward(retain_graph=True)
    assert seen == [1, 1, 1]
    assert x.grad.item() == 36


def test_a_graph_that_a_hook_used_up(T, leaf):
    x = leaf(2.0)
    y = x * x
    z = y.exp()
    once = [True]

    def hook(g):
        if once:
            once.clear()
            z.backward()

    y.register_hook(hook)
    with pytest.raises(RuntimeError, match="backward through the graph a second time"):
        z.backward()
    assert T.is_grad_enabled()


def test_an_inner_pass_that_fails_in_a_users_backward(T, leaf):
    class Outer(functions(T)):
        def forward(ctx, x):
            return x * 2

        def backward(ctx, g):
            with T.enable_grad():
                u = leaf(1.0)
                v = u * 2
                v.register_hook(mishap)
                with pytest.raises(MishapError):
                    v.backward()
            assert not T.is_grad_enabled()
            return g * 2

    x = leaf(1.0)
    Outer.apply(x).backward()
    assert x.grad.item() == 2
