"""Figures of matplotlib: where they are drawn, and that nothing outside of them changes."""

import subprocess
import sys

import pytest

import gradwright as gw
from gradwright import nn
from gradwright.base.pages.figures import DARK, LIGHT
from gradwright.viz import plot_gradients, plot_jacobian

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: nothing is plotted")
style = pytest.importorskip("matplotlib.style")


def gradients(**given):
    layer = nn.Linear(4, 3, bias=False)
    layer.weight.grad = gw.ones(3, 4)
    return plot_gradients(layer, **given)


def jacobian(**given):
    return plot_jacobian(gw.sin, gw.ones(3, dtype=gw.float64, requires_grad=True), **given)


@pytest.mark.parametrize("plot", [gradients, jacobian])
def test_a_notebook_shows_a_picture(plot):
    assert plot()._repr_png_().startswith(b"\x89PNG")


@pytest.mark.filterwarnings("error")
def test_they_draw_into_what_is_given():
    figure = matplotlib.figure.Figure(layout="constrained")
    left, right = figure.subfigures(1, 2)
    assert gradients(figure=left) is left
    assert jacobian(figure=right) is right
    assert len(figure.axes) == 2 + 5
    figure.savefig("/dev/null", format="svg")


def test_styles_hold():
    net = nn.ParameterList([nn.Parameter(gw.ones(1)) for _ in range(2)])
    for parameter, size in zip(net, (1e-8, 1e5), strict=True):
        parameter.grad = gw.full((1,), size)
    with style.context("dark_background"):
        dark = plot_gradients(net)
    light = plot_gradients(net)
    for figure, (large, small) in ((dark, DARK), (light, LIGHT)):
        colours = [text.get_color() for text in figure.axes[1].get_yticklabels()]
        assert colours == [small, large]
    assert dark.get_facecolor()[:3] == (0, 0, 0)


def test_neither_pyplot_nor_its_settings_are_touched():
    program = (
        "import sys, matplotlib, gradwright as gw\n"
        "from gradwright.viz import plot_gradients, plot_jacobian\n"
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


@pytest.mark.parametrize("plot", [gradients, jacobian])
def test_without_matplotlib(plot, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match="needs matplotlib: pip install matplotlib") as error:
        plot()
    assert error.value.name == "matplotlib"
