"""What is wrong with a derivative."""

from gradwright.verify.diagnosis import Block, Diagnosis, Entry, Examination, Hypothesis, Verdict, diagnose

__all__ = ["Block", "Diagnosis", "Entry", "Examination", "Hypothesis", "Verdict", "diagnose"]
