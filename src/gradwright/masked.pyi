# For type checkers: this path leads to gradwright/face/masked (base/paths.py).
from gradwright.face.masked import *
