"""``torch.func.rearrange``, against PyTorch's."""

import numpy as np
import pytest

import gradwright as gw
from gradwright.pytorch.rearrange import rearrange

PATTERNS = {
    "b h w c -> b h w c": {}, "b h w c -> (b h) w c": {}, "b h w c -> h (b w) c": {}, "b h w c -> b c h w": {},
    "b h w c -> b (c h w)": {}, "b (h1 h) (w1 w) c -> (b h1 w1) h w c": {"h1": 2, "w1": 3},
    "b (h h1) (w w1) c -> b h w (c h1 w1)": {"h1": 2, "w1": 3}, "b ... c -> c ... b": {}, "... -> (...)": {},
    "b ... -> (b ...)": {}, "b h w c -> b 1 h (w c) 1": {}, "a b c d->d c(b a)": {},
}  # fmt: skip
ARRAY = np.arange(2 * 4 * 6 * 3.0).reshape(2, 4, 6, 3)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_patterns(torch, pattern):
    mine = rearrange(gw.tensor(ARRAY), pattern, **PATTERNS[pattern])
    theirs = torch.func.rearrange(torch.tensor(ARRAY), pattern, **PATTERNS[pattern])
    assert mine.shape == tuple(theirs.shape)
    assert mine.tolist() == theirs.tolist()


def test_several_tensors_are_stacked_and_sizes_of_1_go(torch):
    for T, function in ((gw, rearrange), (torch, torch.func.rearrange)):
        assert function([T.ones(2, 1), T.zeros(2, 1)], "n a 1 -> (a n)").tolist() == [1, 0, 1, 0]


def test_gradients_flow():
    x = gw.ones(2, 3, requires_grad=True)
    (rearrange(x, "a b -> b a") * gw.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 2, 4], [1, 3, 5]]


@pytest.mark.parametrize(("pattern", "lengths", "message"), [
    ("a b", {}, "expected a pattern such as"),
    ("a b -> a", {}, "must have the same axes, each once"),
    ("a a -> a a", {}, "must have the same axes, each once"),
    ("a b c -> a b c", {}, r"is of 3 dims, but got size \(2, 3\)"),
    ("(a c) b -> a c b", {}, r"a dim of size 2 cannot be \(a c\) with the lengths {}"),
    ("(a c) b -> a c b", {"a": 3}, r"a dim of size 2 cannot be \(a c\) with the lengths {'a': 3}"),
    ("a b -> b a", {"c": 2}, "c in no dim"),
    ("a (b -> b a", {}, "a parenthesis is not closed"),
    ("a ((b)) -> b a", {}, r"'\(' in pattern"),
])  # fmt: skip
def test_what_is_refused(pattern, lengths, message):
    with pytest.raises(ValueError, match=message):
        rearrange(gw.ones(2, 3), pattern, **lengths)
