# For type checkers: this path leads to gradwright/face/xp/fft (base/paths.py).
from gradwright.face.xp.fft import *
