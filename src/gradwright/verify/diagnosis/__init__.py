"""`diagnose`: whether a derivative is right, and what is wrong with it if it is not.

examination.py  the course of it           case.py        what is diagnosed
measure.py      its Jacobians both ways, with error bars; on a grid where they are large: grid_of_entries.py
probes.py       experiments with it        random_sums.py random sums of all entries
residual.py     the difference, and how well a guess explains it
hypotheses.py   the table of guesses:      scaling, layout, absence, behaviour, second
judge.py        the verdict                records.py, reproduction.py   how it is told
"""

from gradwright.verify.diagnosis.examination import Examination, diagnose
from gradwright.verify.diagnosis.records import Block, Diagnosis, Entry, Hypothesis, Verdict

__all__ = ["Block", "Diagnosis", "Entry", "Examination", "Hypothesis", "Verdict", "diagnose"]
