# For type checkers: this path leads to gradwright.face.cuda. Made by python -m docs.generator.stubs.
from gradwright.face.cuda import *
