"""Samplers draw what PyTorch's draw, and refuse what they refuse."""

import pytest


def generator(T, seed=0):
    return T.Generator().manual_seed(seed)


def test_in_order_and_in_batches(T, data):
    assert list(data.SequentialSampler("abc")) == [0, 1, 2]
    assert len(data.SequentialSampler("abc")) == 3
    for n in (0, 1, 5, 6):
        for drop in (False, True):
            batches = data.BatchSampler(range(n), 3, drop)
            assert list(batches) == [list(range(n))[i : i + 3] for i in range(0, n, 3) if not drop or i + 3 <= n]
            assert len(batches) == len(list(batches))


@pytest.mark.parametrize("num_samples", [None, 1, 5, 10, 23])
def test_random_order(T, data, num_samples):
    sampler = data.RandomSampler(range(10), num_samples=num_samples, generator=generator(T))
    drawn = list(sampler)
    assert len(drawn) == len(sampler) == sampler.num_samples == (num_samples or 10)
    for start in range(0, len(drawn), 10):
        part = drawn[start : start + 10]
        assert len(set(part)) == len(part)
        assert set(part) <= set(range(10))


def test_with_replacement(T, data):
    drawn = list(data.RandomSampler(range(4), replacement=True, num_samples=2000, generator=generator(T)))
    assert len(drawn) == 2000
    assert all(400 < drawn.count(i) < 600 for i in range(4))


def test_the_generator_decides(T, data):
    def draw(seed):
        made = (
            data.RandomSampler(range(50), generator=generator(T, seed)),
            data.SubsetRandomSampler(range(100, 150), generator(T, seed)),
            data.WeightedRandomSampler([1.0, 2.0, 3.0], 50, generator=generator(T, seed)),
        )
        return [list(sampler) for sampler in made]

    assert draw(1) == draw(1)
    assert all(a != b for a, b in zip(draw(1), draw(2), strict=True))
    T.manual_seed(3)
    first = list(data.RandomSampler(range(50)))
    T.manual_seed(3)
    assert list(data.RandomSampler(range(50))) == first


def test_subset_and_weights(T, data):
    subset = data.SubsetRandomSampler([5, 7, 9])
    assert sorted(subset) == [5, 7, 9]
    assert len(subset) == 3
    drawn = list(data.WeightedRandomSampler([0.0, 3.0, 1.0], 1000, generator=generator(T)))
    assert set(drawn) == {1, 2}
    assert 650 < drawn.count(1) < 850
    assert sorted(data.WeightedRandomSampler([0.1, 0.2, 0.7], 3, replacement=False)) == [0, 1, 2]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda d: d.RandomSampler([]), ValueError, "num_samples should be a positive integer value, but got num"),
        (lambda d: d.RandomSampler([1], num_samples=0), ValueError, "got num_samples=0"),
        (lambda d: d.RandomSampler([1], replacement=1), TypeError, "replacement should be a boolean value, but got"),
        (lambda d: d.BatchSampler([1], 0, False), ValueError, "batch_size should be a positive integer value, but got"),
        (lambda d: d.BatchSampler([1], True, False), ValueError, "batch_size should be a positive integer value"),
        (lambda d: d.BatchSampler([1], 1, 1), ValueError, "drop_last should be a boolean value, but got drop_last=1"),
        (lambda d: d.WeightedRandomSampler([1.0], 0), ValueError, "num_samples should be a positive integer value"),
        (lambda d: d.WeightedRandomSampler([1.0], 1, 1), ValueError, "replacement should be a boolean value"),
        (lambda d: d.WeightedRandomSampler([[1.0]], 1), ValueError, r"weights should be a 1d .* shape \(1, 1\)"),
    ],
)
def test_checks(data, make, error, message):
    with pytest.raises(error, match=message):
        make(data)


def test_a_sampler_needs_an_iter():
    from gradwright.utils.data import Sampler

    with pytest.raises(NotImplementedError, match="Subclasses of Sampler should implement __iter__"):
        iter(Sampler())
