# For type checkers: this path leads to gradwright.ops.declare. Made by python -m docs.generator.stubs.
from gradwright.ops.declare import *
