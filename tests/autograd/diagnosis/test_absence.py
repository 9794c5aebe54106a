"""The hypotheses of absence.py."""

from gradwright.autograd.diagnosis import absence
from tests.autograd.diagnosis.fits import Hypotheses


class TestAbsence(Hypotheses):
    module = absence
