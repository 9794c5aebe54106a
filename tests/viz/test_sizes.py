"""The rule for gradients that vanish or explode."""

import math

import pytest

from gradwright.viz.sizes import EXPLODING, VANISHING, judged


@pytest.mark.parametrize(("rms", "said"), [
    (0.0, "zero"), (5e-324, "vanishing"), (VANISHING / 2, "vanishing"), (VANISHING, ""), (1.0, ""), (EXPLODING, ""),
    (2 * EXPLODING, "exploding"), (math.inf, "not finite"), (math.nan, "not finite"),
])  # fmt: skip
def test_judged(rms, said):
    assert judged(rms) == said
