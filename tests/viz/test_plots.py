"""The plot of gradients: the numbers in it against the truth, and what it says."""

import numpy as np
import pytest

import gradwright as gw
from gradwright import nn
from gradwright.viz.plots import plot_gradients

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: nothing is plotted")


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


@pytest.fixture
def net():
    net = nn.Sequential(*(nn.Linear(4, 3, bias=False) for _ in range(7)))
    sizes = [1.0, 1e-8, 1e5, 0.0, float("inf"), None, 0.1]
    for layer, size in zip(net, sizes, strict=True):
        layer.weight.grad = None if size is None else gw.full((3, 4), size)
    return net


def test_each_parameter_has_a_row_and_a_judgement(net):
    entries, norms = plot_gradients(net).axes
    assert labels(entries.yaxis) == [f"{k}.weight" for k in range(7)]
    assert labels(norms.yaxis) == ["", "vanishing", "exploding", "zero", "not finite", "no gradient", ""]
    low, high = entries.get_ylim()
    assert low > high  # the first on top


def test_norms_are_those_of_the_gradients(net):
    points = [(line.get_ydata()[0], line.get_xdata()[0]) for line in plot_gradients(net).axes[1].lines]
    truth = [(k, np.linalg.norm(net[k].weight.grad.numpy())) for k in (0, 1, 2, 6)]
    assert np.allclose(points, truth, rtol=1e-6)
    assert plot_gradients(net).axes[1].get_xscale() == "log"


def test_histograms_have_every_entry_in_range():
    layer = nn.Linear(10, 10, bias=False)
    sizes = np.logspace(-4, 2, 100)
    layer.weight.grad = gw.from_numpy(sizes.reshape(10, 10).astype("float32"))
    entries = plot_gradients(layer).axes[0]
    (steps,) = (p for p in entries.patches if isinstance(p, matplotlib.patches.StepPatch))
    heights, edges, base = steps.get_data()
    counts = (base - heights) / 0.85
    truth = np.histogram(sizes, edges)[0]
    assert truth.sum() == 100
    assert np.allclose(counts, truth / truth.max())


def test_zeros_are_left_out_and_what_needs_no_gradient_too():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2).requires_grad_(False))
    net[0].weight.grad = gw.tensor([[0.0, 1.0], [float("nan"), 2.0]])
    net[0].bias.grad = gw.zeros(2)
    entries = plot_gradients(net).axes[0]
    assert labels(entries.yaxis) == ["0.weight", "0.bias"]


def test_many_parameters():
    net = nn.Sequential(*(nn.Linear(1, 1) for _ in range(150)))
    net(gw.ones(1, 1)).sum().backward()
    figure = plot_gradients(net)
    assert len(labels(figure.axes[0].yaxis)) <= 60
    assert figure.get_figheight() <= 15


def test_complex_and_empty_parameters():
    module = nn.ParameterList([nn.Parameter(gw.zeros(2, dtype=gw.complex64)), nn.Parameter(gw.zeros(0))])
    module[0].grad = gw.tensor([3 + 4j, 0], dtype=gw.complex64)
    module[1].grad = gw.zeros(0)
    assert plot_gradients(module).axes[1].lines[0].get_xdata()[0] == pytest.approx(5)


def test_before_backward_there_is_nothing_to_draw():
    for module in (nn.Linear(2, 2), nn.Tanh()):
        with pytest.raises(ValueError, match=r"^plot_gradients: no parameter has a \.grad: run backward first$"):
            plot_gradients(module)


def test_names_are_no_mathematics():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_parameter("$_{", nn.Parameter(gw.ones(1)))

    layer = Layer()
    getattr(layer, "$_{").sum().backward()
    assert plot_gradients(layer)._repr_png_()


def test_gradients_of_no_module():
    with pytest.raises(TypeError, match=r"^plot_gradients: expected a Module, but got Tensor$"):
        plot_gradients(gw.ones(1))
