# For type checkers: this path leads to gradwright.face.random. Made by python -m docs.generator.stubs.
from gradwright.face.random import *
