"""What distributions share: broadcasting, logits, triangles."""

import pytest

import gradwright as gw
from gradwright.distributions import utils
from tests.distributions.close import close


def test_broadcast_all() -> None:
    a, b, c = utils.broadcast_all(1, gw.zeros(2, 1, dtype=gw.float64), gw.zeros(3, dtype=gw.float64))
    assert {t.shape for t in (a, b, c)} == {(2, 3)}
    assert a.dtype == gw.float64
    with pytest.raises(ValueError, match="instances of Number"):
        utils.broadcast_all([1.0])


def test_probabilities_and_logits() -> None:
    p = gw.tensor([0.2, 0.8], dtype=gw.float64)
    close(utils.logits_to_probs(utils.probs_to_logits(p)), p)
    close(utils.logits_to_probs(utils.probs_to_logits(p, True), True), p)
    assert utils.probs_to_logits(gw.tensor([0.0, 1.0]), True).isfinite().all()
    close(utils.normalized(p.log() + 3).exp(), p)


@pytest.mark.parametrize("diag", [0, -1, 1])
def test_triangles(diag: int, torch) -> None:
    mat = gw.arange(32.0).reshape(2, 4, 4)
    vec = utils.tril_matrix_to_vec(mat, diag)
    theirs = torch.distributions.utils.tril_matrix_to_vec(torch.arange(32.0).reshape(2, 4, 4), diag)
    assert vec.tolist() == theirs.tolist()
    if diag <= 0:
        assert (utils.vec_to_tril_matrix(vec, diag) == mat.tril(diag)).all()


def test_what_is_no_triangle() -> None:
    with pytest.raises(ValueError, match=r"diag \(5\) provided is outside \[-2, 1\]"):
        utils.tril_matrix_to_vec(gw.eye(2), 5)
    with pytest.raises(ValueError, match="last dimension is 4 which cannot be expressed"):
        utils.vec_to_tril_matrix(gw.zeros(4))


class Asked:
    times = 0

    @utils.lazy_property
    def it(self) -> int:
        """Counted."""
        self.times += 1
        return self.times


def test_a_lazy_property_is_computed_once() -> None:
    a = Asked()
    assert (a.it, a.it, a.times) == (1, 1, 1)
    assert isinstance(Asked.it, utils.lazy_property)
