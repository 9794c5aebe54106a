# For type checkers: this path leads to gradwright.face.xp.fft. Made by python -m docs.generator.stubs.
from gradwright.face.xp.fft import *
