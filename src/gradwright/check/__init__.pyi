# For type checkers: this path leads to gradwright/verify/check (base/paths.py).
from gradwright.verify.check import *
