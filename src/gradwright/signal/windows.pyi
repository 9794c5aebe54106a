# For type checkers: this path leads to gradwright/face/signal/windows (base/paths.py).
from gradwright.face.signal.windows import *
