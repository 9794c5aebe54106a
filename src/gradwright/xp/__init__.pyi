# For type checkers: this path leads to gradwright/face/xp (base/paths.py).
from gradwright.face.typing.standard import *
from gradwright.face.xp import *
from gradwright.face.xp import fft as fft
from gradwright.face.xp import linalg as linalg
