"""equal, isclose, allclose and their kin, against PyTorch's answers written out."""

import pytest

import gradwright as gw

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ([1.0, 2.0], [1.0, 2.0], True),
        ([1.0, 2.0], [1.0, 3.0], False),
        ([1.0], [[1.0]], False),
        ([NAN], [NAN], False),
        ([], [], True),
    ],
)
def test_equal_compares_size_and_elements(a, b, same):
    assert gw.equal(gw.tensor(a), gw.tensor(b)) is same


LARGE = [
    ([2**53], [2**53 + 1], 0, 0, False), ([2**53], [2**53 + 1], 0, 0.5, False), ([2**53], [2**53 + 1], 0, 1, True),
    ([2**62], [2**62 + 100], 0, 99, False), ([2**62], [2**62 + 100], 0, 100, True),
    ([-(2**63)], [2**63 - 1], 0, 10, False), ([2**63 - 1], [-(2**63)], 2, 0, True), ([0], [-(2**63)], 0.5, 0, False),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "rtol", "atol", "close"), LARGE)
def test_whole_numbers_are_compared_as_such(a, b, rtol, atol, close):
    assert gw.isclose(gw.tensor(a), gw.tensor(b), rtol=rtol, atol=atol).tolist() == [close]


@pytest.mark.parametrize("dtype", ["uint8", "int8", "bool"])
def test_small_whole_numbers_do_not_wrap(dtype):
    kind = getattr(gw, dtype)
    values = {"uint8": [0, 1, 255], "int8": [-128, 0, 127], "bool": [False, True, True]}[dtype]
    a, b = gw.tensor(values, dtype=kind)[:, None], gw.tensor(values, dtype=kind)
    expected = [[abs(int(m) - int(n)) <= 0.5 + 0.25 * abs(n) for n in values] for m in values]
    assert gw.isclose(a, b, rtol=0.25, atol=0.5).tolist() == expected


def test_isclose_measures_against_the_second():
    a, b = gw.tensor([1.0, 100.0, NAN, INF]), gw.tensor([1.1, 110.0, NAN, INF])
    assert gw.isclose(a, b, rtol=0.0, atol=0.2).tolist() == [True, False, False, True]
    assert gw.isclose(a, b, rtol=0.095, atol=0.0).tolist() == [True, True, False, True]
    assert gw.isclose(a, b, rtol=0.0, atol=20.0, equal_nan=True).tolist() == [True] * 4


def test_allclose_is_a_python_bool():
    assert gw.allclose(gw.ones(3), gw.ones(3) + 1e-6) is True
    assert gw.allclose(gw.ones(3), gw.ones(3) + 1e-3) is False


def test_answers_agree_with_torch(torch):
    values = [0.0, -0.0, 1.0, 1.0 + 1e-6, 1.1, -5.0, NAN, INF, -INF]
    for tolerances in ({}, {"rtol": 0.2}, {"atol": 0.1, "rtol": 0.0}, {"equal_nan": True}):
        mine = gw.isclose(gw.tensor(values)[:, None], gw.tensor(values), **tolerances)
        theirs = torch.isclose(torch.tensor(values)[:, None], torch.tensor(values), **tolerances)
        assert mine.tolist() == theirs.tolist()


def test_errors_name_function_and_argument():
    with pytest.raises(TypeError, match=r"equal\(\): argument 'other' \(position 2\) must be Tensor, not float"):
        gw.equal(gw.ones(1), 1.0)
    with pytest.raises(RuntimeError, match=r"isclose\(\): torch.float32 did not match torch.float64"):
        gw.isclose(gw.ones(1), gw.ones(1, dtype=gw.float64))


def test_small_questions():
    assert gw.is_tensor(gw.ones(1))
    assert not gw.is_tensor(1.0)
    assert gw.is_floating_point(gw.ones(1))
    assert not gw.is_floating_point(gw.arange(3))
    assert gw.numel(gw.ones(2, 3)) == 6
