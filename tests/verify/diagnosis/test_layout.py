"""The hypotheses of layout.py."""

from gradwright.verify.diagnosis import layout
from tests.verify.diagnosis.fits import Hypotheses


class TestLayout(Hypotheses):
    module = layout
