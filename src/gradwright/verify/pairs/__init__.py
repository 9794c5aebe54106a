"""Pairs: a function, and what is handed to a library as its derivative. Whether the two agree.

pair.py       what is recorded of one             judgement.py  what is said of it
judge.py      the course of judging it            calls.py      calling its functions anew, within a budget
look.py       each kind as one matrix             reading.py    what functions return, as such
measured.py   differences at a point, by          steps.py      differences along one way
causes.py     what a wrong one is instead:        variables.py, powers.py, conduct.py   more of these
intent.py     what is off on purpose              source.py, at_hand.py      what functions say and hold
check.py      `check_pair`                        by_name.py    pairs in a module, by how they are called
"""

from gradwright.verify.pairs.calls import Budget
from gradwright.verify.pairs.judge import judge
from gradwright.verify.pairs.judgement import Entry, Judgement, Verdict
from gradwright.verify.pairs.pair import Pair, Point

__all__ = ["Budget", "Entry", "Judgement", "Pair", "Point", "Verdict", "judge"]
