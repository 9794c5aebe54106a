"""Where inputs of a traced run lie, and where numbers are used."""

import numpy as np

import gradwright as gw
from gradwright.compilation.trace.units import Setting, place, where_it_is_used


def test_places_of_numpys_arrays():
    x = np.ones((2, 3))
    assert place(x) == place(x[:])
    assert place(x) != place(x[1:])
    assert place(x) != place(x.T)


def test_numbers_are_used_where_the_parameters_are():
    found = where_it_is_used({"params": [gw.ones(2)], "lr": 0.1}, 0.1)
    assert isinstance(found, np.ndarray)
    assert where_it_is_used({}, 0.1) == found


def test_settings_that_are_read():
    options = {"lr": 0.1, "betas": (0.9, 0.99)}
    assert Setting(options, "lr", None, 0.1, None).read() == 0.1
    assert Setting(options, "betas", 1, 0.99, None).read() == 0.99
    options["lr"] = 0
    assert Setting(options, "lr", None, 0.1, None).read() is None
