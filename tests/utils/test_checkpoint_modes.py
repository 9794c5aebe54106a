"""Checkpointing: modes, random numbers, early stop, contexts, and what is refused."""

import pytest

import gradwright
from tests.utils.checkpoints import WAYS, Counted, close, module, vector, without

# -- modes --


@WAYS
def test_without_gradients(T, reentrant):
    f = Counted(T.sin)
    x = vector(T)
    for mode in (T.no_grad, T.inference_mode):
        with mode():
            y = module(T).checkpoint(f, x, use_reentrant=reentrant)
        assert not y.requires_grad
    assert f.calls == 2


@WAYS
def test_backward_under_no_grad(T, reentrant):
    x = vector(T)
    y = module(T).checkpoint(lambda x: x.sin().exp(), x, use_reentrant=reentrant).sum()
    with T.no_grad():
        y.backward()
        assert not T.is_grad_enabled()
    close(x.grad, x.cos() * x.sin().exp())


@WAYS
def test_backward_under_inference_mode(T, reentrant):
    """Nothing can be recorded again there."""
    y = module(T).checkpoint(lambda x: (x * 2).sin(), vector(T), use_reentrant=reentrant).sum()
    message = "none of output has requires_grad=True" if reentrant else "A different number of tensors was saved"
    with pytest.raises(RuntimeError, match=message), T.inference_mode():
        y.backward()


def test_under_anomaly_mode(T):
    x = vector(T)
    with T.autograd.detect_anomaly():
        without(T)(lambda x: x.sin().exp(), x).sum().backward()
    close(x.grad, x.cos() * x.sin().exp())


def test_modes_inside_of_the_function(T):
    x, seen = vector(T), []

    def f(x):
        seen.append(T.is_grad_enabled())
        with T.no_grad():
            scale = x.exp()
        return (x * scale).sin()

    without(T)(f, x).sum().backward()
    assert seen == [True, True]
    w = vector(T)
    (w * w.detach().exp()).sin().sum().backward()
    close(x.grad, w.grad)


@WAYS
def test_random_numbers_are_drawn_again(T, reentrant):
    masks = []

    def f(x):
        y = T.nn.functional.dropout(x, 0.5, True)
        masks.append((y != 0).tolist())
        return y * T.rand(64, dtype=T.float64)

    T.manual_seed(3)
    x = T.ones(64, dtype=T.float64, requires_grad=True)
    y = module(T).checkpoint(f, x, use_reentrant=reentrant)
    T.rand(2)
    state = T.get_rng_state()
    y.sum().backward()
    assert masks[0] == masks[1]
    close(x.grad, y)
    assert T.get_rng_state().tolist() == state.tolist()


@WAYS
def test_random_numbers_are_not_drawn_again_if_not_wanted(T, reentrant):
    masks = []

    def f(x):
        masks.append(T.rand(8).tolist())
        return x.exp()

    x = vector(T)
    module(T).checkpoint(f, x, use_reentrant=reentrant, preserve_rng_state=False).sum().backward()
    assert masks[0] != masks[1]


# -- early stop, contexts --


def test_early_stop(T):
    f = Counted(T.sin, lambda x: x + 1, lambda x: x * 3, lambda x: x - 1)
    settings = module(T)
    for early, done in ((True, 4), (False, 8)):
        f.done = 0
        without(T)(f, vector(T), early_stop=early).sum().backward()
        assert f.done == done
        f.done = 0
        with settings.set_checkpoint_early_stop(not early):
            y = without(T)(f, vector(T), early_stop=early)
        y.sum().backward()
        assert f.done == 12 - done


def test_early_stop_is_not_caught():
    """PyTorch's is: it is an Exception."""

    def f(x):
        try:
            return x.sin() + 1
        except Exception as e:
            raise AssertionError from e

    x = vector(gradwright)
    without(gradwright)(f, x).sum().backward()
    close(x.grad, x.cos())


def test_contexts(T):
    events = []

    class Context:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            events.append(f"{self.name} in")

        def __exit__(self, *exc):
            events.append(f"{self.name} out")

    def f(x):
        events.append("f")
        return x.sin()

    x = vector(T)
    y = without(T)(f, x, context_fn=lambda: (Context("first"), Context("again")))
    assert events == ["first in", "f", "first out"]
    y.sum().backward()
    assert events[3:] == ["again in", "f", "again out"]


def test_a_context_that_suppresses(T):
    class Context:
        def __enter__(self):
            return None

        def __exit__(self, *exc):
            return True

    def f(x):
        raise KeyError

    with pytest.raises(RuntimeError, match="context_fn suppressed an exception raised during"):
        without(T)(f, vector(T), context_fn=lambda: (Context(), Context()))


@WAYS
def test_an_exception_in_the_function(T, reentrant):
    fails = [True]

    def f(x):
        if fails[0]:
            raise KeyError("inside")
        return x.sin().exp()

    x = vector(T)
    with pytest.raises(KeyError, match="inside"):
        module(T).checkpoint(f, x, use_reentrant=reentrant)
    fails[0] = False
    y = module(T).checkpoint(f, x, use_reentrant=reentrant).sum()
    fails[0] = True
    with pytest.raises(KeyError, match="inside"):
        y.backward(retain_graph=True)
    assert x.grad is None
    assert T.is_grad_enabled()
    fails[0] = False
    y.backward()
    close(x.grad, x.cos() * x.sin().exp())


# -- what is refused --


def test_use_reentrant_should_be_passed(T):
    x = vector(T)
    message = "the use_reentrant parameter should be passed explicitly"
    with pytest.warns(UserWarning, match=f"torch.utils.checkpoint: {message}|checkpoint.checkpoint: {message}"):
        y = module(T).checkpoint(T.sin, x)
    assert type(y.grad_fn).__name__ == "CheckpointFunctionBackward"
    with pytest.warns(UserWarning, match=f"checkpoint_sequential: {message}"):
        module(T).checkpoint_sequential([T.sin], 1, x)


def test_reentrant_refusals(T):
    checkpoint, x = module(T).checkpoint, vector(T)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: scale"):
        checkpoint(T.sin, x, use_reentrant=True, scale=3)
    for options in ({"context_fn": lambda: None}, {"debug": True}):
        with pytest.raises(ValueError, match="Passing `context_fn` or `debug` is only supported when use_reentrant="):
            checkpoint(T.sin, x, use_reentrant=True, **options)
    message = "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad"
    y = checkpoint(T.sin, x, use_reentrant=True).sum()
    with pytest.raises(RuntimeError, match=message):
        T.autograd.grad(y, x, retain_graph=True)
    with pytest.raises(RuntimeError, match=message):
        y.backward(inputs=[x], retain_graph=True)
    y.backward()
    close(x.grad, x.cos())


def test_reentrant_second_derivatives_are_refused():
    """In PyTorch they are silently missing."""
    x = vector(gradwright)
    y = module(gradwright).checkpoint(lambda x: x.sin() * x, x, use_reentrant=True)
    y.sum().backward(create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        x.grad.sum().backward()


def test_options_that_are_wrong(T):
    x = vector(T)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        without(T)(T.sin, x, determinism_check="values")
    with pytest.raises(ValueError, match="debug=True is incompatible with non-default context_fn"):
        without(T)(T.sin, x, debug=True, context_fn=lambda: None)
    with pytest.raises(ValueError, match="Unexpected keyword arguments: size"):
        module(T).checkpoint_sequential([T.sin], 1, x, use_reentrant=False, size=3)


def test_an_argument_that_was_changed(T):
    w = vector(T)
    x = w * 2
    y = without(T)(T.sin, x)
    x.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
    assert w.grad is None


def test_a_keyword_argument_that_was_changed():  # (PyTorch computes with the new value)
    x, scale = vector(gradwright), vector(gradwright, grad=False)
    y = without(gradwright)(lambda x, scale: (x * scale).sin(), x, scale=scale)
    scale.mul_(2)
    with pytest.raises(RuntimeError, match=r"Checkpoint saved it as 'scale'\.\n  changed at .*scale\.mul_"):
        y.sum().backward()
    assert x.grad is None
