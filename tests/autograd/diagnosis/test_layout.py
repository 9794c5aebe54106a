"""The hypotheses of layout.py."""

from gradwright.autograd.diagnosis import layout
from tests.autograd.diagnosis.fits import Hypotheses


class TestLayout(Hypotheses):
    module = layout
