# For type checkers: this path leads to gradwright/verify/audit (base/paths.py).
from gradwright.verify.audit import *
