# For type checkers: this path leads to gradwright/face/special_names (base/paths.py).
from gradwright.face.special_names import *
