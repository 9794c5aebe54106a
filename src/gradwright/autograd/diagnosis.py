"""What is wrong with a derivative."""

from typing import TYPE_CHECKING

from gradwright.base.later import later

if TYPE_CHECKING:
    from gradwright.verify.diagnosis import Block, Diagnosis, Entry, Examination, Hypothesis, Verdict, diagnose

__all__ = ["Block", "Diagnosis", "Entry", "Examination", "Hypothesis", "Verdict", "diagnose"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = later(__name__, dict.fromkeys(__all__, "gradwright.verify.diagnosis"))
