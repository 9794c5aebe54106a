# For type checkers: this path leads to gradwright.face.fft. Made by python -m docs.generator.stubs.
from gradwright.face.fft import *
