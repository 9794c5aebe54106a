# For type checkers: this path leads to gradwright.face.signal. Made by python -m docs.generator.stubs.
from gradwright.face.signal import windows as windows
