"""The plot of a Jacobian: the numbers in it against the truth, and what it says."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.verify.jacobian_plot import plot_jacobian

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed: nothing is plotted")

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
