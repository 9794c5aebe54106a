"""Trees to take apart, and PyTorch's functions for trees beside gradwright's."""

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

from hypothesis import strategies as st

Point = namedtuple("Point", "x y")

KEYS = st.sampled_from(["b", "a", "w", 'a "b"', "it's"]) | st.integers(0, 3)


def _grown(below: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    dictionaries = st.dictionaries(KEYS, below, max_size=3)
    lists = st.lists(below, max_size=3)
    return st.one_of(
        lists,
        lists.map(tuple),
        lists.map(deque),
        dictionaries,
        dictionaries.map(OrderedDict),
        dictionaries.map(lambda d: defaultdict(list, d)),
        st.tuples(below, below).map(lambda pair: Point(*pair)),
    )


LEAVES = st.integers() | st.none() | st.just("leaf") | st.just(frozenset())
TREES = st.recursive(LEAVES, _grown, max_leaves=12)
