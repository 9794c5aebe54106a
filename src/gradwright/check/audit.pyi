# For type checkers: this path leads to gradwright.verify.audit. Made by python -m docs.generator.stubs.
from gradwright.verify.audit import *
