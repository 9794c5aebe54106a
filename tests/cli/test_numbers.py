"""Numbers that are taken from the command line, and those that are not."""

import argparse

import pytest

from gradwright.cli.numbers import count, seconds


def test_numbers_are_read():
    assert (count("3"), seconds("0.5")) == (3, 0.5)


@pytest.mark.parametrize(("read", "text", "said"), [
    (count, "0", "must be at least 1, got 0"), (seconds, "0", "must be a number of seconds above 0, got 0"),
    (seconds, "nan", "must be a number of seconds above 0, got nan"),
])  # fmt: skip
def test_what_is_out_of_range_is_told(read, text, said):
    with pytest.raises(argparse.ArgumentTypeError, match=said):
        read(text)
