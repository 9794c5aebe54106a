# For type checkers: this path leads to gradwright/face/signal (base/paths.py).
from gradwright.face.signal import windows as windows
