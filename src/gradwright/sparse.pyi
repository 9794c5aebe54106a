# For type checkers: this path leads to gradwright/face/sparse (base/paths.py).
from gradwright.face.sparse import *
