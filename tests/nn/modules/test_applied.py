"""Layers that call one function: what follows from it, and from the number of axes."""

import inspect

import pytest

import gradwright as gw
from gradwright.nn import functional as F
from gradwright.nn.layer import layer
from gradwright.nn.modules.applied import Applied, Dimensional


@layer
class Ramp(Applied, function=F.hardtanh):
    """Kept between two bounds."""

    max_val: float = 1.0
    min_val: float = -1.0
    unused: bool = False


def test_the_fields_are_handed_over_in_the_order_of_the_function():
    assert Ramp(2.0, -3.0)(gw.tensor([-4.0, 4.0])).tolist() == [-3.0, 2.0]
    assert Ramp()(input=gw.tensor([4.0])).tolist() == [1.0]


def test_a_compiled_step_sees_what_is_set_afterwards():
    for made, name, value in ((gw.nn.LeakyReLU(0.1), "negative_slope", 0.5), (gw.nn.Dropout(1.0), "training", False),
                              (gw.nn.SmoothL1Loss(), "beta", 0.5)):  # fmt: skip
        step, args = gw.compile(made, backend="plan"), [gw.tensor([-1.0, 2.0])] * (1 + ("Loss" in type(made).__name__))
        args[-1] = args[-1] * 1.25
        before = [step(*args).tolist() for _ in range(3)]
        setattr(made, name, value)
        assert step(*args).tolist() == made(*args).tolist() != before[-1]


def test_the_docstring_goes_on_with_that_of_the_function():
    assert Ramp.__doc__.startswith("Kept between two bounds.\n\nShape: any. Raises ValueError")
    assert ">>> Ramp()(gw.tensor([-2.0, 0.5, 2.0]))\ntensor([-1.0000,  0.5000,  1.0000])" in Ramp.__doc__


@pytest.mark.parametrize("n", [1, 2, 3])
def test_settings_in_an_example_stand_where_the_layer_is_made(n):
    sizes = ", ".join("4" * n)
    text = inspect.getdoc(getattr(gw.nn, f"MaxPool{n}d"))
    assert f">>> gw.nn.MaxPool{n}d(2)(gw.tensor([1.0, 3.0, 2.0, 0.0]).expand(1, {sizes})).flatten()[:2]" in text
    assert "kernel_size: entries" in text
    assert "input: " not in text
    assert "training" not in gw.nn.AlphaDropout.__doc__.partition(">>> ")[2]


def test_a_class_of_a_user_inherits_all():
    class Mine(gw.nn.AvgPool1d):
        """Mine."""

    assert Mine.__doc__ == "Mine."
    assert Mine(2)(gw.tensor([[1.0, 3.0]])).tolist() == [[2.0]]
    assert issubclass(Mine, Dimensional)
