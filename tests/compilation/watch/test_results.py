from types import FunctionType

from gradwright.compilation.watch.reads import UNKNOWN
from gradwright.compilation.watch.results import Made, Result


def test_nothing_is_known_unless_it_is_said():
    assert Result().value is UNKNOWN
    assert not UNKNOWN.made


def test_a_function_of_the_call_has_its_code():
    code = (lambda: 1).__code__
    assert Made(code).code is code
    assert Made(code).type is FunctionType
    assert Made(code).made
