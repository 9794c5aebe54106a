"""Plots: the numbers in them against the truth, what they say, and that nothing outside of them changes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import gradwright as gw
from gradwright import nn
from gradwright.viz.plots import DARK, LIGHT, plot_gradients, plot_jacobian

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: nothing is plotted")
style = pytest.importorskip("matplotlib.style")

MATRIX = np.array([[1.0, -2.0, 0.0], [0.5, 3.0, 4.0]])


def leaf(*values):
    return gw.tensor(values, dtype=gw.float64, requires_grad=True)


def linear(x):
    return gw.from_numpy(MATRIX) @ x


def drawn(figure):
    """What each heat map shows."""
    return [np.asarray(ax.images[0].get_array().filled(np.nan)) for ax in figure.axes if ax.get_xlabel()]


def titles(figure):
    return [ax.get_title() for ax in figure.axes]


def labels(axis):
    return [text.get_text() for text in axis.get_ticklabels()]


def written(ax):
    return [text.get_text() for text in ax.texts]


# ---- Jacobians --------------------------------------------------------------------------------------------


def test_rows_are_entries_of_the_output_and_columns_of_the_input():
    figure = plot_jacobian(linear, leaf(1.0, 2.0, 3.0))
    backward, numeric, off = drawn(figure)
    assert np.array_equal(backward, MATRIX)
    assert np.allclose(numeric, MATRIX, atol=1e-9)
    assert np.allclose(off, 0, atol=1e-9)
    first = figure.axes[0]
    assert (first.get_xlabel(), first.get_ylabel()) == ("x", "out")
    assert labels(first.xaxis) == ["0", "1", "2"]
    assert labels(first.yaxis) == ["0", "1"]
    assert written(first) == ["1.00", "-2.00", "0", "0.50", "3.00", "4.00"]
    assert titles(figure)[:2] == ["backward", "finite differences"]
    assert written(figure.axes[2]) == []  # only rounding


def test_a_wrong_derivative_shows():
    class Wrong(gw.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return 5 * x

        @staticmethod
        def backward(ctx, g):
            return g

    figure = plot_jacobian(Wrong.apply, leaf(1.0, 2.0))
    backward, numeric, off = drawn(figure)
    assert np.array_equal(backward, np.eye(2))
    assert np.allclose(numeric, 5 * np.eye(2))
    assert np.allclose(off, -4 * np.eye(2))
    assert titles(figure)[2] == "difference, at most 4"


def test_scales_are_symmetric_and_common():
    figure = plot_jacobian(linear, leaf(1.0, 2.0, 3.0))
    limits = [ax.images[0].get_clim() for ax in figure.axes[:3]]
    assert limits[0] == limits[1] == pytest.approx((-4, 4))
    assert limits[2] == pytest.approx((-0.004, 0.004))


def test_a_map_for_each_output_and_input():
    def f(a, pair):
        return {"sum": a + pair[0], "square": pair[0] ** 2}

    figure = plot_jacobian(f, (leaf(1.0, 2.0), [leaf(3.0, 4.0)]))
    maps = [(ax.get_ylabel(), ax.get_xlabel()) for ax in figure.axes if ax.get_xlabel()][::3]
    assert maps == [("out['sum']", "a"), ("out['square']", "a"), ("out['sum']", "pair[0]"),
                    ("out['square']", "pair[0]")]  # fmt: skip
    backward = drawn(figure)[::3]
    assert [m.tolist() for m in backward] == [[[1, 0], [0, 1]], [[0, 0], [0, 0]], [[1, 0], [0, 1]], [[6, 0], [0, 8]]]


def test_shapes_are_indices_and_many_are_thinned():
    x = gw.ones(5, 8, dtype=gw.float64, requires_grad=True)
    ax = plot_jacobian(lambda x: x.sum(0), x).axes[0]
    assert ax.images[0].get_array().shape == (8, 40)
    assert labels(ax.yaxis) == list("01234567")
    assert labels(ax.xaxis)[:3] == ["0,0", "0,4", "1,0"]
    assert len(labels(ax.xaxis)) <= 12
    assert written(ax) == []


def test_scalars():
    x = gw.tensor(3.0, dtype=gw.float64, requires_grad=True)
    assert drawn(plot_jacobian(lambda x: x**2, x))[0].tolist() == [[6]]


def test_complex_numbers_by_their_parts():
    z = gw.tensor([1 + 2j], requires_grad=True, dtype=gw.complex128)
    figure = plot_jacobian(lambda z: z * (3 + 4j), z)
    assert drawn(figure)[0].tolist() == [[3, -4], [4, 3]]
    assert labels(figure.axes[0].yaxis) == ["Re 0", "Im 0"]


def test_float32_is_drawn_with_its_rounding():
    x = gw.tensor([0.3, 0.7], requires_grad=True)
    figure = plot_jacobian(gw.sin, x)
    assert np.abs(drawn(figure)[2]).max() < 1e-3


def test_what_is_not_finite_is_grey():
    figure = plot_jacobian(gw.sqrt, leaf(0.0, 4.0))
    assert np.isnan(drawn(figure)[0][0, 0])  # masked
    assert figure._repr_png_()
    assert figure.axes[0].images[0].cmap.get_bad() == pytest.approx(matplotlib.colors.to_rgba("grey"))


def test_what_is_cut_off_is_drawn_as_zero():
    backward, numeric, _ = drawn(plot_jacobian(lambda x: x.detach() ** 2, leaf(1.0, 2.0)))
    assert not backward.any()
    assert np.allclose(numeric, [[2, 0], [0, 4]])


def test_the_inputs_are_left_as_they_were():
    x = leaf(1.0, 2.0, 3.0)
    plot_jacobian(linear, x)
    assert x.tolist() == [1, 2, 3]
    assert x.grad is None


def test_what_cannot_be_drawn():
    with pytest.raises(ValueError, match=r"^plot_jacobian: no input requires grad"):
        plot_jacobian(linear, gw.ones(3, dtype=gw.float64))
    with pytest.raises(ValueError, match=r"^plot_jacobian: the function returns no tensor of floating point"):
        plot_jacobian(lambda x: x > 0, leaf(1.0))
    with pytest.raises(ValueError, match=r"^plot_jacobian: nothing to draw"):
        plot_jacobian(lambda x: x * 2, leaf())


def test_what_is_empty_is_left_out():
    figure = plot_jacobian(lambda x, y: (x.sum(), y), (leaf(), leaf(2.0)))
    assert [m.tolist() for m in drawn(figure)[::3]] == [[[0]], [[1]]]


# ---- gradients --------------------------------------------------------------------------------------------


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


# ---- both -------------------------------------------------------------------------------------------------


def test_a_notebook_shows_a_picture(net):
    for figure in (plot_gradients(net), plot_jacobian(linear, leaf(1.0, 2.0, 3.0))):
        assert figure._repr_png_().startswith(b"\x89PNG")


@pytest.mark.filterwarnings("error")
def test_they_draw_into_what_is_given(net):
    figure = matplotlib.figure.Figure(layout="constrained")
    left, right = figure.subfigures(1, 2)
    assert plot_gradients(net, figure=left) is left
    assert plot_jacobian(linear, leaf(1.0, 2.0, 3.0), figure=right) is right
    assert len(figure.axes) == 2 + 5
    figure.savefig("/dev/null", format="svg")


def test_styles_hold(net):
    with style.context("dark_background"):
        dark = plot_gradients(net)
    light = plot_gradients(net)
    for figure, (large, small) in ((dark, DARK), (light, LIGHT)):
        colours = [text.get_color() for text in figure.axes[1].get_yticklabels()]
        assert colours[1:3] == [small, large]
    assert dark.get_facecolor()[:3] == (0, 0, 0)


def test_names_are_no_mathematics():
    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_parameter("$_{", nn.Parameter(gw.ones(1)))

    layer = Layer()
    getattr(layer, "$_{").sum().backward()
    assert plot_gradients(layer)._repr_png_()


def test_neither_pyplot_nor_its_settings_are_touched():
    program = (
        "import sys, matplotlib, gradwright as gw\n"
        "from gradwright.viz.plots import plot_gradients, plot_jacobian\n"
        "settings = lambda: {k: matplotlib.rcParams[k] for k in matplotlib.rcParams if k != 'backend'}\n"
        "before = settings()\n"
        "layer = gw.nn.Linear(2, 1)\n"
        "layer(gw.ones(1, 2)).sum().backward()\n"
        "plot_gradients(layer)._repr_png_()\n"
        "plot_jacobian(gw.sin, gw.ones(2, dtype=gw.float64, requires_grad=True))._repr_png_()\n"
        "assert settings() == before\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_without_matplotlib(net, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    for call in (lambda: plot_gradients(net), lambda: plot_jacobian(linear, leaf(1.0, 2.0, 3.0))):
        with pytest.raises(ImportError, match="needs matplotlib: pip install matplotlib") as error:
            call()
        assert error.value.name == "matplotlib"


def test_gradients_of_no_module():
    with pytest.raises(TypeError, match=r"^plot_gradients: expected a Module, but got Tensor$"):
        plot_gradients(gw.ones(1))
