# For type checkers: this path leads to gradwright.face.xp.linalg. Made by python -m docs.generator.stubs.
from gradwright.face.xp.linalg import *
