# For type checkers: this path leads to gradwright.base.dtypes. Made by python -m docs.generator.stubs.
from gradwright.base.dtypes import *
