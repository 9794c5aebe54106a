"""Reading numbers per axis."""

import pytest

import gradwright as gw
from gradwright.nn.functional.geometry import batched, per_axis


def test_one_for_all_or_one_each():
    assert per_axis("f", "stride", 2, 3) == per_axis("f", "stride", [2], 3) == (2, 2, 2)
    assert per_axis("f", "stride", gw.tensor(2), 1) == (2,)
    assert per_axis("f", "stride", (1, 2), 2, 1) == (1, 2)


@pytest.mark.parametrize(("value", "least", "kind", "message"), [
    ((1, 2, 3), None, RuntimeError, r"^f\(\): expected stride to be a single integer value or a list of 2 values"),
    (0, 1, RuntimeError, r"^f\(\): non-positive stride is not supported, but got stride=\[0\]$"),
    ((1, -1), 0, RuntimeError, r"^f\(\): negative stride is not supported"),
    (1.5, None, TypeError, r"^f\(\): argument 'stride' must be int or tuple of ints, not float$"),
    ("2", None, TypeError, r"not str$"),
])  # fmt: skip
def test_refuses(value, least, kind, message):
    with pytest.raises(kind, match=message):
        per_axis("f", "stride", value, 2, least)


def test_a_batch_axis_is_put_in_front():
    assert batched("f", gw.ones(1, 2, 3), 1)[1] is False
    x, single = batched("f", gw.ones(2, 3), 1)
    assert (x.shape, single) == ((1, 2, 3), True)
    with pytest.raises(RuntimeError, match=r"^Expected 2D \(unbatched\) or 3D \(batched\) input to f, but got"):
        batched("f", gw.ones(2), 1)
