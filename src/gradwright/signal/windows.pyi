# For type checkers: this path leads to gradwright.face.signal.windows. Made by python -m docs.generator.stubs.
from gradwright.face.signal.windows import *
