# For type checkers: this path leads to gradwright/base/errors (base/paths.py).
from gradwright.base.errors import *
