"""The hypotheses of absence.py."""

from gradwright.verify.diagnosis import absence
from tests.verify.diagnosis.fits import Hypotheses


class TestAbsence(Hypotheses):
    module = absence
