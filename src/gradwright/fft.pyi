# For type checkers: this path leads to gradwright/face/fft (base/paths.py).
from gradwright.face.fft import *
