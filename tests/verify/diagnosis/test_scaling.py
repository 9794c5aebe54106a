"""The hypotheses of scaling.py."""

from gradwright.verify.diagnosis import scaling
from tests.verify.diagnosis.fits import Hypotheses


class TestScaling(Hypotheses):
    module = scaling
