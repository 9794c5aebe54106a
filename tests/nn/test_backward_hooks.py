"""What backward hooks are given; that they run, and in which order, is in `test_hooks`."""

import warnings

import pytest

import gradwright as gw


def quiet(register, hook):
    """Register without the warning, which both libraries give, each in its own way."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return register(hook)


@pytest.mark.filterwarnings("ignore:Using a non-full backward hook")
def test_old_hooks_are_given_what_the_last_operation_is_given(T, leaf):
    x, seen = leaf([1.0, -2.0]), []
    layer = T.nn.Sequential(T.nn.Tanh(), T.nn.ReLU())

    def note(module, *grads):
        seen.append([module is layer, *(g[0].tolist() for g in grads)])

    handle = quiet(layer.register_backward_hook, note)
    layer(x).backward(T.tensor([3.0, 4.0], dtype=T.float64))
    assert seen == [[True, [3.0, 0.0], [3.0, 4.0]]]
    handle.remove()
    layer(x).sum().backward()
    assert len(seen) == 1


@pytest.mark.filterwarnings("ignore:Using a non-full backward hook")
def test_gradients_of_a_layer_s_activations_as_class_activation_maps_take_them(T):
    net, kept = T.nn.Sequential(T.nn.Conv1d(1, 2, 2), T.nn.Flatten(), T.nn.Linear(4, 3)), {}
    net[0].register_forward_hook(lambda m, args, out: kept.update(value=out))
    quiet(net[0].register_backward_hook, lambda m, gi, go: kept.update(grad=go[0]))
    net(T.ones(1, 1, 3))[0, 1].backward()
    assert kept["grad"].flatten().tolist() == net[2].weight[1].tolist()
    assert kept["value"].shape == kept["grad"].shape


def test_both_sorts_on_one_module_are_refused(T):
    for first, second in (("", "full_"), ("full_", "")):
        layer = T.nn.ReLU()
        quiet(getattr(layer, f"register_{first}backward_hook"), print)
        with pytest.raises(RuntimeError, match="Cannot use both regular backward hooks and full backward hooks"):
            quiet(getattr(layer, f"register_{second}backward_hook"), print)


def test_old_hooks_warn():
    with pytest.warns(gw.GradientWarning, match="register_full_backward_hook gives the module's own"):
        gw.nn.ReLU().register_backward_hook(print)
