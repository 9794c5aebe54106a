"""What a failed check says."""

import numpy as np

from gradwright.verify.gradcheck.messages import Worst, drifting, kink, mismatch, vague
from gradwright.verify.gradcheck.settings import SUITS, Settings

SETTINGS = Settings(None, 1e-5, 1e-3, 0.0, True, False, False, False, None, "float64")
WORST = Worst(1, 3, (2,), 0, "weight", (0, 3), 0.5, False, 1.0, 2.0, 1e-9)


def test_mismatch():
    text = str(mismatch(WORST, "", np.eye(2), np.zeros((2, 2)), SETTINGS))
    assert text == (
        "Jacobian mismatch for output 1 with respect to input 0,\n"
        "worst: d out[1][2] / d weight[0, 3]: analytical 1, numerical 2 ± 1e-09 "
        "(allowed: 1e-05 + 0.001 * |numerical|)\n"
        "numerical:tensor([[1., 0.],\n        [0., 1.]], dtype=torch.float64)\n"
        "analytical:tensor([[0., 0.],\n        [0., 0.]], dtype=torch.float64)\n"
    )


def test_parts():
    text = str(mismatch(WORST._replace(imaginary=True, bar=np.inf), "real", np.eye(1), np.eye(1), SETTINGS))
    assert text.startswith("While considering the real part of complex outputs only, Jacobian mismatch for output 1")
    assert "d weight[0, 3] (by the imaginary part): analytical 1, numerical 2 (allowed" in text


def test_scalars_have_no_index():
    assert Worst(0, 1, (), 0, "x", (), 0.0, False, 1, 2, 0.0).what == "d out / d x"


def test_kinks_and_jumps():
    assert "has a kink at weight[0, 3] = 0.5: its slope is 0 to the left and 1 to" in str(kink(WORST, 0.0, 1.0, False))
    assert str(kink(WORST, 0.0, 1.0, True)).startswith("Output 1[2] jumps at weight[0, 3] = 0.5: ")


def test_what_cannot_be_judged():
    single = SETTINGS._replace(precision="float32", atol=SUITS["float32"].atol)
    assert "in float32: with the step they give 2 ± 1e-09" in str(vague(WORST, single))
    assert str(vague(WORST, single._replace(eps=1e-6))).endswith("Check in float64, or leave eps to gradcheck.")
    assert "differs by up to 0.5, which finite differences with a step of 1e-06" in str(drifting(0, 0.5, 1e-6))
