# For type checkers: this path leads to gradwright.face.masked. Made by python -m docs.generator.stubs.
from gradwright.face.masked import *
