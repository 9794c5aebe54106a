"""The power of a parameter that a derivative lacks is named."""

import pytest

from gradwright.verify.pairs.judge import judge
from tests.verify.pairs.cases import WRONG


@pytest.mark.parametrize(("name", "words", "mend"), [
    ("no factor", "lacks the factor x[0] in the column of x[1]", "multiply the column of x[1] by x[0]"),
    ("chain", "is x[1] ** 2 times what it should be in the column of x[0]; lacks the factor x[0] / 2 in the column of",
     "divide the column of x[0] by x[1] ** 2; multiply the column of x[1] by x[0] / 2"),
    ("by a parameter", "lacks the factor x[1]:", "multiply `<lambda>` by x[1]"),
])  # fmt: skip
def test_it_is_named_with_its_mend(name: str, words: str, mend: str) -> None:
    found = judge(WRONG[name][1])
    assert words in found.sentence
    assert mend.replace("`<lambda>`", "`df`") in found.mend
