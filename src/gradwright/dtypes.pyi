# For type checkers: this path leads to gradwright/base/dtypes (base/paths.py).
from gradwright.base.dtypes import *
