# For type checkers: this path leads to gradwright/face/xp/linalg (base/paths.py).
from gradwright.face.xp.linalg import *
