"""`Timer` and `Measurement`, whose clock is a count here, against PyTorch's."""

import itertools

import pytest

from gradwright.pytorch import benchmark as ours
from gradwright.pytorch.settings import get_num_threads


@pytest.fixture(scope="module")
def theirs(torch):
    return pytest.importorskip("torch.utils.benchmark")


def clock():
    """One that goes on by a second whenever it is asked."""
    ticks = itertools.count()
    return lambda: float(next(ticks))


@pytest.mark.parametrize("description", [None, "both"])
def test_a_run_says_what_pytorchs_says(theirs, description):
    told = []
    for module in (ours, theirs):
        ran = []
        timer = module.Timer("ran.append(x)", globals={"x": 1, "ran": ran}, timer=clock(), label="appending",
                             num_threads=get_num_threads(),
                             description=description)  # fmt: skip
        found = timer.timeit(1000)
        told.append([repr(found).splitlines()[1:], found.mean, found.median, found.iqr, found.title, found.times])
        assert len(ran) >= 1000
    assert told[0] == told[1]


@pytest.mark.parametrize("way", ["blocked_autorange", "adaptive_autorange"])
def test_as_many_runs_as_a_time_takes(way):
    found = getattr(ours.Timer("sum(range(50))"), way)(min_run_time=0.01)
    assert sum(found.raw_times) >= 0.01
    assert found.number_per_run > 1
    assert 0 < found.median < 1e-3


def test_quartiles(theirs):
    times = [1.0, 2.0, 4.0, 8.0, 16.0]
    mine = ours.Measurement(10, times, "x")
    other = theirs.Measurement(10, times, theirs.utils.common.TaskSpec("x", "pass"))
    assert (mine.mean, mine.median, mine.iqr) == pytest.approx((other.mean, other.median, other.iqr))


def test_what_never_settles_comes_to_an_end():
    """Times that differ by half, whatever is run: at most about a thousand runs are made."""
    times = itertools.cycle([1e-3, 2e-3])
    now = [0.0, False]

    def clock():
        now[1] = not now[1]
        now[0] += 0.0 if now[1] else next(times)
        return now[0]

    found = ours.Timer(timer=clock).adaptive_autorange(max_run_time=1.0)
    assert 300 < len(found.raw_times) < 1100
