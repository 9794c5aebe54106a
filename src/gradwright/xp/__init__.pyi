# For type checkers: this path leads to gradwright.face.xp. Made by python -m docs.generator.stubs.
from gradwright.face.typing.standard import *
from gradwright.face.xp import *
from gradwright.face.xp import fft as fft
from gradwright.face.xp import linalg as linalg
