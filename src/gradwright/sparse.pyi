# For type checkers: this path leads to gradwright.face.sparse. Made by python -m docs.generator.stubs.
from gradwright.face.sparse import *
