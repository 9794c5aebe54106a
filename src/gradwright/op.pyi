# For type checkers: this path leads to gradwright/ops/declare (base/paths.py).
from gradwright.ops.declare import *
