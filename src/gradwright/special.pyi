# For type checkers: this path leads to gradwright.face.special_names. Made by python -m docs.generator.stubs.
from gradwright.face.special_names import *
