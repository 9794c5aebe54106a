# For type checkers: this path leads to gradwright.verify.check. Made by python -m docs.generator.stubs.
from gradwright.verify.check import *
