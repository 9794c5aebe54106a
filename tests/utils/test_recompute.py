"""A checkpointed function that does something else when it is run again, or is run by several threads."""

import importlib
import threading

import pytest

import gradwright


def module(T):
    return importlib.import_module(f"{T.__name__}.utils.checkpoint")


class Fickle:
    """Does one thing the first time, another from then on."""

    def __init__(self, first, then):
        self.first, self.then, self.calls = first, then, 0

    def __call__(self, x):
        self.calls += 1
        return (self.first if self.calls == 1 else self.then)(x)


def run(T, first, then, **options):
    x = T.tensor([0.5, 1.0, 2.0], dtype=T.float64, requires_grad=True)
    f = Fickle(first, then)
    return x, f, module(T).checkpoint(f, x, use_reentrant=False, **options).sum()


MORE = lambda x: x.sin().exp().cos()
LESS = lambda x: x.sin().exp()


def test_fewer_values(T):
    x, f, y = run(T, MORE, LESS)
    message = "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomp"
    numbers = r"(.|\n)*during forward: 3\n(.|\n)*during recomputation: 2"
    with pytest.raises(module(T).CheckpointError, match=message + numbers):
        y.backward(retain_graph=True)
    assert x.grad is None
    with pytest.raises(module(T).CheckpointError, match="A different number of tensors"):
        y.backward(retain_graph=True)
    f.then = MORE
    y.backward()
    assert x.grad is not None


def test_more_values(T):
    _, _, y = run(T, LESS, MORE, early_stop=False)
    with pytest.raises(module(T).CheckpointError, match="trying to save more tensors during recomputation than during"):
        y.backward()
    _, _, y = run(T, LESS, MORE)
    y.backward()  # an early stop does not notice


@pytest.mark.parametrize(
    ("then", "what"),
    [
        (lambda x: x[:2].sin().exp(), r"saved metadata: .*\[3\](.|\n)*recomputed metadata: .*\[2\]"),
        (lambda x: x.float().sin().exp(), r"saved metadata: .*float64(.|\n)*recomputed metadata: .*float32"),
    ],
)
def test_other_shapes_and_dtypes(T, then, what):
    start = "Recomputed values for the following tensors have different metadata than during the forward pass.\n"
    x, _, y = run(T, LESS, then)
    for _ in range(2):  # no wrong value is left for the second
        with pytest.raises(module(T).CheckpointError, match=start + r"(.|\n)*tensor at position 0:\n" + what):
            y.backward(retain_graph=True)
    assert x.grad is None


def test_other_operations():
    """Of the same shapes and dtypes: in PyTorch the gradient is silently wrong."""
    x, _, y = run(gradwright, LESS, lambda x: x.exp().sin())
    with pytest.raises(module(gradwright).CheckpointError) as caught:
        y.backward()
    text = str(caught.value)
    assert "position 0:\nsaved metadata: {'shape': torch.Size([3]), 'dtype': torch.float64, 'operation': Sin" in text
    assert "'operation': ExpBackward0}, at " in text
    assert "x.exp().sin()" in text  # the line
    assert "The function is Fickle, checkpointed at " in text
    assert "debug=True" in text
    assert x.grad is None


def test_no_check(T):
    _, _, y = run(T, LESS, lambda x: x.sin().exp() * 1, determinism_check="none")
    y.backward()
    x, _, y = run(T, T.exp, lambda x: x[:2].exp(), determinism_check="none")
    with pytest.raises((RuntimeError, ValueError)):
        y.backward()
    assert x.grad is None


@pytest.mark.parametrize("how", ["argument", "context"])
def test_debug(how):
    T = gradwright  # PyTorch shows the same, with its own frames
    if how == "argument":
        _, _, y = run(T, MORE, LESS, debug=True)
    else:
        with module(T).set_checkpoint_debug_enabled(True):
            _, _, y = run(T, MORE, LESS)
    message = "Operations executed during the original forward:(.|\n)*cos(.|\n)*Operations executed during recomp"
    with pytest.raises(module(T).CheckpointError, match=message) as caught:
        y.backward()
    assert "because you passed `debug=True` to checkpoint" in str(caught.value)


def test_debug_shows_lines():
    _, _, y = run(gradwright, MORE, LESS, debug=True)
    with pytest.raises(module(gradwright).CheckpointError) as caught:
        y.backward()
    first, second = str(caught.value).split("Operations executed during recomputation:")
    assert (first.count("\n  sin of [3] at "), first.count("\n  cos of [3] at "), second.count("cos of")) == (1, 1, 0)
    assert "MORE = lambda x: x.sin().exp().cos()" in first
    assert "LESS = lambda x: x.sin().exp()" in second


def test_debug_can_be_turned_off(T):
    with module(T).set_checkpoint_debug_enabled(False):
        _, _, y = run(T, MORE, LESS, debug=True)
    with pytest.raises(module(T).CheckpointError, match="A different number") as caught:
        y.backward()
    assert "Operations executed" not in str(caught.value)


def test_a_value_that_is_changed_inside_after_it_was_saved():
    """PyTorch computes with what is there now."""

    def f(x):
        y = x.exp()
        z = y * 2
        y.add_(1)
        return z + (z * y).sin()

    x = gradwright.tensor([0.5, 1.0], requires_grad=True)
    for g in (f, lambda x: module(gradwright).checkpoint(f, x, use_reentrant=False)):
        with pytest.raises(RuntimeError, match=r"modified by an inplace operation(.|\n)*y.add_\(1\)"):
            g(x).sum().backward()


def test_backward_from_several_threads(T):
    """Over one graph, each time run again."""
    x = T.tensor([0.5, 1.0, 2.0], dtype=T.float64, requires_grad=True)
    inner = lambda x: module(T).checkpoint(lambda x: x.sin().exp() * x, x, use_reentrant=False)
    y = module(gradwright).checkpoint(inner, x, use_reentrant=False) if T is gradwright else inner(x)
    results, errors = [], []

    def work():
        try:
            results.extend(T.autograd.grad(y.sum(), x, retain_graph=True)[0].tolist() for _ in range(10))
        except RuntimeError as e:
            errors.append(e)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not errors
    assert len(results) == 40
    assert all(r == pytest.approx(results[0]) for r in results)


def test_the_users_numpy_settings_hold_when_the_function_runs_again():
    import numpy as np

    seen = []

    def f(x):
        seen.append(np.geterr()["divide"])
        return x.sin()

    x = gradwright.ones(2, requires_grad=True)
    with np.errstate(divide="raise"):
        module(gradwright).checkpoint(f, x, use_reentrant=False).sum().backward()
    assert seen == ["raise", "raise"]
