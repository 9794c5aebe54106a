# For type checkers: this path leads to gradwright/face/random (base/paths.py).
from gradwright.face.random import *
