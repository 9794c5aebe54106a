"""Sizes that are whole numbers, and are written by name."""

from math import prod

import numpy as np
import pytest

from gradwright.compilation.by_c.elements import literal
from gradwright.compilation.by_c.memory import _fits
from gradwright.compilation.by_c.symbols import Size, Symbols, known, written


def expression(symbols, size):
    """What the name of a size stands for, with the names in that written out."""
    name = str(size)
    for k in reversed(range(len(symbols.expressions))):
        name = name.replace(f"s{k}", f"({symbols.expressions[k]})")
    return name


def test_what_is_computed_has_the_samples_value_and_the_expressions():
    by = Symbols((7, 11))
    n, m = by.known(7), by.known(11)
    sizes = (n * m, 3 * n, n * 2 * m + 5, -(-n // 4) * 4, prod((2, n, m)), 100 - n, sum([n, m]), (n * 6) // 3, n - m)
    for size in sizes:
        assert isinstance(size, Size)
        values = eval(  # noqa: S307 - written above
            expression(by, size).replace("FLOOR", "floor"), {"N": [7, 11], "floor": lambda a, b: a // b}
        )
        assert int(size) == values


def test_a_product_has_one_name_however_it_comes_about():
    by = Symbols((7, 11))
    n, m = by.known(7), by.known(11)
    assert str(n * m) == str(m * n) == str(by.known(77)) == f"{by.known(77)}"
    assert str(n * m) != str(n + 70)
    assert (n * 1, n * 0, n + 0) == (n, 0, n)


def test_numbers_are_known_by_factors_and_others_are_left():
    by = Symbols((7, 11), (3 / 2**17,))
    assert [by.known(v) for v in (0, 1, 64, True)] == [0, 1, 64, True]
    assert not any(isinstance(by.known(v), Size) for v in (0, 1, 64))
    assert by.known(3 / 2**17).number == "e0"
    assert by.known(2 / 77).number.startswith("(2.0 / ")
    assert by.known(float(np.float32(1 / 11))).number.startswith("(1.0 / ")
    assert by.known(0.875) == 0.875
    with pytest.raises(ValueError, match=r"what is 0\.3"):
        by.known(0.3)


def test_literals_are_names_and_rows_are_all_there_are():
    by = Symbols((7, 11))
    assert literal(by.known(11), np.dtype(np.float32)) == "((float) ((double) s0))"
    literal(by.known(7), np.dtype(np.float64))
    assert by.expressions == ["N[1]", "N[2]"]
    with pytest.raises(ValueError, match="as a number"):
        literal(by.known(7) + 1, np.dtype(np.float64))


def test_memory_is_shared_by_what_is_of_one_size():
    by = Symbols((7, 11))
    n = by.known(7)
    assert _fits(64, 128)
    assert not _fits(128, 64)
    assert _fits(n * 4, n * 4)
    assert not _fits(n * 4, n * 8)
    assert not _fits(n, 1000)
    assert not _fits(5, n)


def test_bare_numbers_are_known_only_where_a_text_with_names_is_written():
    by = Symbols((7, 11))
    assert not isinstance(known()(77), Size)
    with written(by):
        assert isinstance(known()(77), Size)
    assert not isinstance(known()(77), Size)
