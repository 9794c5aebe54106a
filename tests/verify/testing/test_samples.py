import numpy as np
import pytest

from gradwright.op import A, Sample
from gradwright.verify.testing import draw


def test_the_same_every_time() -> None:
    sample = Sample(A(3, 4), A(2, distinct=True))
    for a, b in zip(draw(sample)[0], draw(sample)[0], strict=True):
        assert np.array_equal(a, b)
    assert not np.array_equal(draw(sample)[0][0], draw(sample, seed=1)[0][0])


def test_range_and_dtype() -> None:
    (x,), _ = draw(Sample(A(20, 20, low=3.0, high=4.0)), dtype="float32")
    assert x.dtype == np.float32
    assert x.min() >= 3
    assert x.max() <= 4


def test_0d_and_empty() -> None:
    (x, y), _ = draw(Sample(A(), A(0, 3)))
    assert x.shape == ()
    assert isinstance(x, np.ndarray)
    assert y.shape == (0, 3)


def test_avoided_points_are_kept_clear_of() -> None:
    (x,), _ = draw(Sample(A(500, avoid=[-0.5, 0.7])))
    assert min(np.abs(x + 0.5).min(), np.abs(x - 0.7).min()) >= 0.1


def test_distinct_entries_keep_apart_also_from_another_array() -> None:
    arrays, _ = draw(Sample(A(3, 4, distinct=True), A(4, distinct=True)))
    sizes = np.sort(np.abs(np.concatenate([a.ravel() for a in arrays])))
    assert np.diff(sizes).min() >= 4 / (8 * 16)


def test_fixed_values_keep_their_kind() -> None:
    arrays, _ = draw(Sample(A(values=[0, 1]), A(values=[True]), A(values=[0.5])), dtype="float32")
    assert [a.dtype.name for a in arrays] == ["int64", "bool", "float32"]


def test_arrays_inside_static_arguments() -> None:
    _, static = draw(Sample(A(2), key=(A(values=[0, 1]), slice(None), ...), axis=1))
    index, rest, dots = static["key"]
    assert index.tolist() == [0, 1]
    assert rest == slice(None)
    assert dots is ...
    assert static["axis"] == 1


def test_no_room() -> None:
    with pytest.raises(ValueError, match=r"no room for 2 entries from -0.05 to 0.05, clear of \(0.0,\)"):
        draw(Sample(A(2, low=-0.05, high=0.05, avoid=[0.0])))
