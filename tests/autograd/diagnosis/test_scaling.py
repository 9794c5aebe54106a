"""The hypotheses of scaling.py."""

from gradwright.autograd.diagnosis import scaling
from tests.autograd.diagnosis.fits import Hypotheses


class TestScaling(Hypotheses):
    module = scaling
