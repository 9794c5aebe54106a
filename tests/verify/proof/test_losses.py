"""First and second derivatives keep their bits over the whole range of a dtype, but for those the page tells of."""

from pathlib import Path

import numpy as np
import pytest

import gradwright as gw
from gradwright.ops.declare import table
from gradwright.verify.proof import losses
from tests.thorough import WHOLE

STEPS = {"float32": 4, "float64": 32} if WHOLE else {"float32": 12, "float64": 96}
OTHERS = (0.6875, 2.0**-10, 1e4) if WHOLE else (0.6875, 1e4)
LONG = {"polygamma", "zeta", "digamma", "lgamma", "igamma", "igammac", "bessel_y", "bessel_k", "bessel_ke"}
"""On balls of 1400 bits these take seconds."""
NAMES = [op.name for op in table.values() if op.rules and op.kind == "elementwise"]
PAGE = (Path(__file__).resolve().parents[3] / "docs/proofs.md").read_text(encoding="utf-8")
looked = []


def bad(f, dtype, precision=losses.BITS):
    """Order, number, bits lost, and what was got, where more are lost than may be."""
    x = losses.points(dtype, STEPS[dtype])
    with np.errstate(all="ignore"):
        got = losses.computed(f, x.astype(dtype))
    for i, at in enumerate(x):
        try:
            exact = losses.true(f, float(at), precision)
        except gw.errors.NotProvedError:
            continue
        for k in (1, 2):
            bits = losses.lost(exact, k, float(at), float(got[k - 1][i]), dtype)
            looked.append(bits is not None)
            if bits is not None and bits > losses.ALLOWED:
                yield k, float(at), round(bits, 1), float(got[k - 1][i])


@pytest.mark.parametrize("name", NAMES)
def test_no_bits_are_lost(name):
    precision = losses.FEWER if name in LONG else losses.BITS
    found = [(what, dtype, *one) for what, f in losses.functions(table[name], OTHERS) for dtype in STEPS
             for one in bad(f, dtype, precision)]  # fmt: skip
    assert not found or name in losses.LOSSES, found[:5]


def test_there_was_much_to_look_at():
    if len({*NAMES}) > 90 and looked:
        assert sum(looked) > (10_000 if WHOLE else 4_000)


def test_a_loss_is_found():
    assert not [*bad(gw.asinh, "float32")]
    found = [*bad(lambda x: (x + gw.sqrt(x * x + 1)).log(), "float32")]
    assert any(k == 1 and at > 1e20 and got == 0 for k, at, _, got in found)
    assert any(k == 1 and at < -1e5 and bits == losses.NAN for k, at, bits, _ in found)


def test_what_the_page_names_instead_loses_none_far_out():
    log = gw.nn.functional.logsigmoid
    for f in (lambda x: log(x).exp(), lambda x: 2 * log(2 * x).exp() - 1, lambda x: x.exp() - 1):
        assert not [one for one in bad(f, "float32") if abs(one[1]) > 1]  # near 0 the second derivative cancels
    assert [*bad(gw.tanh, "float32")]


def test_the_page_tells_of_them():
    assert losses.section() in PAGE
