# For type checkers: this path leads to gradwright/face/cuda (base/paths.py).
from gradwright.face.cuda import *
