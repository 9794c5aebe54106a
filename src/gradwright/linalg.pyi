# For type checkers: this path leads to gradwright.face.linalg. Made by python -m docs.generator.stubs.
from gradwright.face.linalg import *
