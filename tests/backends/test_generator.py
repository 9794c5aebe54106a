import pytest

import gradwright as gw
from gradwright.backends import generator as g


def test_a_seed_starts_the_stream_anew():
    g.shared.manual_seed(3)
    first = g.generator().random(4).tolist()
    assert g.initial_seed() == 3
    g.shared.manual_seed(3)
    assert g.generator().random(4).tolist() == first
    g.shared.manual_seed(-3)
    assert g.generator().random(4).tolist() != first


def test_a_seed_nobody_chose_differs_each_time():
    seeds = {g.seed() for _ in range(4)}
    assert len(seeds) == 4
    assert g.initial_seed() in seeds


def test_one_generator_for_all():
    gw.manual_seed(0)
    a = gw.rand(3).tolist()
    gw.manual_seed(0)
    g.generator().random(1)
    assert gw.rand(3).tolist() != a


def test_a_seed_that_does_not_fit():
    with pytest.raises(RuntimeError, match="must fit 64 bits"):
        gw.manual_seed(2**64)
