# For type checkers: this path leads to gradwright/face/linalg (base/paths.py).
from gradwright.face.linalg import *
