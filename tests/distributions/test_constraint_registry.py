"""The tables of transforms onto constraints can be added to."""

import pytest

import gradwright as gw
from gradwright import distributions as D
from gradwright.distributions import constraints


def test_one_of_ones_own() -> None:
    class Even(constraints.Constraint):
        pass

    with pytest.raises(NotImplementedError, match="Cannot transform Even constraints"):
        D.transform_to(Even())
    D.transform_to.register(Even, lambda c: D.AffineTransform(0, 2))
    assert D.transform_to(Even())(gw.tensor(3.0)).item() == 6
    del D.transform_to._registry[Even]
    with pytest.raises(TypeError, match="Expected constraint to be either a Constraint subclass or instance, but got"):
        D.biject_to.register(int, lambda c: c)
