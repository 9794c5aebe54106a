"""What is recorded of a pair."""

import pytest

from gradwright.verify.pairs.pair import Pair, Point


@pytest.mark.parametrize(("kind", "message"), [("slope", "no kind 'slope'"), ("jacobian", "needs the value"),
                                               ("hvp", "or its gradient")])  # fmt: skip
def test_a_pair_that_says_nothing_is_refused(kind: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pair(kind, None, abs, (Point(1.0),))
