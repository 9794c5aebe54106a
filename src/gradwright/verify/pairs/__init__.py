"""Pairs: a function, and what is handed to a library as its derivative. Whether the two agree.

pair.py       what is recorded of one          judgement.py  what is said of it
"""

from gradwright.verify.pairs.judgement import Entry, Judgement, Verdict
from gradwright.verify.pairs.pair import Pair, Point

__all__ = ["Entry", "Judgement", "Pair", "Point", "Verdict"]
