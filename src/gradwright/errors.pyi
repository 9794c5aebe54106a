# For type checkers: this path leads to gradwright.base.errors. Made by python -m docs.generator.stubs.
from gradwright.base.errors import *
