import numpy as np

from gradwright.ops import loss as ops


def test_huber_is_its_two_pieces() -> None:
    d = np.array([-3.0, -0.5, 0.5, 0.4999, 3.0, np.inf])
    wanted = [0.5 * 2.75, 0.125, 0.125, 0.4999**2 / 2, 0.5 * 2.75, np.inf]
    np.testing.assert_allclose(ops.huber(d, np.zeros(6), delta=0.5), wanted)


def test_cross_entropy_of_the_scores_is_that_of_their_probabilities() -> None:
    x, t = np.random.standard_normal((2, 50)) * 5, np.random.uniform(size=(2, 50))
    p = 1 / (1 + np.exp(-x))
    np.testing.assert_allclose(ops.binary_cross_entropy_with_logits(x, t), ops.binary_cross_entropy(p, t), 1e-11)
    small = np.float32(1e-9)
    assert ops.binary_cross_entropy(small, np.float32(0.0)) == small
